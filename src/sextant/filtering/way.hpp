// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/filtering/task.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::filtering {

/// How a task is shared among ranks.
struct Way {
    int columns = 1, rows = 1; ///< of tiles, one a rank
    /// A scatter, or a broadcast, from which each takes its tile with its first margin; null: ranks
    /// have their tiles from the start.
    const collective::Algorithm* distribute = nullptr;
    const collective::Algorithm* collect = nullptr; ///< a gather; null where nothing is collected
    bool packs = false; ///< what lies in pieces is packed before it is sent

    bool operator==(const Way&) const = default;
    int ranks() const { return columns * rows; }
    bool broadcasts() const { return distribute && distribute->what == Collective::broadcast; }
    /// "2x8 tiles, flat-scatter, binomial-gather, packed".
    std::string text() const;
};

/// Columns × rows of tiles for so many ranks, strips of rows first.
std::vector<Way> grids_of(int ranks);

/// Throws InvalidTask where a collective is given that does none of what is expected.
void check_role(const collective::Algorithm* row, std::initializer_list<Collective> expected,
                std::string_view role);

/// The tiles of a way.
Grid grid_of(const Task& task, const Way& way);

/// Throws InvalidTask: an image or margins of less than nothing, no filter, no output; tiles
/// smaller than a margin; a way that does not collect, or distribute, what it should.
void check(const Task& task, const Way& way);

} // namespace sextant::filtering
