// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/blocks.hpp"
#include "sextant/schedule/program.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace sextant {

/// One run of a compute step: which regions it reads and makes, and where these lie.
struct Computation {
    const Step& step;
    std::span<const Region> read, made;
    std::span<std::byte* const> buffers; ///< where each buffer of the program begins
    /// Where each region made is to lie: there, or where another rank wants it, its runs as long
    /// and as many, but elsewhere and perhaps further apart.
    std::span<const Blocks> places;
    /// To be called now and then in long work, so that messages keep moving meanwhile.
    const std::function<void()>& progress;
};

/// The code of compute steps: makes all elements of the regions made, from nothing but those read.
/// It may throw, as an operator may.
using Kernel = std::function<void(const Computation& computation)>;

} // namespace sextant
