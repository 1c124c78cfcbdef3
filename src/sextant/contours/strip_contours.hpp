// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/contours/point_order.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/kernel/label/directions.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Edges and contours of an image that does not fit in memory, as a sequence of strips of rows; each
// strip is divided into tiles, one per rank. The results are the same as those of canny.hpp and
// contour_merging.hpp. Every rank reads its tiles from its own source; rank 0 keeps planes of codes
// (kernel/edge/edge_vectors.hpp), lists and points in scratch files. All functions are collective
// and throw AgreedFailure, or Cancelled between strips.
namespace sextant::distributed {

/// The tiles of all strips as one grid of the image. A strip is one or more rows of the grid.
struct StripTiles {
    Grid grid;
    int strips = 1;

    int ranks() const { return grid.ranks() / strips; }
    ImageShape image() const { return {grid.width, grid.height}; }
    /// Returns a tile's number in the grid.
    int number(int strip, int rank) const { return strip * ranks() + rank; }
    Tile tile(int strip, int rank) const { return sextant::tile(grid, number(strip, rank)); }
    /// Returns all rows of a strip, with `margin` rows above and below, clipped to the image.
    Tile rows(int strip, Elements margin) const;
};

/// Reads rectangles of an image from top to bottom, on one rank. Rows shared by consecutive
/// rectangles are kept, because many formats can only be read forwards.
class TopDownReader {
  public:
    explicit TopDownReader(RowSource& source) : source_(source) {}

    /// The view is valid until the next read. Throws InvalidFile.
    kernel::SampleView read(const Tile& held);

  private:
    RowSource& source_;
    Tile held_;
    Memory samples_;
};

/// One byte per pixel of an image, in a scratch file of rank 0.
class BytePlane {
  public:
    /// Creates the scratch file. Throws AgreedFailure if no file can be created in the folder of
    /// `scratch`. Collective.
    BytePlane(const Communicator& communicator, const StripTiles& tiles,
              const std::string& scratch);

    /// Returns this rank's tile of a strip with a margin, clipped to the image. Collective.
    std::vector<std::uint8_t> read(int strip, Elements margin) const;
    /// Writes each rank's tile of a strip. Collective.
    void write(int strip, const std::vector<std::uint8_t>& own);

  private:
    Communicator communicator_;
    StripTiles tiles_;
    std::optional<ScratchFile> file_; // only on rank 0
};

/// Returns an order of all tiles in which the tiles of a strip are consecutive.
inline contour::Order order_of(const StripTiles& tiles) {
    return {tiles.grid, {{{1, tiles.grid.columns}, {1, tiles.grid.rows}}}};
}

/// Merges the border lists of tiles strip by strip: first down the image with `go_down`, then back
/// up with `go_up`. For each strip, rank 0 stores the merged list of all tiles above the strip in a
/// file; it holds one merged list of the tiles below in memory. Each list is at most as long as a
/// strip's border allows.
template <class Entry>
class StripLists {
  public:
    using List = contour::TileList<Entry>;

