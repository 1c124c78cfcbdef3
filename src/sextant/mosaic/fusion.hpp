// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/mosaic/flat_field.hpp"
#include "sextant/mosaic/positions.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace sextant::mosaic {

/// How the samples of tiles that overlap are combined.
enum class TileBlend {
    linear, ///< mean, weighted by the distance from the edges of each tile
    mean,   ///< unweighted mean
    first,  ///< of the first tile that covers the pixel
    max     ///< the largest sample
};

struct FusionOptions {
    TileBlend blend = TileBlend::linear;
    int threads = 1;
    Bytes memory = Bytes{1} << 30; ///< for samples of tiles and rows; as much as needed at least
};

/// The image of all tiles.
struct MosaicArea {
    ImageShape shape;
    Point origin; ///< the position of the first pixel, in the coordinates of the tiles' positions
};

/// The smallest area of whole pixels that contains all tiles.
/// Requires  at least one tile, and finite positions (InvalidTask).
MosaicArea area_of(std::span<const Point> positions, ImageShape tile);

/// Combines tiles at their positions to one image, in bands of rows. Each sample is divided by the
/// flat field and by the level of its tile, and interpolated once by cubic convolution, which keeps
/// the samples of tiles at whole pixels. Pixels that no tile covers are NaN.
///
/// Input     the positions of the tiles; the level of each tile, or an empty list for levels of 1.
/// Output    `take` is called with the rows of the image from top to bottom.
/// Requires  as many levels as tiles, or none (InvalidTask).
/// Throws    what `read` and `take` throw; Cancelled.
/// Cost      tiles are held as long as bands need them: each is read once, if the memory holds the
///           tiles that a row of the image touches.
/// Deterministic: the same bits for any number of threads and any memory.
/// Source    cubic convolution: Keys, IEEE Trans. ASSP 29(6), 1981, doi:10.1109/TASSP.1981.1163711
void fuse_tiles(ImageShape tile, std::span<const Point> positions, std::span<const double> levels,
                const FlatField& flat, const ReadTile& read, const FusionOptions& options,
                const std::function<void(Rows rows, std::span<const float> samples)>& take,
                const RunControl& control = {});

} // namespace sextant::mosaic
