// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

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

/// Samples of a rectangle of an image, which may be the whole of it.
struct SampleView {
    /// Of the one at the top left.
    std::variant<const float*, const std::uint8_t*, const std::uint16_t*> first;
    Elements stride = 0; ///< from one row to the next; negative where the image is bottom up
    Tile tile;           ///< where the rectangle lies in the image
    ImageShape image;    ///< the whole
};

/// Samples of an image that lie in several rectangles.
using SamplePieces = std::span<const SampleView>;

/// Where the samples of a result go.
struct Plane {
    float* first = nullptr;
    Elements stride = 0; ///< as SampleView's
};

/// The smallest rectangle of an image that a filter computes `tile` from which reaches so many
/// samples to the left and right, up and down: the tile with its halo, clipped to the image. Where
/// a mirror shows more of an image thinner than that, this too.
/// Requires  a tile within the image, not empty.
/// Cost      O(reach).
Tile read_for(const Tile& tile, ImageShape image, int reach_x, int reach_y, Border border);

/// Whether pieces that do not overlap hold all of a rectangle.
bool hold(SamplePieces pieces, const Tile& part);

/// The samples of row `y` from column `x` on, as floats, with what is seen beyond the border.
/// Requires  pieces, one at least, that hold what is seen (not checked).
void read_line(SamplePieces pieces, BorderRule rule, Elements x, Elements y, std::span<float> line);

} // namespace sextant::kernel
