// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/probe.hpp"

#include "sextant/calibrate/completion.hpp"
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

using machine::Link;

/// The pair of ranks to which a rank belongs while measuring.
struct Seat {
    int pair = -1; ///< -1 if the rank has no pair
    int place = 0; ///< index of the pair among those of its node
};

struct RankLayout {
    std::vector<int> nodes; ///< node of each rank
    std::vector<int> cores; ///< number of cores of each node
    bool reads_all = false; ///< every rank can read the memory of all others

    std::vector<Link> links() const {
        const bool some_share = static_cast<std::size_t>(cores.size()) < nodes.size();
        std::vector<Link> links;
        if (some_share)
            links.push_back(reads_all ? Link::same_process : Link::same_node);
        if (cores.size() > 1)
            links.push_back(Link::other_node);
        return links;
    }
};

RankLayout layout_of(const Communicator& communicator) {
    RankLayout layout{nodes_of(communicator), {}, communicator.shares_memory()};
    const std::vector<Cores> all = communicator.all_gather(Cores::available());
    std::map<int, Cores> of_node;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        of_node[layout.nodes[rank]].add(all[rank]);
    for (const auto& [node, cores] : of_node)
        layout.cores.push_back(cores.count());
    if (layout.cores.size() == 1)
        layout.reads_all = layout.reads_all || communicator.shares_nodes();
    return layout;
}

/// Pairs successive ranks on each node, or the first ranks of successive nodes.
std::vector<Seat> seats(const RankLayout& layout, Link link) {
    std::map<int, std::vector<int>> ranks; // indexed by node
    for (std::size_t rank = 0; rank < layout.nodes.size(); ++rank)
        ranks[layout.nodes[rank]].push_back(static_cast<int>(rank));
    std::vector<Seat> seats(layout.nodes.size());
    int pairs = 0;
    const auto pair = [&](int one, int other, int place) {
        seats[static_cast<std::size_t>(one)] =
            seats[static_cast<std::size_t>(other)] = {pairs++, place};
    };
    if (link == Link::other_node) {
        for (int node = 0; node + 1 < static_cast<int>(ranks.size()); node += 2)
            pair(ranks[node].front(), ranks[node + 1].front(), 0);
        return seats;
    }
    for (const auto& [node, here] : ranks) {
        const int cores = layout.cores[static_cast<std::size_t>(node)];
        const int most = std::max(1, std::min(static_cast<int>(here.size()), cores) / 2);
        for (int i = 0; i < most && 2 * i + 1 < static_cast<int>(here.size()); ++i)
            pair(here[static_cast<std::size_t>(2 * i)], here[static_cast<std::size_t>(2 * i + 1)],
                 i);
    }
    return seats;
}

/// Times cells on several pairs of ranks at the same time. All ranks get the samples of the first
/// pair, so that they agree on when a cell is finished.
class InStep : public Stopwatch {
  public:
    InStep(Communicator all, Rig& rig, bool first)
        : all_(std::move(all)), rig_(rig), first_(first) {}

    /// Cells to be timed while other ranks are idle run on the first pair only.
    std::vector<Sample> burst(const Cell& cell) override {
        const std::vector<Sample> local =
            first_ || !cell.alone ? rig_.burst(cell) : std::vector<Sample>();
        Burst first{{}, 0, rig_.elapsed()};
        for (const Sample& sample : least_disturbed(local))
            first.samples[first.count++] = sample;
        first = all_.all_gather(first).front();
        elapsed_ = first.elapsed;
        return {first.samples.begin(),
                first.samples.begin() + static_cast<std::ptrdiff_t>(first.count)};
    }
    Seconds elapsed() const override { return elapsed_; }

  private:
    /// Returns the undisturbed samples; if other programs interrupted all of them, the fastest one,
    /// which is the most accurate.
    static std::vector<Sample> least_disturbed(std::vector<Sample> samples) {
        const auto faster = [](const Sample& a, const Sample& b) {
            return std::pair(a.disturbed, a.seconds[0]) < std::pair(b.disturbed, b.seconds[0]);
        };
        std::sort(samples.begin(), samples.end(), faster);
        const auto disturbed = std::find_if(samples.begin(), samples.end(),
                                            [](const Sample& s) { return s.disturbed; });
        if (!samples.empty())
            samples.erase(std::max(disturbed, samples.begin() + 1), samples.end());
        return samples;
    }

    struct Burst {
        std::array<Sample, Rig::most_samples> samples;
        std::size_t count;
        Seconds elapsed;
    };

    const Communicator all_;
    Rig& rig_;
    const bool first_;
    Seconds elapsed_ = 0;
};

/// True if other programs interrupted more than a quarter of the cells.
bool is_busy(const Measurements& measured) {
    const auto disturbed = std::count_if(measured.cells.begin(), measured.cells.end(),
                                         [](const auto& cell) { return !cell.second.quiet(); });
    return 4 * disturbed > static_cast<std::ptrdiff_t>(measured.cells.size());
}

