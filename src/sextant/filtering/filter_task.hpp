// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/units.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::filtering {

/// An image at rank 0, filtered again and again.
struct Task {
    Elements width = 0, height = 0;
    /// Of each filter, one after another on what the one before made: how many pixels it needs
    /// around each.
    std::vector<Elements> margins = {0};
    int outputs = 1;     ///< images that the last filter makes
    bool collect = true; ///< all of them at rank 0; otherwise ranks keep their tiles
};

/// From a filter on, so many columns and rows of tiles.
struct Retiling {
    int filter = 1; ///< 1 for the second
    int columns = 1, rows = 1;

    int ranks() const { return columns * rows; }
    bool operator==(const Retiling&) const = default;
};

/// How a task is shared among ranks.
struct Way {
    int columns = 1, rows = 1; ///< of tiles, one a rank
    /// A scatter, or a broadcast, from which each takes its tile with its first margin; null: ranks
    /// have their tiles from the start.
    const collective::Algorithm* distribute = nullptr;
    const collective::Algorithm* collect = nullptr; ///< a gather; null where nothing is collected
    bool packs = false; ///< what lies in pieces is packed before it is sent
    /// Between filters tiles stay, but before these, in their order.
    std::vector<Retiling> retilings = {};

    bool operator==(const Way&) const = default;
    /// As many as the most tiles.
    int ranks() const;
    bool broadcasts() const { return distribute && distribute->what == Collective::broadcast; }
    /// The tiles that a filter makes, 0 for the first.
    Retiling tiles_of(int filter) const;
    /// Those of the first filter, and then all that follow.
    std::vector<Retiling> all_tiles() const;
    /// "2x8 tiles, then 1x16 from filter 3 on".
    std::string tiles_text() const;
    /// "2x8 tiles, flat-scatter, binomial-gather, packed".
    std::string text() const;
};

/// Throws InvalidTask: less than one tile; tiles dealt out anew before the first of so many
/// filters, after the last, or out of order.
void check_tiles(const Way& way, int filters);

/// Columns × rows of tiles for so many ranks, strips of rows first.
std::vector<Way> grids_of(int ranks);

/// Throws InvalidTask where a collective is given that does none of what is expected.
void check_role(const collective::Algorithm* row, std::initializer_list<Collective> expected,
                std::string_view role);

/// The tiles of a way.
Grid grid_of(const Task& task, const Way& way);

/// Throws InvalidTask: an image or margins of less than nothing, no filter, no output; tiles
/// smaller than a margin; a way that does not collect, or distribute, what it should, or that deals
/// tiles out anew.
void check(const Task& task, const Way& way);

} // namespace sextant::filtering
