// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/units.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::filtering {

/// A change of tiles: the grid for this filter and later ones.
struct Retiling {
    int filter = 1; ///< index of the filter; 1 is the second filter
    Tiles tiles = {};
    bool operator==(const Retiling&) const = default;
};

/// The partition of an image or a volume among ranks, and the collectives to use.
struct Configuration {
    int columns = 1, rows = 1; ///< columns and rows of tiles, one tile per rank
    /// A scatter, or a broadcast from which each rank takes its tile with the margin of the first
    /// filter. Null if ranks have their tiles from the start.
    const collective::Algorithm* distribute = nullptr;
    const collective::Algorithm* collect = nullptr; ///< a gather; null if results are not collected
    bool packs = false; ///< true if non-contiguous data is packed before it is sent
    /// Changes of tiles between filters, in filter order.
    std::vector<Retiling> retilings = {};
    int layers = 1; ///< layers of tiles, if a volume is divided

    bool operator==(const Configuration&) const = default;
    /// The number of ranks, which is the largest number of tiles of any filter.
    int ranks() const;
    bool broadcasts() const { return distribute && distribute->what == CollectiveKind::broadcast; }
    /// The tiles of the first filter.
    Tiles tiles() const { return {columns, rows, layers}; }
    /// The tiles of a filter's result; 0 is the first filter.
    Tiles tiles_of(int filter) const;
    /// The tiles of the first filter, and all changes after it.
    std::vector<Retiling> all_tiles() const;
    /// A short text: "2x8 tiles, then 1x16 from filter 3 on".
    std::string tiles_text() const;
    /// A short text: "2x8 tiles, each rank reads its own, binomial-gather, packed".
    std::string text() const;
};

/// Returns the configuration with these tiles in which every rank has its tile from the start.
Configuration configuration_on(const Tiles& tiles);

/// Throws InvalidTask if there is less than one column, row or layer of tiles, or if the changes of
/// tiles are out of order or outside filters 1 to `filters` − 1.
void check_tiles(const Configuration& configuration, int filters);

/// All grids of tiles for a number of ranks, strips of rows first.
std::vector<Configuration> grids_of(int ranks);
/// All grids of boxes of a volume for a number of ranks, slabs of planes first.
std::vector<Configuration> boxes_of(int ranks);

/// Throws InvalidTask if `row` is not null and its kind of collective is not in `expected`.
void check_role(const collective::Algorithm* row, std::initializer_list<CollectiveKind> expected,
                std::string_view role);

} // namespace sextant::filtering
