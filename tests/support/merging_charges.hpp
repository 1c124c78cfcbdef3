// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/model/c3.hpp"

#include <memory>

// Cost of merging boundary lists of realistic lengths in the C3 model.
namespace sextant::test {

struct MergingCharge {
    /// `packets` includes `moving`, the packets that move lists to their hosts and back.
    double setups = 0, packets = 0, moving = 0;
};

/// `entering`: the fraction of the pixels on each tile border at which a line enters the tile.
inline MergingCharge merging_charge(const contour::Pattern& pattern, const Grid& grid,
                                    double entering, const machine::Profile& machine) {
    const auto sizes = contour::sizes_by_border(
        std::make_shared<contour::Order>(grid, pattern.stages(grid)), entering);
    const Schedule schedule = make_schedule(
        grid.ranks(), [&](int rank) { return contour::sized_program(pattern, grid, rank, sizes); });
    const model::C3Reading reading{model::Counting::exact, false, [&](int, int group) {
                                       const auto m = collective::submachine_of(grid, group);
                                       return model::Submachine{m.column, m.row, m.columns, m.rows};
                                   }};
    const auto stages = static_cast<int>(pattern.stages(grid).size());
    MergingCharge all;
    for (const model::RoundCharge& round :
         model::charges({.schedule = schedule,
         .machine = machine,
         .element_size = static_cast<Bytes>(sizeof(contour::Crossing))},
                        reading)) {
        all.setups += round.communication.setups;
        all.packets += round.communication.packets;
        const bool moves = round.round == 0 || round.round > stages;
        if (pattern.hosts == contour::Hosts::reversed && moves)
            all.moving += round.communication.packets;
    }
    return all;
}

} // namespace sextant::test
