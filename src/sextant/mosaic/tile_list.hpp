// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/mosaic/positions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::mosaic {

/// The largest number of tiles in a list.
inline constexpr std::size_t most_tiles = 1'000'000;

/// A tile of a scan, as a list states it.
struct ListedTile {
    std::string file; ///< relative paths are relative to the folder of the list
    std::int64_t frame = 0;
    int cycle = 0, channel = 0;
    Point at = {}; ///< the position of the first pixel by the stage
    bool operator==(const ListedTile&) const = default;
};

/// Reads the tiles of a list in the format of ImageJ's stitching plugins (TileConfiguration.txt):
/// lines "file; series; (x, y)" after "dim = 2". Comments begin with "#". Positions are in pixels.
/// `series` is the number of the frame; it may be missing.
///
/// Throws    InvalidFile, which names the line: other lines or dimensions, a tile that is listed
///           twice, no tiles, or more than most_tiles.
std::vector<ListedTile> read_tile_configuration(const std::string& path);
/// Writes a list that read_tile_configuration() and ImageJ read.
std::string tile_configuration(std::span<const ListedTile> tiles);

/// Reads the tiles of a table: lines of values separated by commas, the first with the names of the
/// columns. "file", "x" and "y" are required; "frame", "cycle" and "channel" may be missing; others
/// are ignored. Values may be quoted.
///
/// Throws    InvalidFile as read_tile_configuration().
std::vector<ListedTile> read_tile_table(const std::string& path);

/// The order in which a microscope records the tiles of a grid.
struct GridOrder {
    bool snake = false;       ///< every second row is recorded in the opposite direction
    bool columns = false;     ///< column after column, instead of row after row
    bool from_right = false;  ///< the first tile is in the last column
    bool from_bottom = false; ///< the first tile is in the last row
};

/// Returns the position of each tile of a grid, in the order in which the tiles are recorded.
/// Input     the overlap of neighbours, as a fraction of a tile's width and height.
/// Requires  one column and row or more, at most most_tiles tiles, and an overlap of 0 or more,
///           below 1 (InvalidTask).
std::vector<Point> grid_positions(int columns, int rows, const GridOrder& order, ImageShape tile,
                                  double overlap);

/// The numbers in the name of a file that a pattern describes.
struct PatternNumbers {
    std::int64_t row = 0, column = 0;
    int cycle = 0, channel = 0;
};

/// A pattern of file names, such as "img_r{r}_c{c}.tif": {r} is the row, {c} the column, {cycle}
/// the cycle and {channel} the channel.
class TilePattern {
  public:
    /// Throws InvalidTask if {r} or {c} is missing, a field is unknown or occurs twice, or two
    /// fields are adjacent.
    explicit TilePattern(std::string_view pattern);

    /// True if a text contains a field, so that it is a pattern and not the name of a file.
    static bool is_pattern(std::string_view text);
    /// Finds the numbers of a name. False if the name does not have this pattern.
    bool matches(std::string_view name, PatternNumbers& numbers) const;

  private:
    enum class FieldKind { none, row, column, cycle, channel };
    /// A field, and the text after it; the text before the first field has none.
    struct Piece {
        FieldKind field;
        std::string text;
    };
    std::vector<Piece> pieces_;
};

} // namespace sextant::mosaic
