// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/series.hpp"

#include <span>
#include <string_view>

namespace sextant::scan {

/// A way to scan a series by a scan of the ranks' totals: one file of code and one row here.
struct Strategy {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// One worker's program, in workers. Throws InvalidTask.
    Program (*program)(const Worker& worker, const GlobalScan& global);
};

std::span<const Strategy> strategies();

/// By name. Throws InvalidTask with near names.
const Strategy& find_strategy(std::string_view name);

/// The program of one rank; ranks without values have nothing to do. Throws InvalidTask.
Program program(const Strategy& strategy, const Series& series, const GlobalScan& global, int rank);

} // namespace sextant::scan