    /// Creates a scratch file on rank 0. `merger` must use the order of order_of(). Collective.
    StripLists(const Communicator& communicator, const StripTiles& tiles,
               contour::Merger<Entry> merger, const std::string& scratch)
        : communicator_(communicator),
          tiles_(tiles),
          merger_(std::move(merger)),
          below_{{tiles.grid.ranks(), tiles.grid.ranks()}, {}} {
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                file_.emplace(scratch);
        });
    }

    /// Adds the next strip below. Input: this rank's list. Collective.
    void go_down(const List& own) {
        std::vector<List> lists = gathered(static_cast<int>(ends_.size()), own);
        agree(communicator_, [&] {
            const Bytes end = ends_.empty() ? 0 : ends_.back();
            const auto known = std::as_bytes(std::span(above_.entries));
            ends_.push_back(end + static_cast<Bytes>(known.size()));
            if (!file_)
                return;
            file_->write(end, known);
            lists.insert(lists.begin(), above_);
            above_ = merger_.merge(lists);
        });
    }

    /// Returns, on every rank, the strip's entries joined with the lists from above and below. Call
    /// go_up() for each strip from the last to the first, after all calls of `go_down`. Collective.
    std::vector<Entry> go_up(int strip, const List& own) {
        std::vector<List> lists = gathered(strip, own);
        std::vector<Entry> joined;
        agree(communicator_, [&] {
            if (!file_)
                return;
            lists.push_back(below_);
            List below = merger_.merge(lists);
            lists.insert(lists.begin(), known_above(strip));
            joined = merger_.join(lists);
            below_ = std::move(below);
        });
        return all_gather_by_rank(communicator_, joined).values;
    }

  private:
    /// Returns the lists of a strip's tiles, on rank 0.
    std::vector<List> gathered(int strip, const List& own) const {
        const ByRank<Entry> got = gather_lists(communicator_, own.entries);
        std::vector<List> lists;
        auto from = got.values.begin();
        for (int rank = 0; rank < communicator_.size() && file_; ++rank) {
            const int number = tiles_.number(strip, rank);
            const auto end = from + got.counts[static_cast<std::size_t>(rank)];
            lists.push_back({{number, number + 1}, {from, end}});
            from = end;
        }
        return lists;
    }

    List known_above(int strip) const {
        const Bytes begin = strip == 0 ? 0 : ends_[static_cast<std::size_t>(strip - 1)];
        const Bytes size = ends_[static_cast<std::size_t>(strip)] - begin;
        List list{{0, tiles_.number(strip, 0)},
                  std::vector<Entry>(static_cast<std::size_t>(size) / sizeof(Entry))};
        file_->read(begin, std::as_writable_bytes(std::span(list.entries)));
        return list;
    }

    Communicator communicator_;
    StripTiles tiles_;
    contour::Merger<Entry> merger_;
    std::optional<ScratchFile> file_; // only on rank 0
    std::vector<Bytes> ends_;         // by strip: end of the list from above in `file_`
    List above_, below_;
};

/// The context shared by all steps.
struct StripWork {
    const Communicator& communicator;
    const StripTiles& tiles;
    const std::string& scratch; ///< path for ScratchFile
    const RunControl& control;
};

/// The same as quantiles_of(), for strips. Cost: the gradient is computed twice and not stored.
kernel::EdgeThresholds strip_quantiles(const StripWork& work, RowSource& source, double sigma,
                                       double low, double high);

/// Returns the edges: maxima of the gradient that are connected to a strong maximum. Cost: the
/// gradient is computed once; codes are labelled twice, because components are complete only after
/// the last strip.
BytePlane strip_edges(const StripWork& work, RowSource& source, double sigma,
                      kernel::EdgeThresholds thresholds);

/// Thins edges to lines one pixel wide. Each pass runs `rounds` rounds on one strip after another,
/// with the margin that these rounds need. Passes are repeated until nothing changes.
BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds = 4);

/// Converts samples of a direction map (-1 no edge, -2 the head of a contour, 0 to 7 directions) to
/// codes, and writes the codes contiguously to `to`.
/// Requires  rows without gaps between them.
/// Throws    InvalidFile for any other value, naming the map `path` and the pixel. Not collective.
void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to);

/// The width of the margin around a tile that ranking reads.
inline constexpr Elements ranking_margin = 2;

/// Returns the directions of this rank's tile of a strip, with `ranking_margin` pixels around it,
/// clipped to the image. Collective.
using StripDirections = std::function<std::vector<kernel::Direction>(int strip)>;

/// Returns the directions of thinned edges; `edges` must outlive the result.
StripDirections directions_of(const StripWork& work, const BytePlane& edges);
/// Returns the directions read from a direction map.
StripDirections directions_in(const StripWork& work, RowSource& source);

/// Computes heads and ranks of contours strip by strip. A pass down the image finds the crossings
/// of the boundaries between strips; a pass up computes the points, which rank 0 adds to `points`.
/// Returns the counts of the whole map.
/// Cost      every strip is ranked twice; 24 bytes per point of a strip.
Junctions rank_strips(const StripWork& work, const StripDirections& directions, PointOrder* points);

} // namespace sextant::distributed
