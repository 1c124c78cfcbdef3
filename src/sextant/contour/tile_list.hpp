// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/stages.hpp"
#include "sextant/core/operator.hpp"

#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

// What is known of tiles as a list of entries, and lists as elements that a schedule merges.
namespace sextant::contour {

/// What some tiles that lie together in an order know of their border.
template <class Entry>
struct TileList {
    Run tiles;
    std::vector<Entry> entries;
};

/// Throws std::logic_error where a list of a run has more entries than there is room for.
void require_room(Elements entries, Elements most, Run run);

/// The run of runs that follow one another; std::logic_error where they do not.
Run joined_runs(std::span<const Run> runs);

template <class Entry>
Run joined_runs(std::span<const TileList<Entry>> lists) {
    std::vector<Run> runs;
    for (const TileList<Entry>& list : lists)
        runs.push_back(list.tiles);
    return joined_runs(runs);
}

/// In front of the entries of a list in memory.
struct ListHeader {
    Run tiles;
    Elements count = 0;
};

/// How many bytes a list of so many entries takes.
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

/// The list of the tiles of all lists together.
template <class Entry>
using Merge = std::function<TileList<Entry>(std::span<const TileList<Entry>> lists)>;

/// How many entries a list of a run of tiles may have.
using ListCapacity = std::function<Elements(Run run)>;

/// Merges lists as elements, one in each region, of which only the used part is sent.
/// Requires  room for as many entries as `capacity` says in every region; std::logic_error where a
///           merged list has more.
template <class Entry>
Operator merging_operator(Merge<Entry> merge, ListCapacity capacity) {
    Operator made;
    made.name = "merge lists";
    made.summary = "what is known of the borders of tiles, as far as others need it";
    made.element = {"list", bytes_for<Entry>(0)};
    made.exact_when_split = true;
    made.fold = [=](FoldFunction::Sources sources, std::byte* to, Elements) {
        std::vector<TileList<Entry>> lists;
        for (const std::byte* source : sources)
            lists.push_back(get<Entry>(source));
        const TileList<Entry> merged = merge(lists);
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

} // namespace sextant::contour
