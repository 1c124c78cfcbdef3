// SPDX-License-Identifier: BSD-3-Clause
// Figures 4 and 5 of the Radix-k paper, and the assumptions that they depend on.
#include "sextant/lab/intrepid.hpp"
#include "sextant/lab/reproduce_radix_k.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::lab {

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

double radix_k_milliseconds(const std::vector<int>& radices, Elements pixels,
                            const simulate::Platform& platform, const Conditions& conditions) {
    constexpr Bytes pixel = 16;
    const int ranks = std::accumulate(radices.begin(), radices.end(), 1, std::multiplies<>());
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

// Figure 4 of the Radix-k paper.

Result figure_4(Extent extent) {
    Result result{"milliseconds", {"binary-swap", "radix-k", "speedup"}, {}, {}};
    const bool whole = extent == Extent::whole;
    double sum = 0, least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Elements pixels :
         whole ? std::vector<Elements>{1, 2, 4, 8} : std::vector<Elements>{2}) {
        for (int ranks = 32; ranks <= (whole ? 16384 : 1024); ranks *= 2) {
            const IntrepidPartition partition = intrepid_partition(ranks);
            const Speedup found = speedup(ranks, pixels * mega, intrepid(partition));
            result.rows.push_back(
                {fmt::format("{} Mpx, {} nodes, {}", pixels, ranks, kind_of(partition)),
                 {},
                 found.columns()});
            sum += found.factor();
            least = std::min(least, found.factor());
            most = std::max(most, found.factor());
        }
    }
    const double mean = sum / static_cast<double>(result.rows.size());
    result.rows.push_back({"mean of all points", 1.45, {mean}});
    result.rows.push_back({"largest speedup", 1.51, {most}});
    result.claims.push_back(
        {"Radix-k is never slower", least >= 1, fmt::format("at least {:.2f} times", least)});
    return result;
}

/// A change of one assumption.
struct Assumption {
    std::string label;
    Speedup found;
};

constexpr Extents rack = {8, 8, 16};
constexpr int rack_nodes = 1024;

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
    const auto even = [](simulate::Platform& platform) {
        for (auto& link : platform.network.links)
            link.latency = 0;
    };
    return {{"as in Figure 4", on(usual)},
            {"torus 16x8x8 instead of 8x8x16", on(intrepid({{16, 8, 8}}))},
            {"mesh 8x8x16", on(intrepid({rack, false}))},
            {"ranks in blocks of 2x2x2", on(usual, {in_blocks(rack, {2, 2, 2})})},
            {"ranks in blocks of 4x4x4", on(usual, {in_blocks(rack, {4, 4, 4})})},
            {"ranks in nested blocks of 4x4x4", on(usual, {in_blocks(rack, {4, 4, 4}, true)})},
            {"links divided equally among messages", changed(even)},
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
            {"operands blended in rank order", on(usual, {{}, Association::in_order})}};
}

Result figure_4_assumptions(Extent) {
    Result result{fmt::format("milliseconds, 2 Mpx on {} nodes", rack_nodes),
                  {"binary-swap", "radix-k", "speedup"},
                  {},
                  {}};
    for (const Assumption& each : assumptions(2 * mega))
        result.rows.push_back({each.label, 1.45, each.found.columns()});
    return result;
}

// Figure 5 of the Radix-k paper.

/// The numbers of nodes in both panels: in the second one, every rack up to 16, then some of those
/// up to 34.
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
/// each rack of ranks fills a plane of nodes; their rows along X are no multiples of 16 nodes.
IntrepidPartition partition_of_figure_5(int ranks) {
    IntrepidPartition partition = intrepid_partition(ranks);
    if (ranks > 16 * rack_nodes)
        std::swap(partition.extents[0], partition.extents[2]);
    return partition;
}

/// The least and the greatest of some times.
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
    Result result{"milliseconds, 2 Mpx", {"radix-k", "binary-swap"}, {}, {}};
    Range small, large;
    for (const int ranks : counts(extent)) {
        const IntrepidPartition partition = partition_of_figure_5(ranks);
        const simulate::Platform platform = intrepid(partition);
        const std::vector<int> radices = factors_to_eight(ranks);
        Row row{fmt::format("{} nodes, {}, {}", ranks, fmt::join(radices, ","), kind_of(partition)),
                {},
                {radix_k_milliseconds(radices, 2 * mega, platform)}};
        (ranks <= rack_nodes ? small : large).include(row.ours.front());
        if ((ranks & (ranks - 1)) == 0)
            row.ours.push_back(radix_k_milliseconds(twos(ranks), 2 * mega, platform));
        result.rows.push_back(row);
    }
    result.claims = {no_factor_of_two("32 to 1,024", small),
                     no_factor_of_two("more than 1,024", large)};
    return result;
}

constexpr Experiment scaling_experiments[] = {
    {"radix-k", "Figure 4", "image and system size, first radix 8", blue_gene_assumptions, "",
     figure_4},
    {"radix-k", "Figure 4: assumptions", "what the speedup on one rack depends on",
     "as for Figure 4, with one assumption changed in each row", "", figure_4_assumptions},
    {"radix-k", "Figure 5", "numbers that are not powers of two", blue_gene_assumptions, "",
     figure_5}};

} // namespace

std::span<const Experiment> radix_k_scaling() {
    return scaling_experiments;
}

} // namespace sextant::lab
