// SPDX-License-Identifier: BSD-3-Clause
// Figures 4 and 5 of the Radix-k paper, and the assumptions that they depend on.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "papers/intrepid.hpp"
#include "papers/radix_k.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::papers {

std::vector<int> eights_first(int ranks) {
    std::vector<int> radices;
    for (; ranks % 8 == 0 && ranks > 8; ranks /= 8)
        radices.push_back(8);
    radices.push_back(ranks);
    return radices;
}

std::vector<int> twos(int ranks) {
    std::vector<int> radices;
    for (; ranks > 1; ranks /= 2)
        radices.push_back(2);
    return radices;
}

namespace {

int product(const std::vector<int>& radices) {
    return std::accumulate(radices.begin(), radices.end(), 1, std::multiplies<>());
}

} // namespace

double radix_k_milliseconds(const std::vector<int>& radices, Elements pixels,
                            const simulate::Platform& platform, const Conditions& conditions) {
    constexpr Bytes pixel = 16;
    const int ranks = product(radices);
    return 1e3 * run_on(compositing_schedule("radix-k", ranks, pixels, radices), pixel, platform,
                        conditions)
                     .seconds;
}

namespace {

/// The radices: factors of at most 8, largest first, then the remaining factor.
std::vector<int> factors_to_eight(int number) {
    std::vector<int> radices;
    for (int factor = 8; factor > 1; --factor) {
        for (; number % factor == 0; number /= factor)
            radices.push_back(factor);
    }
    if (number > 1)
        radices.push_back(number);
    return radices;
}

/// Times of Binary-Swap and of Radix-k with radix 8 first, in milliseconds, and their ratio.
struct Speedup {
    double binary_swap = 0, radix_k = 0;

    double factor() const { return binary_swap / radix_k; }
    std::vector<double> columns() const { return {binary_swap, radix_k, factor()}; }
};

Speedup speedup(int ranks, Elements pixels, const simulate::Platform& platform,
                const Conditions& conditions = {}) {
    const auto milliseconds = [&](const std::vector<int>& radices) {
        return radix_k_milliseconds(radices, pixels, platform, conditions);
    };
    return {milliseconds(twos(ranks)), milliseconds(eights_first(ranks))};
}

std::string kind_of(const IntrepidPartition& partition) {
    return fmt::format("{} {}", partition.torus ? "torus" : "mesh", text(partition.extents));
}

constexpr Extents rack = {8, 8, 16};
constexpr int rack_nodes = 1024;

// Figure 4 of the Radix-k paper.

/// The mean and the extremes of speedups.
struct Speedups {
    std::vector<double> factors;

