// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {} // namespace sextant::command

// How what compositing costs grows with ranks and pixels: the results of several launches of
// `sextant bench composite`, one for each number of ranks, beside each other.
namespace sextant::command {

/// What a way took in a case of a launch: the CPU time of all ranks together, which tells what
/// there was to do also where ranks outnumber cores.
struct GrowthPoint {
    std::string way; ///< "radix-k, radices 4,2, shared"
    int ranks = 1;
    double pixels = 0;
    Seconds cpu = 0;
};

/// Whether a file's text is what `sextant bench composite --json` writes.
bool is_composite_bench(std::string_view text);

/// What such a file holds, without MPI's own calls and sparse messages. Throws InvalidFile.
std::vector<GrowthPoint> read_growth(const std::string& text, const std::string& path);

/// A chart over ranks for each number of pixels, one over pixels for each number of ranks, the most
/// first; those that would have a single place are left out.
std::vector<report::Figure> growth_charts(const std::vector<GrowthPoint>& points);

} // namespace sextant::command
