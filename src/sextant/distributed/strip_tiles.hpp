// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// An image that does not fit in memory: strips of rows, one after another, each in tiles over
// ranks.
namespace sextant::distributed {

/// The tiles of all strips as a grid of the whole image: those of a strip are rows of it.
struct StripTiles {
    Grid grid;
    int strips = 1;

    int ranks() const { return grid.ranks() / strips; }
    ImageShape image() const { return {grid.width, grid.height}; }
    /// A tile's number in the grid.
    int number(int strip, int rank) const { return strip * ranks() + rank; }
    Tile tile(int strip, int rank) const { return sextant::tile(grid, number(strip, rank)); }
    /// All of a strip's, with so many rows above and below, as far as the image goes.
    Tile rows(int strip, Elements margin) const;
};

/// The samples of rectangles of an image, which a rank reads for itself, one below the other: rows
/// that the next has in common with the one before are kept, since many formats can only go on.
class SamplesGoingDown {
  public:
    explicit SamplesGoingDown(RowSource& source) : source_(source) {}

    /// What it shows is there until the next one is read. Throws InvalidFile.
    kernel::SampleView read(const Tile& held);

  private:
    RowSource& source_;
    Tile held_;
    Memory samples_;
};

/// A byte a pixel of an image, in a file of rank 0.
class BytePlane {
  public:
    /// Collective. Throws AgreedFailure where there can be no file beside `output`.
    BytePlane(const Communicator& communicator, const StripTiles& tiles, const std::string& output);

    /// Each rank's tile of a strip with so many pixels around it, as far as the image goes.
    /// Collective.
    std::vector<std::uint8_t> read(int strip, Elements margin) const;
    /// Each rank's tile of a strip. Collective.
    void write(int strip, const std::vector<std::uint8_t>& own);

  private:
    Communicator communicator_;
    StripTiles tiles_;
    std::optional<ScratchFile> file_; // of rank 0
};

} // namespace sextant::distributed