    double mean() const {
        return std::accumulate(factors.begin(), factors.end(), 0.) /
               static_cast<double>(factors.size());
    }
    double least() const { return std::ranges::min(factors); }
    double most() const { return std::ranges::max(factors); }
};

Result figure_4(Extent extent) {
    Result result{"milliseconds", {"binary-swap", "radix-k", "speedup"}};
    const bool whole = extent == Extent::whole;
    Speedups smallest, tori;     // for the smallest partitions, and for those of at least 512 nodes
    std::map<int, double> times; // by nodes: time of Radix-k for the last image size
    const auto add = [&](int ranks, Elements megapixels, const IntrepidPartition& partition) {
        const Speedup found = speedup(ranks, megapixels * mega, intrepid(partition));
        result.rows.push_back(
            {fmt::format("{} Mpx, {} nodes, {}", megapixels, ranks, kind_of(partition)),
             {},
             found.columns()});
        times[ranks] = found.radix_k;
        return found.factor();
    };
    for (const Elements megapixels :
         whole ? std::vector<Elements>{1, 2, 4, 8} : std::vector<Elements>{2}) {
        for (int ranks = 32; ranks <= (whole ? 16384 : 1024); ranks *= 2) {
            const double factor = add(ranks, megapixels, intrepid_partition(ranks));
            smallest.factors.push_back(factor);
            tori.factors.push_back(ranks < 512 ? add(ranks, megapixels, intrepid_partition(512))
                                               : factor);
        }
    }
    result.rows.push_back(
        {"mean, in the smallest partitions", 1.45, {no_number, no_number, smallest.mean()}});
    result.rows.push_back(
        {"mean, in partitions of at least 512 nodes", 1.45, {no_number, no_number, tori.mean()}});
    result.rows.push_back({"largest speedup", 1.51, {no_number, no_number, tori.most()}});
    result.claims.push_back({"Radix-k is never slower", smallest.least() >= 1,
                             fmt::format("at least {:.2f} times", smallest.least())});
    if (whole) {
        const double more = times.at(8192) / times.at(rack_nodes);
        result.claims.push_back(
            {"times rise slightly beyond one rack", more > 1.01 && more < 1.15,
             fmt::format("{:.2f} times from 1,024 to 8,192 nodes, {:.2f} times to 16,384", more,
                         times.at(16384) / times.at(rack_nodes))});
    }
    return result;
}

/// The same schedule with one send and one receive at a time per rank, in program order. Sends and
/// receives alternate.
Schedule one_at_a_time(Schedule schedule) {
    for (Program& program : schedule) {
        int messages = 0;
        for (Step& step : program.steps) {
            if (is_message(step.verb))
                step.round = messages++ / 2;
        }
        program.window = 1;
    }
    return schedule;
}

Speedup one_at_a_time(int ranks, Elements pixels, const simulate::Platform& platform) {
    const auto milliseconds = [&](const std::vector<int>& radices) {
        const Schedule schedule = compositing_schedule("radix-k", ranks, pixels, radices);
        return 1e3 * run_on(one_at_a_time(schedule), 16, platform).seconds;
    };
    return {milliseconds(twos(ranks)), milliseconds(eights_first(ranks))};
}

/// A change of one assumption.
struct Assumption {
    std::string label;
    Speedup found;
};

constexpr const char* usual_label = "1,024 nodes, torus 8x8x16, as in Figure 4";
constexpr const char* long_first = "torus 16x8x8 instead of 8x8x16";
constexpr const char* on_mesh = "mesh 8x8x16";
constexpr const char* in_eights = "ranks in blocks of 2x2x2";
constexpr const char* equal_links = "links divided equally among messages";
constexpr const char* in_rank_order = "operands blended in rank order";

std::vector<Assumption> assumptions(Elements pixels) {
    const IntrepidPartition partition{rack};
    const simulate::Platform usual = intrepid(partition);
    const auto on = [&](const simulate::Platform& platform, const Conditions& conditions = {}) {
        return speedup(rack_nodes, pixels, platform, conditions);
    };
    const auto changed = [&](const std::function<void(simulate::Platform&)>& change) {
        simulate::Platform platform = usual;
        change(platform);
        return on(platform);
    };
    const auto blending = [&](double rate) {
        return changed([&](auto& platform) { platform.costs.seconds_per_application = 1 / rate; });
    };
    const auto overhead = [&](Seconds seconds) {
        return changed([&](auto& platform) { platform.costs.send_overhead = seconds; });
    };
    const auto bandwidth = [&](double rate) {
        return changed([&](auto& platform) {
            for (auto& link : platform.network.links)
                link.bytes_per_second = rate;
        });
    };
    simulate::Platform equal = usual;
    for (auto& link : equal.network.links)
        link.latency = 0;
    return {{usual_label, on(usual)},
            {long_first, on(intrepid({{16, 8, 8}}))},
            {on_mesh, on(intrepid({rack, false}))},
            {in_eights, on(usual, {in_blocks(rack, {2, 2, 2})})},
            {"ranks in blocks of 4x4x4", on(usual, {in_blocks(rack, {4, 4, 4})})},
            {"ranks in nested blocks of 4x4x4", on(usual, {in_blocks(rack, {4, 4, 4}, true)})},
            {equal_links, on(equal)},
            {"links divided equally, a rank sends and receives one message at a time",
             one_at_a_time(rack_nodes, pixels, equal)},
            {"both directions of a link share its capacity", on(half_duplex(usual, rack))},
            {"links of 425 MB/s", bandwidth(425e6)},
            {"links of 187 MB/s", bandwidth(187e6)},
            {"one port: a node sends and receives 374 MB/s", on(intrepid(partition, 374e6))},
            {"no overhead per message", overhead(0)},
            {"15 us per message", overhead(15e-6)},
            {"150 us per message", overhead(150e-6)},
            {"blending at 12.5 Mpx/s", blending(12.5e6)},
            {"blending at 50 Mpx/s", blending(50e6)},
            {"blending at 100 Mpx/s", blending(100e6)},
            {"blending takes no time", blending(std::numeric_limits<double>::infinity())},
            {in_rank_order, on(usual, {{}, Association::in_order})}};
}

Result figure_4_assumptions(Extent extent) {
    Result result{"milliseconds, 2 Mpx", {"binary-swap", "radix-k", "speedup"}};
    std::map<std::string, double> factors;
    const auto add = [&](const std::string& label, const Speedup& found) {
        factors[label] = found.factor();
        result.rows.push_back({label, 1.45, found.columns()});
    };
    for (const Assumption& each : assumptions(2 * mega))
        add(each.label, each.found);
    if (extent == Extent::whole) {
        const IntrepidPartition large = intrepid_partition(16384);
        const simulate::Platform platform = intrepid(large);
        add("16,384 nodes, torus 16x32x32", speedup(16384, 2 * mega, platform));
        add("16,384 nodes, ranks in blocks of 2x2x2",
            speedup(16384, 2 * mega, platform, {in_blocks(large.extents, {2, 2, 2})}));
    }
    const double usual = factors.at(usual_label);
    const auto claim = [&](const char* text, const char* label, bool larger) {
        const double factor = factors.at(label);
        result.claims.push_back({text, larger ? factor > 1.05 * usual : factor < .85 * usual,
                                 fmt::format("{:.2f} instead of {:.2f}", factor, usual)});
    };
    claim("groups of eight on half of a ring of 16 nodes lower the speedup", long_first, false);
    claim("links that do not wrap around lower the speedup", on_mesh, false);
    claim("messages that arrive at the same time lower the speedup", equal_links, false);
    claim("blending in rank order lowers the speedup", in_rank_order, false);
    claim("blocks of 2x2x2 raise the speedup", in_eights, true);
    return result;
}

// Figure 5 of the Radix-k paper.

/// The numbers of nodes in both panels. The second panel has every number of racks up to 16, then
/// some of those up to 34.
std::vector<int> counts(Extent extent) {
    if (extent == Extent::quick)
        return {32, 192, 352, 1024, 3072};
    std::vector<int> all;
    for (int ranks = 32; ranks < rack_nodes; ranks += 32)
        all.push_back(ranks);
    for (int racks = 1; racks <= 16; ++racks)
        all.push_back(racks * rack_nodes);
    for (const int racks : {17, 20, 24, 28, 32, 34})
        all.push_back(racks * rack_nodes);
    return all;
}

/// The partition for Figure 5. In partitions of more than 16 racks, ranks are in ZYX order, so that
/// each rack of ranks fills a plane of nodes. The rows of these planes along X are not multiples of
/// 16 nodes.
IntrepidPartition partition_of_figure_5(int ranks) {
    IntrepidPartition partition = intrepid_partition(ranks);
    if (ranks > 16 * rack_nodes)
        std::swap(partition.extents[0], partition.extents[2]);
    return partition;
}

/// The minimum and the maximum of some times.
struct Range {
    double best = std::numeric_limits<double>::infinity(), worst = 0;

