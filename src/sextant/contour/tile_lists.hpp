// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/merge_order.hpp"
#include "sextant/core/operator.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

// Lists of entries that describe the borders of tiles. A schedule can merge these lists: each list
// is then one element.
namespace sextant::contour {

/// A list of entries that describe the border of a set of tiles. The tiles are consecutive in the
/// merging order.
template <class Entry>
struct TileList {
    Run tiles;
    std::vector<Entry> entries;
};

/// Throws std::logic_error if the list of a run has more than `most` entries.
void require_room(Elements entries, Elements most, Run run);

/// Returns the union of consecutive runs. Throws std::logic_error if they are not consecutive.
Run joined_runs(std::span<const Run> runs);

template <class Entry>
Run joined_runs(std::span<const TileList<Entry>> lists) {
    std::vector<Run> runs;
    for (const TileList<Entry>& list : lists)
        runs.push_back(list.tiles);
    return joined_runs(runs);
}

/// The header of a list in memory, followed by its entries.
struct ListHeader {
    Run tiles;
    Elements count = 0;
};

/// The size in bytes of a list with this many entries.
template <class Entry>
Bytes bytes_for(Elements entries) {
    return static_cast<Bytes>(sizeof(ListHeader)) + entries * static_cast<Bytes>(sizeof(Entry));
}

template <class Entry>
void put(const TileList<Entry>& list, std::byte* to) {
    static_assert(std::is_trivially_copyable_v<Entry>);
    const ListHeader header{list.tiles, static_cast<Elements>(list.entries.size())};
    std::memcpy(to, &header, sizeof header);
    if (header.count > 0)
        std::memcpy(to + sizeof header, list.entries.data(), list.entries.size() * sizeof(Entry));
}

template <class Entry>
TileList<Entry> get(const std::byte* from) {
    ListHeader header;
    std::memcpy(&header, from, sizeof header);
    TileList<Entry> list{header.tiles, std::vector<Entry>(static_cast<std::size_t>(header.count))};
    if (header.count > 0)
        std::memcpy(list.entries.data(), from + sizeof header, list.entries.size() * sizeof(Entry));
    return list;
}

/// The functions that merge the lists of tiles.
template <class Entry>
struct Merger {
    Order order;
    /// Joins the entries of all lists with each other, and returns the joined entries.
    std::function<std::vector<Entry>(std::span<const TileList<Entry>> lists)> join;
    /// True if an entry of the list of `tiles` concerns pixels outside these tiles.
    std::function<bool(Run tiles, const Entry& entry)> is_at_border;

    /// Merges lists into one list for all their tiles. Keeps only the entries at the border of
    /// these tiles.
    TileList<Entry> merge(std::span<const TileList<Entry>> lists) const {
        TileList<Entry> merged{joined_runs(lists), join(lists)};
        std::erase_if(merged.entries,
                      [&](const Entry& entry) { return !is_at_border(merged.tiles, entry); });
        return merged;
    }
};

/// The maximum number of entries in the list of a run of tiles.
using ListCapacity = std::function<Elements(Run run)>;

/// An operator that merges lists. Each list is one element in a separate region; only the used part
/// of a list is sent.
/// Requires  room for `capacity` entries in every region; std::logic_error otherwise.
template <class Entry>
Operator merging_operator(Merger<Entry> merger, ListCapacity capacity) {
    Operator made;
    made.name = "merge lists";
    made.summary = "merge the border information of consecutive tiles";
    made.element = {"list", bytes_for<Entry>(0)};
    made.exact_when_split = true;
    made.fold = [=](FoldFunction::Sources sources, std::byte* to, Elements) {
        std::vector<TileList<Entry>> lists;
        for (const std::byte* source : sources)
            lists.push_back(get<Entry>(source));
        const TileList<Entry> merged = merger.merge(lists);
        require_room(std::ssize(merged.entries), capacity(merged.tiles), merged.tiles);
        put(merged, to);
    };
    made.used = [](const std::byte* element) {
        ListHeader header;
        std::memcpy(&header, element, sizeof header);
        return bytes_for<Entry>(header.count);
    };
    return made;
}

/// A pixel (y · width + x) at which a contour enters a set of tiles from outside, and the contour's
/// continuation.
struct Crossing {
    Elements pixel = 0;
    Elements before = 0; ///< the previous pixel of the contour, which is outside
    /// The contour's head if it is in these tiles, otherwise the first pixel after the contour
    /// leaves the tiles.
    Elements end = 0;
    Elements links = 0;       ///< number of links to `end`
    Elements smallest = 0;    ///< the smallest pixel on the path to `end`
    Elements to_smallest = 0; ///< number of links to `smallest`
    bool operator==(const Crossing&) const = default;
};

/// The crossings of some tiles, sorted by pixel; the tiles are consecutive in the merging order. A
/// closed contour ends at its smallest pixel once all of it is inside the tiles.
using Boundary = TileList<Crossing>;

/// Follows contours through the tiles of all lists: each crossing is extended as far as the lists
/// of these tiles allow. Returns all crossings.
/// Requires  at most one crossing per pixel.
/// Cost      O(n log n) for n crossings.
std::vector<Crossing> follow(std::span<const Boundary> lists);

/// Merges crossings by follow(). Crossings that enter from outside are at the border.
Merger<Crossing> crossing_merger(Order order);

/// Finds the crossing at `pixel` in a list sorted by pixel; null if the list has no such crossing.
const Crossing* find(std::span<const Crossing> crossings, Elements pixel);

/// A component and its mark, packed in one number to keep messages short.
class PartOfWhole {
  public:
    PartOfWhole() = default;
    PartOfWhole(Elements component, bool marked) : number_(2 * component + (marked ? 1 : 0)) {}
    /// The smallest pixel of the component found so far.
    Elements component() const { return number_ / 2; }
    /// True if the component is known to have a mark.
    bool marked() const { return number_ % 2 != 0; }
    bool operator==(const PartOfWhole&) const = default;

  private:
    Elements number_ = 0;
};

/// A pixel (y · width + x) of a component that touches pixels outside a set of tiles.
struct BorderPixel {
    Elements pixel = 0;
    /// Neighbouring pixels are connected if their values are equal and not 0.
    std::uint64_t value = 1;
    PartOfWhole part;
    bool operator==(const BorderPixel&) const = default;
};

/// The border pixels of components of some tiles, sorted by pixel; the tiles are consecutive in the
/// merging order.
using Frontier = TileList<BorderPixel>;

/// Connectivity: pixels touch at sides only, or at corners too.
enum class Touch : std::uint8_t { sides, corners };

/// Merges the touching components of all lists. Pixels that touch pixels outside are border pixels.
/// Requires  distinct pixels.
/// Cost      `join`: O(n log n) for n pixels.
Merger<BorderPixel> component_merger(Order order, Touch touch);

} // namespace sextant::contour
