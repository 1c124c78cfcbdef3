// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <string_view>
#include <vector>

// Scaling of compositing with ranks and pixels, from several runs of `sextant bench composite`, one
// per number of ranks.
namespace sextant::command {

/// The cost of a configuration in one case: the total CPU time of all ranks, which is meaningful
/// even if ranks outnumber cores.
struct GrowthPoint {
    std::string configuration; ///< such as "radix-k, radices 4,2, shared"
    int ranks = 1;
    double pixels = 0;
    Seconds cpu = 0;
};

/// Returns true if the text is the output of `sextant bench composite --json`.
bool is_composite_bench(std::string_view text);

/// Reads the output of `sextant bench composite --json`, except the results of MPI's collectives
/// and of sparse messages. Throws InvalidFile.
std::vector<GrowthPoint> read_growth(const std::string& text, const std::string& path);

/// Returns one chart over ranks for each number of pixels, and one over pixels for each number of
/// ranks, largest first. Omits charts with a single point per curve.
std::vector<report::Figure> growth_charts(const std::vector<GrowthPoint>& points);

} // namespace sextant::command
