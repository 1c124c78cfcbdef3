// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::kernel {

/// What part of an image something was drawn in, as codes see it (sparse_code.hpp): by the cells
/// of some thousands of places, evenly spread. 1 for no image, and for operators that do not say
/// what nothing is.
/// Cost      some thousands of cells, whatever the size.
double sampled_density(std::span<const std::byte> images, const Operator& op);

/// The same of each of so many equal bands of the picture, from its first pixels to its last: of
/// all images, which follow one another, together. 1 where a band is too small to be looked at.
/// Input     `pixels` of one image.
std::vector<double> sampled_bands(std::span<const std::byte> images, Elements pixels,
                                  const Operator& op, int bands);

} // namespace sextant::kernel
