// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/contour/merge_order.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <memory>

namespace sextant::contour {

/// Which rank merges for a tile.
enum class Hosts {
    own,     ///< each for its own
    reversed ///< the digits of its column and row reversed (bits, where they are powers of two):
             ///< neighbours are far apart at first, while lists are short, and near at last
};

int host(Hosts hosts, const Grid& grid, int tile);
/// The tile that a rank merges for.
int tile_of(Hosts hosts, const Grid& grid, int rank);

/// The rectangle of processors with this rank in which a stage's messages stay.
collective::Submachine submachine(Hosts hosts, const Grid& grid, const Stage& stage, int rank);

/// How elements stand for lists: one is a list, or, to reckon with, as many as a run of tiles has
/// entries.
using ListSizes = std::function<Elements(Run run)>;

/// The bytes that a list of a run of tiles may take, once merged.
using ListRoom = std::function<Bytes(Run run)>;

/// What is known of tiles, merged stage by stage: in each, tiles that differ in its digits give
/// each other the merged list of all that they have seen, and so know of the next larger
/// submachine. At the end each knows of all others what it needs: two lists, of those before it in
/// the stages' order and of those behind.
///
/// Input     the list of the rank's tile: one element.
/// Output    the merged lists of the tiles before and behind, as far as there are such.
/// Cost      Σ (size of a stage − 1) messages a rank, and where other ranks are hosts three more.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 5.2, doi:10.1006/jpdc.1996.0010
/// `group` labels the submachines in which messages stay (collective/tiles.hpp). Without
/// `room` lists are of the elements that the run is about.
Program merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                const ListRoom& room = {});

/// The same messages where lists differ in size: for models, which charge what a list's entries
/// take. What merges lists copies their entries instead; it cannot be proved or run.
Program sized_merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                      const ListSizes& sizes);

/// How long the border of a run of tiles is, in pixels, without that of the image.
Elements border_length(const Order& order, Run run);

/// How many pixels of a run of tiles may touch pixels outside of it, at a side or a corner.
/// Cost      O(ranks).
Elements most_on_border(const Order& order, Run run);

/// Sizes of lists in crossings, for models: `entering` contours come in at each pixel of border (of
/// lines that all pixels lie on, half of those on each side).
ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering);

} // namespace sextant::contour
