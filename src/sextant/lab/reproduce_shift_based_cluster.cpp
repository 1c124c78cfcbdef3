// SPDX-License-Identifier: BSD-3-Clause
// The measurements of the Shift-Based paper on a cluster of 144 nodes: Figures 4 to 9.
#include "sextant/core/statistics.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/lab/reproduce_shift_based.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

constexpr Bytes bytes_per_pixel = 16;

/// The paper's MB: its 1800 MB/s are 1 / .53 ns per byte.
constexpr double megabyte = 1 << 20;

/// A run of section 5, with the numbers that the paper prints.
struct ClusterRun {
    std::string algorithm, order;
    int nodes = 0;
    Elements width = 0, height = 0;
    std::optional<double> frame_rate, bandwidth;

    Elements pixels() const { return width * height; }
    std::string text() const {
        return fmt::format("{}, {} nodes, {}, {}x{}", algorithm, nodes, order, width, height);
    }
    /// The platform without fitted values, or the calibrated one.
    Setting setting(bool calibrated) const {
        const std::string network = order == "crossbar" ? "crossbar-12" : "fat-tree-144";
        return {.platform = network + (calibrated ? "-calibrated" : ""),
                .order = order == "alphabetical" ? "fat-tree-144-alphabetical" : ""};
    }
};

const std::vector<ClusterRun>& cluster_runs() {
    static const std::vector<ClusterRun> runs = [] {
        const Table table("shift_based_frame_rates");
        std::vector<ClusterRun> read;
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const auto number = [&](const char* column) {
                return static_cast<Elements>(table.number(row, column).value());
            };
            read.push_back({table.text(row, "algorithm"), table.text(row, "order"),
                            static_cast<int>(number("nodes")), number("width"), number("height"),
                            table.number(row, "frames_per_second"),
                            table.number(row, "mean_bandwidth_MBps")});
        }
        return read;
    }();
    return runs;
}

// Figures 4 to 7 and 9: frame rates.

double frame_rate(const ClusterRun& what, const Setting& setting) {
    return 1 / composite(what.algorithm, what.nodes, what.pixels(), setting);
}

Result frame_rate_figures(Extent) {
    Result result{"frames per second", {"no loss, blending free", "no loss", "calibrated"}, {}, {}};
    for (const ClusterRun& what : cluster_runs()) {
        Setting fluid = what.setting(false);
        const double free = frame_rate(what, fluid);
        fluid.blend_rate = 120e6;
        result.rows.push_back(
            {what.text(),
             what.frame_rate,
             {free, frame_rate(what, fluid), frame_rate(what, what.setting(true))}});
    }
    return result;
}
constexpr Experiment cluster_experiments[] = {{"shift-based", "Figures 4-7, 9",
                                               "frame rates on a crossbar and a fat-tree", "", "",
                                               frame_rate_figures}};
} // namespace

std::span<const Experiment> shift_based_cluster() {
    return cluster_experiments;
}

} // namespace sextant::lab