/// Interruptions only add time, so a cell that took longer than the next larger one gets the
/// samples of the larger one.
void smooth(Measurements& measured) {
    std::map<Cell, std::vector<Cell>> by_kind; // cells that differ only in size
    for (const auto& [cell, series] : measured.cells) {
        if (cell.kind == Kind::copy)
            continue;
        Cell kind = cell;
        kind.bytes = kind.block = kind.elements = 0;
        by_kind[kind].push_back(cell);
    }
    for (auto& [kind, cells] : by_kind) {
        std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
            return std::pair(a.bytes, a.elements) < std::pair(b.bytes, b.elements);
        });
        for (std::size_t i = cells.size(); i-- > 1;) {
            Series& smaller = measured.cells[cells[i - 1]];
            const Series& larger = measured.cells[cells[i]];
            if (smaller.value(0).median > larger.value(0).median)
                smaller = larger;
        }
    }
}

/// Measures one class of links, and operators, kernels and copies if `what` includes them. The
/// result is empty on ranks that only wait, or if the time was too short.
std::optional<machine::Profile> measure_link(const Communicator& communicator, Link link,
                                             const Seat& seat, const CellOptions& what,
                                             const CampaignOptions& options) {
    const Communicator active = communicator.split(seat.pair < 0 ? -1 : 0, communicator.rank());
    const Communicator two = communicator.split(seat.pair, communicator.rank());
    std::optional<machine::Profile> costs;
    if (seat.pair >= 0) {
        Rig rig(two, what.memory, 2 * seat.place);
        InStep in_step(active, rig, seat.pair == 0);
        const CellLevels levels = make_quick_cells(what);
        Measurements measured = measure(in_step, levels, options);
        smooth(measured);
        const machine::Profile here = describe_machine("");
        costs = costs_of(measured, link);
        complete(*costs, what.work);
        costs->name = here.name;
        costs->origin = here.origin;
        costs->state = is_busy(measured) ? busy : "";
    }
    communicator.barrier();
    return costs;
}

/// Measures whole schedules if some node has more ranks than cores: the time to switch between
/// ranks is in no single message. Collective.
void measure_crowding(const Communicator& communicator, const RankLayout& layout,
                      machine::Profile& profile, Seconds budget) {
    if (!is_crowded(profile, layout.nodes, layout.reads_all))
        return;
    std::vector<Elements> sizes{1 << 14};
    if (budget >= .1)
        sizes = {1 << 10, 1 << 14, 1 << 16, 1 << 18};
    const Seconds of_size = budget / (sizes.size() == 1 ? 4 : 12);
    for (const TimedFrame& frame :
         time_frames(communicator, profile, layout.reads_all, sizes, of_size))
        profile.crowding.push_back(
            {frame.bytes, frame.bytes, {frame.ratio(), frame.ratio(), frame.ratio(), frame.runs}});
}

/// True if every rank can allocate the memory needed for measuring. Collective.
bool has_room(const Communicator& communicator, Bytes memory) {
    int has = 1;
    try {
        const Memory taken(memory);
    } catch (const std::exception&) {
        has = 0;
    }
    const std::vector<int> all = communicator.all_gather(has);
    return std::find(all.begin(), all.end(), 0) == all.end();
}

} // namespace

std::optional<machine::Profile> measure_quickly(const Communicator& communicator, Seconds budget) {
    if (communicator.size() < 2)
        throw InvalidTask("a probe requires two or more ranks, but there is only one");
    const RankLayout layout = layout_of(communicator);
    machine::Profile profile = describe_machine(layout.reads_all ? "threads" : "mpi");
    profile.cores = layout.cores.front();
    CellOptions what;
    what.lending = layout.reads_all;
    what.memory = Bytes{96} << 20;
    if (!has_room(communicator, what.memory))
        return std::nullopt;
    CampaignOptions options;
    options.patient = false;
    options.ci = .05;
    const double for_links = is_crowded(profile, layout.nodes, layout.reads_all) ? .6 : 1;
    options.budget = for_links * budget / static_cast<double>(layout.links().size());
    for (const Link link : layout.links()) {
        const std::vector<Seat> all = seats(layout, link);
        const Seat& local = all[static_cast<std::size_t>(communicator.rank())];
        const auto measured = measure_link(communicator, link, local, what, options);
        const auto first = static_cast<std::size_t>(
            std::find_if(all.begin(), all.end(), [](const Seat& s) { return s.pair == 0; }) -
            all.begin());
        const std::string text =
            all_gather_texts(communicator, measured ? machine::profile_text(*measured) : "")[first];
        if (text.empty())
            return std::nullopt;
        const machine::Profile costs = machine::parse_profile(text, "a probe");
        add_costs(profile, costs, what.work);
        what.work = false;
    }
    measure_crowding(communicator, layout, profile, budget);
    profile.origin.method =
        fmt::format("probed in {:g} s on {} ranks", budget, communicator.size());
    return profile;
}

} // namespace sextant::calibrate
