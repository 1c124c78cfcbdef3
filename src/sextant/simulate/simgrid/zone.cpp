// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simgrid/zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

namespace sextant::simulate {

namespace {

namespace routing = simgrid::kernel::routing;
namespace s4u = simgrid::s4u;

/// A zone whose routes come from a Network.
class NetworkZone : public routing::NetZoneImpl {
  public:
    NetworkZone(const Platform& platform, std::span<const int> cores, routing::NetZoneImpl* parent)
        : NetZoneImpl("network"), network_(platform.network), cores_(cores.begin(), cores.end()) {
        set_parent(parent);
        for (const int core : cores_) {
            std::string name = network_.hosts[static_cast<std::size_t>(core / network_.cores)];
            if (network_.cores > 1)
                name += "-core" + std::to_string(core % network_.cores);
            s4u::Host* host = get_iface()->create_host(name, 1e9)->seal();
            if (hosts_.empty())
                first_ = host->get_netpoint()->id();
            hosts_.push_back(host);
        }
        for (const Network::Link& link : network_.links)
            links_.push_back(make(link, platform.loss));
    }

    const std::vector<s4u::Host*>& hosts() const { return hosts_; }

  private:
    simgrid::kernel::resource::StandardLinkImpl* make(const Network::Link& link, Loss loss) {
        s4u::Link* made = get_iface()->create_link(link.name, link.bytes_per_second);
        made->set_latency(link.latency);
        if (link.loses && loss.per_doubling > 0) {
            made->set_sharing_policy(
                s4u::Link::SharingPolicy::NONLINEAR,
                [loss](double capacity, int flows) { return capacity * loss.kept(flows); });
        }
        return made->seal()->get_impl();
    }

    /// SimGrid requests routes for existing hosts only, so this never throws.
    void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to,
                         routing::Route* into, double* latency) override {
        path_.clear();
        network_.route(cores_[from->id() - first_], cores_[to->id() - first_], path_);
        // SimGrid treats a path with no links and no latency as a missing route.
        if (latency && path_.empty())
            *latency += 1e-12;
        for (const int link : path_) {
            const auto i = static_cast<std::size_t>(link);
            into->link_list_.push_back(links_[i]);
            if (latency)
                *latency += network_.links[i].latency;
        }
    }

    const Network& network_;
    const std::vector<int> cores_;
    std::vector<s4u::Host*> hosts_; ///< one per core in `cores_`
    std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
    std::vector<int> path_;
    unsigned long first_ = 0; ///< SimGrid's ID of the first host; the others follow consecutively
};

} // namespace

std::vector<s4u::Host*> build_world(const Platform& platform, std::span<const int> cores) {
    s4u::NetZone* root = s4u::create_full_zone("world");
    auto* zone =
        new NetworkZone(platform, cores, root->get_impl()); // owned by SimGrid from here on
    zone->get_iface()->seal();
    root->seal();
    return zone->hosts();
}

} // namespace sextant::simulate
