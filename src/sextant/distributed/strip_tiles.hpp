// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

/// Every tile of all strips in an order in which strips follow one another.
inline contour::Order order_of(const StripTiles& tiles) {
    return {tiles.grid, {{{1, tiles.grid.columns}, {1, tiles.grid.rows}}}};
}

/// What tiles know of their borders, merged in time as between tiles: strips are told of one after
/// another, down the image; then again, up it. What is known of those above waits in a file of rank
/// 0 meanwhile, of those below a list is kept: each is as long as one border of a strip makes it.
template <class Entry>
class StripLists {
  public:
    using List = contour::TileList<Entry>;
    using Lists = std::span<const List>;
    /// Some lists as that of their tiles together, and all that these lists know.
    struct Merging {
        std::function<List(Lists)> merge;
        std::function<std::vector<Entry>(Lists)> join;
    };

    /// Collective.
    StripLists(const Communicator& communicator, const StripTiles& tiles, Merging merging,
               const std::string& output)
        : communicator_(communicator),
          tiles_(tiles),
          merging_(std::move(merging)),
          below_{{tiles.grid.ranks(), tiles.grid.ranks()}, {}} {
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                file_.emplace(output);
        });
    }

    /// A strip below those that have been told of; this rank's list. Collective.
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
            above_ = merging_.merge(lists);
        });
    }

    /// After that, a strip above those that have been told of again: what is known of its entries,
    /// by what lies above and below too, on every rank. Collective.
    std::vector<Entry> go_up(int strip, const List& own) {
        std::vector<List> lists = gathered(strip, own);
        std::vector<Entry> joined;
        agree(communicator_, [&] {
            if (!file_)
                return;
            lists.push_back(below_);
            List below = merging_.merge(lists);
            lists.insert(lists.begin(), known_above(strip));
            joined = merging_.join(lists);
            below_ = std::move(below);
        });
        return tell_all(communicator_, joined).values;
    }

  private:
    /// At rank 0 the lists of a strip's tiles.
    std::vector<List> gathered(int strip, const List& own) const {
        std::vector<std::vector<Entry>> to(static_cast<std::size_t>(communicator_.size()));
        to[0] = own.entries;
        const ByRank<Entry> got = deal(communicator_, to);
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
    Merging merging_;
    std::optional<ScratchFile> file_; // of rank 0
    std::vector<Bytes> ends_;         // [strip]: of what is known of those above it
    List above_, below_;
};

} // namespace sextant::distributed
