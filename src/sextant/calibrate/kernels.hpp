// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/rig.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant::calibrate {

inline constexpr Bytes kibi = 1024, mebi = 1024 * kibi;

/// A kernel as stored in profiles; an entry of the catalogue.
struct TimedKernel {
    std::string_view name, element;
    /// The values of `operands` to time: the work per result, in the kernel's own unit. For filters
    /// it is FilterBank::multiply_adds().
    std::vector<int> (*operands)();
    /// Makes one rank's runs of a cell: about `cell.elements` results, each with the work
    /// `cell.operands`, one of the values that `operands` returns. Throws InvalidFile if a file
    /// is timed and there is no space for it.
    Timed (*timed)(const Cell& cell);
    /// True if the kernel is also timed while the other rank is idle.
    bool alone = false;
    /// Elements of the smallest run to time; other runs have up to 128 times as many.
    Elements smallest = Elements{1} << 14;
};

std::span<const TimedKernel> timed_kernels();

/// Finds a kernel by name. Throws std::logic_error for unknown names.
const TimedKernel& find_timed_kernel(std::string_view name);

} // namespace sextant::calibrate
