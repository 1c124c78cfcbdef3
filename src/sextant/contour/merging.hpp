// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/hosts.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>

namespace sextant::contour {

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
/// `group` labels the submachines in which messages stay (collective/submachine.hpp). Without
/// `room` lists are of the elements that the run is about.
Program merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                const ListRoom& room = {});

/// The same messages where lists differ in size: for models, which charge what a list's entries
/// take. What merges lists copies their entries instead; it cannot be proved or run.
Program sized_merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                      const ListSizes& sizes);

} // namespace sextant::contour
