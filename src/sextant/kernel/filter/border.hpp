// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <optional>

namespace sextant::kernel {

/// What is seen beyond the border of an image, for the samples a b c d:
///
/// replicate  a a a | a b c d | d d d
/// mirror     d c b | a b c d | c b a    about the middle of the last sample, again and again where
///                                       the image is thinner than what is read
/// constant   v v v | a b c d | v v v
enum class Border { replicate, mirror, constant };

struct BorderRule {
    Border border = Border::replicate;
    float constant = 0; ///< what Border::constant shows
};

/// The sample of a line of `size` that is seen at `at`, which may lie outside; none where that is
/// the constant.
/// Requires  size > 0.
std::optional<Elements> seen_at(Border border, Elements at, Elements size);

} // namespace sextant::kernel
