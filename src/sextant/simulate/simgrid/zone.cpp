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
    NetworkZone(const Platform& platform, routing::NetZoneImpl* parent)
        : NetZoneImpl("network"), network_(platform.network) {
        set_parent(parent);
        for (const std::string& name : network_.hosts) {
            s4u::Host* host = get_iface()->create_host(name, 1e9);
            host->set_core_count(network_.cores)->seal();
            if (first_ < 0)
                first_ = static_cast<int>(host->get_netpoint()->id());
        }
        for (const Network::Link& link : network_.links)
            links_.push_back(make(link, platform.loss));
    }

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
        network_.route(static_cast<int>(from->id()) - first_, static_cast<int>(to->id()) - first_,
                       path_);
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
    std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
    std::vector<int> path_;
    int first_ = -1; ///< SimGrid's ID of the first host; the others follow consecutively
};

} // namespace

void build_world(const Platform& platform) {
    s4u::NetZone* root = s4u::create_full_zone("world");
    auto* zone = new NetworkZone(platform, root->get_impl()); // owned by SimGrid from here on
    zone->get_iface()->seal();
    root->seal();
}

} // namespace sextant::simulate
