// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agree.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_list.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/distributed/merging_record.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sextant {

/// How many entries a merged list of a run of tiles may have: those of its tiles together, which
/// `counts` has by rank, and for several tiles no more than `bound` says, where that is given.
contour::ListCapacity list_capacity(const contour::Pattern& pattern, const Grid& grid,
                                    std::span<const Elements> counts,
                                    const contour::ListCapacity& bound);

/// Merges what tiles know of their borders by a pattern.
///
/// Input     this rank's list; how lists are merged; what bounds the entries of a merged list of
///           several tiles, besides those of its tiles together, or nothing; where to record what
///           this rank does, or nullptr.
/// Output    that list as it was, then the merged lists of the tiles before it in the pattern's
///           order and of those behind, where there are such.
/// Requires  as many ranks as tiles (checked by the caller on every rank).
/// Collective.
/// Cost      the pattern's messages; memory for its lists, each as long as its tiles allow.
template <class Entry>
std::vector<contour::TileList<Entry>>
merge_lists(const Communicator& communicator, const Grid& grid, const contour::TileList<Entry>& own,
            const contour::Pattern& pattern, const contour::Merge<Entry>& merge,
            const contour::ListCapacity& bound = {}, MergingRecord* record = nullptr) {
    const auto counts = communicator.all_gather(static_cast<Elements>(own.entries.size()));
    std::optional<Execution> execution;
    Memory list;
    agree(communicator, [&] {
        const contour::ListCapacity capacity = list_capacity(pattern, grid, counts, bound);
        const auto room = [&](contour::Run run) {
            return contour::bytes_for<Entry>(capacity(run));
        };
        list = Memory(room(own.tiles));
        contour::put(own, list.data());
        execution.emplace(communicator, contour::program(pattern, grid, communicator.rank(), room),
                          contour::merging_operator<Entry>(merge, capacity),
                          ExecuteOptions{.trace = record != nullptr});
        execution->bind(0, std::as_const(list).bytes());
    });
    execution->run();
    if (record)
        *record = {execution->trace(), execution->sent().bytes};
    std::vector<contour::TileList<Entry>> lists{own};
    const std::span<const std::byte> result = execution->result();
    const Program& program = execution->program();
    const auto size = static_cast<std::size_t>(program.element_size(program.result.buffer, 0));
    for (std::size_t at = 0; at < result.size(); at += size)
        lists.push_back(contour::get<Entry>(result.data() + at));
    return lists;
}

} // namespace sextant
