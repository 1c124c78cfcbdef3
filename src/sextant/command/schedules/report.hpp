// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <string_view>
#include <vector>

// Scaling of compositing with ranks and pixels, from several runs of `sextant bench composite`, one
// for each number of ranks.
namespace sextant::command {

/// The cost of a configuration in one case: CPU time of all ranks together, which is meaningful
/// even if ranks outnumber cores.
struct GrowthPoint {
    std::string configuration; ///< such as "radix-k, radices 4,2, shared"
    int ranks = 1;
    double pixels = 0;
    Seconds cpu = 0;
};

/// True if the text is the output of `sextant bench composite --json`.
bool is_composite_bench(std::string_view text);

/// Reads the output of `sextant bench composite --json`, without the results of MPI's own
/// collectives and of sparse messages. Throws InvalidFile.
std::vector<GrowthPoint> read_growth(const std::string& text, const std::string& path);

/// One chart over ranks for each number of pixels, and one over pixels for each number of ranks,
/// largest first. Charts with a single point per curve are omitted.
std::vector<report::Figure> growth_charts(const std::vector<GrowthPoint>& points);

} // namespace sextant::command
