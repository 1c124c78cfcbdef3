// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/submachine.hpp"
#include "sextant/contour/stages.hpp"

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

} // namespace sextant::contour
