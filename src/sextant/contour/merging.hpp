// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/contour/merge_order.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <memory>

namespace sextant::contour {

/// The rank that merges the lists of a tile.
enum class Hosts {
    own, ///< the tile's own rank
    /// The rank at the tile's column and row with their digits reversed (bits, if the grid's sides
    /// are powers of two). Ranks that merge first, when lists are short, are far apart; ranks that
    /// merge last, when lists are long, are close.
    reversed
};

int host(Hosts hosts, const Grid& grid, int tile);
/// The tile for which a rank merges lists.
int tile_of(Hosts hosts, const Grid& grid, int rank);

/// The rectangle of processors around this rank that contains all messages of a stage.
collective::Submachine submachine(Hosts hosts, const Grid& grid, const Stage& stage, int rank);

/// The number of elements that represent the list of a run of tiles: 1 if an element is a whole
/// list; for models, the number of entries.
using ListSizes = std::function<Elements(Run run)>;

/// The maximum size in bytes of the merged list of a run of tiles.
using ListRoom = std::function<Bytes(Run run)>;

/// Merges the lists of all tiles stage by stage. In each stage, tiles that differ only in the
/// stage's digits exchange the lists that they have merged so far, so that each list covers the
/// next larger submachine. At the end each rank has two lists: that of the tiles before its own in
/// the order of the stages (Order), and that of the tiles after its own.
///
/// Input     the list of the rank's tile: one element.
/// Output    the merged list of the tiles before the rank's tile and that of the tiles after it; a
///           list of no tiles is omitted.
/// Cost      Σ (size of a stage − 1) messages per rank, and up to three more if hosts are not the
///           tiles' own ranks.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5.2, doi:10.1006/jpdc.1996.0010
///
/// The steps' `group` labels the submachine that contains a message (collective/tiles.hpp). Without
/// `room`, a list takes one element of the size given when the program is run.
Program merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                const ListRoom& room = {});

/// Returns a program for models, with the same messages as merging() but for lists of different
/// sizes, because models charge by the number of entries. The program copies entries instead of
/// merging them, so it cannot be proved or run.
Program sized_merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                      const ListSizes& sizes);

/// The length in pixels of the border of a run of tiles, excluding the image's border.
Elements border_length(const Order& order, Run run);

/// An upper bound on the number of pixels of a run of tiles that touch pixels outside the run, at a
/// side or corner.
/// Cost      O(ranks).
Elements most_on_border(const Order& order, Run run);

/// List sizes in crossings, for models: `entering` contours enter per pixel of border. (Half of the
/// edge pixels on a border are crossed inwards.)
ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering);

} // namespace sextant::contour
