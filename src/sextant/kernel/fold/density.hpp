// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// What part of an image something was drawn in, as codes see it (sparse_code.hpp): by the cells
/// of some thousands of places, evenly spread. 1 for no image, and for operators that do not say
/// what nothing is.
/// Cost      some thousands of cells, whatever the size.
double sampled_density(std::span<const std::byte> images, const Operator& op);

} // namespace sextant::kernel