    void include(double time) {
        best = std::min(best, time);
        worst = std::max(worst, time);
    }
};

Claim no_factor_of_two(const char* nodes, const Range& range) {
    return {fmt::format("on {} nodes, numbers that are not powers of two do not cost a constant "
                        "factor of two",
                        nodes),
            range.worst < 2 * range.best,
            fmt::format("from {:.0f} to {:.0f} ms", range.best, range.worst)};
}

Result figure_5(Extent extent) {
    Result result{"milliseconds, 2 Mpx", {"binary-swap", "radix-k"}};
    Range small, large;
    for (const int ranks : counts(extent)) {
        const IntrepidPartition partition = partition_of_figure_5(ranks);
        const simulate::Platform platform = intrepid(partition);
        const std::vector<int> radices = factors_to_eight(ranks);
        const bool power = std::has_single_bit(static_cast<unsigned>(ranks));
        const double swap =
            power ? radix_k_milliseconds(twos(ranks), 2 * mega, platform) : no_number;
        const double radix = radix_k_milliseconds(radices, 2 * mega, platform);
        (ranks <= rack_nodes ? small : large).include(radix);
        result.rows.push_back(
            {fmt::format("{} nodes, {}, {}", ranks, fmt::join(radices, ","), kind_of(partition)),
             {},
             {swap, radix}});
    }
    result.claims = {no_factor_of_two("32 to 1,024", small),
                     no_factor_of_two("more than 1,024", large)};
    return result;
}

constexpr Experiment scaling_experiments[] = {
    {"radix-k", "Figure 4", "image and system size, first radix 8",
     "Blue Gene/P as for Figure 3, ranks in XYZ order in partitions of the shapes that this "
     "machine had. The paper plots the points without numbers, so they cannot be compared one by "
     "one; the text has the mean and the maximum. It does not state whether fewer than 512 nodes "
     "were a mesh or part of a torus of 512, so both are simulated",
     "the section on assumptions tests what the speedup depends on", figure_4},
    {"radix-k", "Figure 4: assumptions", "what the speedup depends on",
     "one assumption is changed in each row; the paper's number is its mean over all sizes",
     "the rows that differ are the causes of a lower speedup. On 1,024 to 8,192 nodes of a torus "
     "whose X dimension has 16 nodes, the speedup was 1.12 to 1.24: a group of eight is half of a "
     "ring and cannot use its wrap-around link. Partitions of this machine have 8 nodes along X up "
     "to 8,192 nodes and 16 at 16,384. Links are shared in inverse proportion to the length of "
     "routes; with equal shares, the messages of a group arrive together, which leaves little "
     "blending to overlap with messages, and sending one message at a time does not help",
     figure_4_assumptions},
    {"radix-k", "Figure 5", "numbers that are not powers of two",
     "as for Figure 4. The factors of the paper are unknown: factors up to 8 are used, largest "
     "first. The paper plots the points without numbers: their values cannot be known. The "
     "caption ends the second panel at 8,192 nodes, the text at 34,816. Above 16 racks ranks are "
     "in ZYX order, because in XYZ order the messages of all ranks share links with each other, "
     "which takes too long to simulate",
     "the smallest partitions are meshes", figure_5}};

} // namespace

constinit const std::span<const Experiment> radix_k_scaling = scaling_experiments;

} // namespace sextant::papers
