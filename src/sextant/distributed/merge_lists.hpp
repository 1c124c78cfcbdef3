// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agree.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_list.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/distributed/merging_record.hpp"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace sextant {

/// Merges what tiles know of their borders by a pattern.
///
/// Input     this rank's list; how lists are merged; where to record what this rank does, or
///           nullptr.
/// Output    that list as it was, then the merged lists of the tiles before it in the pattern's
///           order and of those behind, where there are such.
/// Requires  as many ranks as tiles (checked by the caller on every rank).
/// Collective.
/// Cost      the pattern's messages; memory for some p lists of all entries, of which what is used
///           is touched.
template <class Entry>
std::vector<contour::TileList<Entry>>
merge_lists(const Communicator& communicator, const Grid& grid, const contour::TileList<Entry>& own,
            const contour::Pattern& pattern, const contour::Merge<Entry>& merge,
            MergingRecord* record = nullptr) {
    const auto counts = communicator.all_gather(static_cast<Elements>(own.entries.size()));
    const Elements all = std::accumulate(counts.begin(), counts.end(), Elements{0});
    std::optional<Execution> execution;
    Memory list;
    agree(communicator, [&] {
        list = Memory(contour::bytes_for<Entry>(all));
        contour::put(own, list.data());
        execution.emplace(communicator, contour::program(pattern, grid, communicator.rank()),
                          contour::merging_operator<Entry>(merge, all),
                          ExecuteOptions{.trace = record != nullptr});
        execution->bind(0, std::as_const(list).bytes());
    });
    execution->run();
    if (record)
        *record = {execution->trace(), execution->sent().bytes};
    std::vector<contour::TileList<Entry>> lists{own};
    const std::span<const std::byte> result = execution->result();
    for (std::size_t at = 0; at < result.size(); at += static_cast<std::size_t>(list.size()))
        lists.push_back(contour::get<Entry>(result.data() + at));
    return lists;
}

} // namespace sextant
