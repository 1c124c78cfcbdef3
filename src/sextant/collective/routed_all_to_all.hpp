// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/corner_turn.hpp"
#include "sextant/collective/submachine.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <vector>

namespace sextant::collective {

/// How the blocks of an all-to-all travel in supersteps, combined into long messages.
struct Route {
    int supersteps = 0;
    /// The blocks that a rank has after so many supersteps: at first as blocks_at_first, at last as
    /// blocks_at_last says, and never a block at two ranks.
    std::function<Blocks(int supersteps, int rank)> held;
    /// The submachine on which a rank exchanges in a superstep, from 0 on.
    std::function<Submachine(int superstep, int rank)> submachine;
    /// Those among whom it may find partners there; itself may be one of them.
    std::function<std::vector<int>(int superstep, int rank)> partners;
};

/// One rank's program along a route: in each superstep it sends every partner what the partner is
/// to have next, keeps what it is to have itself, and packs it together.
///
/// Input     row strip `rank` of the image (corner_turn.hpp).
/// Output    column strip `rank`, row by row.
/// Cost      a message a partner and superstep; what it keeps is copied once a superstep.
Program routed_all_to_all(const Grid& grid, const Route& route, int rank);

} // namespace sextant::collective
