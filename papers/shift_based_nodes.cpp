// SPDX-License-Identifier: BSD-3-Clause
// Figure 8 of the Shift-Based paper: frame rates on 12 to 144 nodes.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "papers/experiments.hpp"
#include "papers/shift_based.hpp"
#include "papers/shift_based_cluster.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

/// The frame rates of Shift-Based for the three image sizes.
struct SizedRates {
    int nodes = 0;
    double small = 0, large = 0, usual = 0; ///< 2048x2048, 4096x4096 and 4096x2048

    bool fills_leaves() const { return nodes % 12 == 0; }
};

SizedRates shift_rates(int nodes) {
    const auto rate = [&](Elements width, Elements height) {
        return frame_rate({"shift-based", "routing", nodes, width, height, {}, {}},
                          Assumption::calibrated);
    };
    return {nodes, rate(2048, 2048), rate(4096, 4096), rate(4096, 2048)};
}

/// The row of one number of nodes, with the paper's number for 4096x2048 if it is printed.
Row row_of(const SizedRates& rates) {
    Row row{fmt::format("{} nodes", rates.nodes), {}, {rates.small, rates.large, rates.usual}};
    for (const ClusterRun& run : cluster_runs()) {
        if (run.algorithm == "shift-based" && run.order == "routing" && run.nodes == rates.nodes &&
            run.height == 2048)
            row.theirs = run.frame_rate;
    }
    return row;
}

Row mean_row(std::span<const SizedRates> group) {
    SizedRates sum;
    for (const SizedRates& rates : group) {
        sum.small += rates.small;
        sum.large += rates.large;
        sum.usual += rates.usual;
    }
    const auto count = static_cast<double>(group.size());
    return {fmt::format("{} to {} nodes, mean", group.front().nodes, group.back().nodes),
            {},
            {sum.small / count, sum.large / count, sum.usual / count}};
}

/// One row for each multiple of 12, for the mean of the numbers between two multiples, and for the
/// numbers whose rate the paper prints. The others are only in JSON.
std::vector<Row> rows_of_figure_8(std::span<const SizedRates> all) {
    std::vector<Row> rows, details;
    while (!all.empty()) {
        const auto end = std::find_if(all.begin(), all.end(),
                                      [](const SizedRates& each) { return each.fills_leaves(); });
        const auto between = static_cast<std::size_t>(end - all.begin());
        if (between > 0)
            rows.push_back(mean_row(all.first(between)));
        for (const SizedRates& rates : all.first(std::min(between + 1, all.size()))) {
            const Row row = row_of(rates);
            const bool shown = rates.fills_leaves() || row.theirs;
            (shown ? rows : details).push_back(row);
            (shown ? rows : details).back().only_in_json = !shown;
        }
        all = all.subspan(std::min(between + 1, all.size()));
    }
    rows.insert(rows.end(), details.begin(), details.end());
    return rows;
}

/// The claim about peaks: each multiple of 12 is compared with the numbers before and after it.
Claim peaks(std::span<const SizedRates> all) {
    double least = std::numeric_limits<double>::max(), flat = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].fills_leaves())
            continue;
        for (const std::size_t j : {i - 1, i + 1}) {
            if (j >= all.size() || std::abs(all[i].nodes - all[j].nodes) != 1)
                continue; // i - 1 would wrap before the first entry
            const double ratio = all[i].usual / all[j].usual;
            // Shifts on up to two leaf switches have no contention.
            if (std::max(all[i].nodes, all[j].nodes) <= 24)
                flat = std::max(flat, ratio);
            else
                least = std::min(least, ratio);
        }
    }
    return {"the presence of peak performance for counts of nodes that are multiple of 12",
            least > 1.2 && flat > 1.2,
            fmt::format("rates at multiples of 12 are at least {:.2f} times those of their "
                        "neighbours beyond 24 nodes, but at most {:.2f} times up to 24 nodes",
                        least, flat)};
}

/// The claim about the cause of the peaks, judged by the number of messages on cables.
Claim hot_spots(std::span<const SizedRates> all) {
    const simulate::Network tree = cluster("routing", Assumption::calibrated).network;
    int at_multiples = 0, least_elsewhere = 1 << 30, last_without = 0;
    for (const SizedRates& rates : all) {
        const int most = most_load_of_shifts(tree, rates.nodes);
        if (rates.fills_leaves()) {
            at_multiples = std::max(at_multiples, most);
        } else if (most == 1) {
            last_without = std::max(last_without, rates.nodes);
        } else {
            least_elsewhere = std::min(least_elsewhere, most);
        }
    }
    return {"when we do not use a fully populated level-1 switch, some links are missing to "
            "provide contention-free routing for our shift permutation, leading to hot spots on "
            "the used links",
            at_multiples == 1 && least_elsewhere > 1 && last_without < 24,
            fmt::format("multiples of 12: {} message of a shift on each cable; other numbers: {} "
                        "or more on some cable, except up to {} nodes, which use two leaf switches",
                        at_multiples, least_elsewhere, last_without)};
}

Claim same_for_all_sizes(std::span<const SizedRates> all) {
    double least = std::numeric_limits<double>::max(), most = 0;
    for (const SizedRates& rates : all) {
        least = std::min(least, rates.small / rates.large);
        most = std::max(most, rates.small / rates.large);
    }
    return {"the 2048x2048x16 bytes image is four times faster to be composed as compared to the "
            "4096x4096x16 bytes image",
            least > 4 / 1.15 && most < 4 * 1.15,
            fmt::format("{:.2f} to {:.2f} times", least, most)};
}

Claim stable(std::span<const SizedRates> all) {
    double most = 1;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        if (all[i].fills_leaves() || all[i + 1].nodes != all[i].nodes + 1 ||
            all[i + 1].fills_leaves())
            continue;
        const double ratio = all[i + 1].usual / all[i].usual;
        most = std::max({most, ratio, 1 / ratio});
    }
    return {"stable with increasing numbers of processing nodes (we do not see any random and "
            "unexplained variation)",
            most < 1.1,
            fmt::format("between multiples of 12, one more node changes the rate by at most "
                        "{:.0f} %",
                        100 * (most - 1))};
}

Claim reproducible(const SizedRates& rates) {
    return {"the obtained results are fully reproducible from one run to another",
            shift_rates(rates.nodes).usual == rates.usual,
            fmt::format("two simulations of {} nodes give the same bits; a simulation has no noise",
                        rates.nodes)};
}

Result figure_8(Extent extent) {
    std::vector<SizedRates> all;
    for (int nodes = 12; nodes <= 144; ++nodes) {
        const bool quick = nodes <= 37 || (nodes >= 60 && nodes <= 72) || nodes == 144;
        if (extent == Extent::whole || quick)
            all.push_back(shift_rates(nodes));
    }
    return {"frames per second, calibrated",
            {"2048x2048", "4096x4096", "4096x2048"},
            rows_of_figure_8(all),
            {peaks(all), hot_spots(all), same_for_all_sizes(all), stable(all),
             reproducible(all.at(all.size() / 2))}};
}

constexpr Experiment node_experiments[] = {
    {"shift-based", "Figure 8", "frame rates by number of nodes",
     "calibrated as for Figures 4-7 and 9; the page shows multiples of 12 and the means between "
     "them, --json each number of nodes",
     "with 13 to 24 nodes, which use only two leaf switches, rates are as high as at multiples of "
     "12, because no cable carries more than one message of a shift (second statement)",
     figure_8, Basis::fitted}};

} // namespace

constinit const std::span<const Experiment> shift_based_nodes = node_experiments;

} // namespace sextant::papers
