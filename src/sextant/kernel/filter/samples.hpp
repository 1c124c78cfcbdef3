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

/// The values assumed beyond the border of an image, for samples a b c d:
///
/// replicate  a a a | a b c d | d d d
/// mirror     d c b | a b c d | c b a    about the centre of the last sample; repeatedly if the
///                                       image is thinner than the reach
/// reflect    c b a | a b c d | d c b    about the border of the image; likewise
/// constant   v v v | a b c d | v v v
/// wrap       b c d | a b c d | a b c    of an image; volumes are padded by the caller
enum class Border { replicate, mirror, constant, reflect, wrap };

struct BorderRule {
    Border border = Border::replicate;
    float constant = 0; ///< the value for Border::constant
};

/// The index of the sample used for position `at`, which may be outside a line of `size` samples;
/// none if the constant is used.
/// Requires  size > 0.
std::optional<Elements> seen_at(Border border, Elements at, Elements size);

/// Samples of a rectangle of an image, or of a box of a volume.
struct SampleView {
    /// The sample at the top left.
    std::variant<const float*, const std::uint8_t*, const std::uint16_t*> first;
    Elements stride = 0;     ///< distance between rows; negative if the image is stored bottom up
    Tile tile;               ///< the rectangle's position in the image
    ImageShape image;        ///< the whole image; of a volume, each plane
    Elements next_plane = 0; ///< distance between planes of a volume
    Elements depth = 1;      ///< the planes of the whole volume
};

/// Samples of an image in several rectangles.
using SamplePieces = std::span<const SampleView>;

/// The destination of a result.
struct Plane {
    float* first = nullptr;
    Elements stride = 0; ///< see SampleView
};

/// The smallest rectangle of an image needed to compute `tile` with a filter that reaches reach_x
/// samples to the left and right and reach_y up and down: the tile with its halo, clipped to the
/// image. If the image is smaller than the reach, the rectangle also contains all samples that a
/// mirrored border repeats. With a border that wraps around, it extends to the opposite side. The
/// planes of a box in a volume are treated in the same way.
/// Requires  a tile within the image or volume, not empty.
/// Cost      O(reach).
Tile read_for(const Tile& tile, ImageShape image, int reach_x, int reach_y, Border border,
              Elements depth = 1, int reach_z = 0);

/// True if the pieces together cover a rectangle or a box.
/// Requires  pieces that do not overlap.
bool hold(SamplePieces pieces, const Tile& part);

/// Reads the samples of row `y` from column `x` on as floats, including values beyond the border.
/// Requires  at least one piece, and pieces that contain all samples needed (not checked).
void read_line(SamplePieces pieces, BorderRule rule, Elements x, Elements y, std::span<float> line);

} // namespace sextant::kernel
