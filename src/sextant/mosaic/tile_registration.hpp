// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/mosaic/flat_field.hpp"
#include "sextant/mosaic/links.hpp"
#include "sextant/mosaic/positions.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant::mosaic {

struct TileOptions {
    double prefilter = registration::usual_prefilter; ///< σ of the Gaussian filter, in pixels
    int threads = 1;
    Bytes memory = Bytes{1} << 30; ///< for samples of tiles; at least four tiles are held
    bool flat = true;              ///< estimate the flat field of the scan, and divide tiles by it
    PositionOptions positions = {};
};

/// Why the position of a tile is uncertain.
enum class TileFlag : std::uint8_t {
    none,
    alone,     ///< no overlap with information: only the stage tells where the tile is
    island,    ///< connected to other tiles, but not to the largest group
    uncertain, ///< the standard deviation along an axis exceeds half a pixel
    unverified ///< other positions explain the overlaps almost as well, as on a lattice
};

/// The registered tiles of a mosaic.
struct TileResult {
    Positions positions = {};
    FlatField flat;                   ///< by which tiles were divided
    std::vector<double> levels = {};  ///< per tile: its brightness relative to the others
    std::vector<TileFlag> flags = {}; ///< per tile
    std::vector<Link> links = {};     ///< of all neighbours, also those without information
    std::vector<int> offset_of = {};  ///< per link: its index in Positions::kept, or -1
    std::int64_t tiles_read = 0;      ///< more than the number of tiles if memory is short
};

/// Registers the tiles of a mosaic: searches the offsets of neighbours from the positions of the
/// stage, solves for the positions of all tiles (solve_positions), registers the overlaps at these
/// positions once more, which also finds what the search missed, and solves again.
///
/// Input     the shape of all tiles; the position of each tile by the stage, in pixels.
/// Requires  at least one tile; tiles of 16x16 pixels or more; finite positions (InvalidTask).
/// Throws    what `read` throws; Cancelled.
/// Cost      two passes over the tiles; each tile is read once per pass if the memory holds a row
///           of the grid.
/// Deterministic: the same bits for any number of threads and any memory.
TileResult register_tiles(ImageShape tile, std::span<const Point> stage, const ReadTile& read,
                          const TileOptions& options, const RunControl& control = {});

} // namespace sextant::mosaic
