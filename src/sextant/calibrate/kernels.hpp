// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/rig.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant::calibrate {

/// Runs that read, or write anew, about `cell.elements` bytes of a file that nobody else sees: what
/// that takes while the system keeps the file in memory. A disk that must be waited for takes
/// longer, by what no profile knows.
/// Throws    std::system_error where there is no room for such a file.
Timed timed_reading(const Cell& cell);
Timed timed_writing(const Cell& cell);

/// A kernel of schedules, as profiles keep it: one row of the catalogue.
struct TimedKernel {
    std::string_view name, element;
    /// How much a run may do for an element that it makes, as who asks for predictions counts it:
    /// of filters, FilterBank::multiply_adds().
    std::vector<int> (*operands)();
    /// One rank's runs, which make about `cell.elements` elements with `cell.operands`, one of
    /// those, for each.
    Timed (*timed)(const Cell& cell);
    /// Whether it is timed while the other rank rests as well.
    bool alone = false;
    Elements smallest = Elements{1} << 14; ///< run that is timed; others are up to 128 times that
};

std::span<const TimedKernel> timed_kernels();

/// By name. Throws std::logic_error for one that there is not.
const TimedKernel& find_timed_kernel(std::string_view name);

} // namespace sextant::calibrate
