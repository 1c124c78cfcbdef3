// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/simulate/platform.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant::papers {

/// A run of section 5, with the numbers that the paper prints.
struct ClusterRun {
    std::string algorithm, order;
    int nodes = 0;
    Elements width = 0, height = 0;
    std::optional<double> frame_rate, bandwidth;

    Elements pixels() const { return width * height; }
    std::string text() const;
};

/// Assumptions about the cluster. The last three are each fitted to a number of Figure 5.
enum class Assumption : std::uint8_t {
    free_blending, ///< cables shared without loss; blending takes no time
    calibrated,    ///< loss and blending rate fitted to 12 nodes
    start_up,      ///< calibrated, and each message costs its sender additional time
    slow_cables,   ///< calibrated, and cables of the fat-tree are slower than those of the crossbar
    buffered       ///< calibrated, and images wait for those before them, with faster blending
};

/// The runs whose frame rates the paper prints (papers/data/shift_based_frame_rates.csv).
std::span<const ClusterRun> cluster_runs();

/// The crossbar of 12 nodes if the order is "crossbar", otherwise the fat-tree of 144 nodes.
simulate::Platform cluster(std::string_view order, Assumption assumption);

/// Frames per second in a simulation of the run.
double frame_rate(const ClusterRun& what, Assumption assumption);

} // namespace sextant::papers
