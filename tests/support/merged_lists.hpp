// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/tile_lists.hpp"

#include <deque>
#include <map>
#include <utility>
#include <vector>

// Executes the schedules of merging patterns on lists, and counts the data that is sent.
namespace sextant::test {

struct Sent {
    Bytes bytes = 0, longest = 0;
    std::int64_t messages = 0;
};

/// Executes all ranks of a pattern on their tiles' lists, step by step in program order.
class MergedLists {
  public:
    MergedLists(const contour::Pattern& pattern, const Grid& grid,
                const std::vector<contour::Boundary>& tiles)
        : merger_(contour::crossing_merger({grid, pattern.stages(grid)})),
          slots_(tiles.size()),
          next_(tiles.size(), 0) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            programs_.push_back(contour::program(pattern, grid, rank));
            slots_[at(rank)][{0, 0}] = tiles[at(rank)];
        }
        bool moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < grid.ranks(); ++rank)
                moved = go_on(rank) || moved;
        }
    }

    const Sent& sent() const { return sent_; }
    /// The result of a rank: lists that cover all tiles but its own.
    std::vector<contour::Boundary> result(int rank) const {
        std::vector<contour::Boundary> lists;
        const Region& result = programs_[at(rank)].result;
        for (Elements e = 0; e < result.elements(); ++e)
            lists.push_back(slots_[at(rank)].at({result.buffer, e}));
        return lists;
    }

  private:
    using Slot = std::pair<int, Elements>;
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    static Slot slot(const Region& region) { return {region.buffer, region.offset}; }

    bool go_on(int rank) {
        bool moved = false;
        const Program& program = programs_[at(rank)];
        auto& slots = slots_[at(rank)];
        for (; next_[at(rank)] < program.steps.size(); ++next_[at(rank)], moved = true) {
            const Step& step = program.steps[next_[at(rank)]];
            const auto regions = program.regions_of(step);
            if (step.verb == Verb::send) {
                send(rank, step.peer, slots.at(slot(regions[0])));
            } else if (step.verb == Verb::receive) {
                auto& waiting = under_way_[{step.peer, rank}];
                if (waiting.empty())
                    break;
                slots[slot(regions[0])] = std::move(waiting.front());
                waiting.pop_front();
            } else {
                std::vector<contour::Boundary> operands;
                for (const Region& region : regions)
                    operands.push_back(slots.at(slot(region)));
                slots[slot(step.to)] = merger_.merge(operands);
            }
        }
        return moved;
    }

    void send(int from, int to, const contour::Boundary& list) {
        const Bytes bytes =
            contour::bytes_for<contour::Crossing>(static_cast<Elements>(list.entries.size()));
        sent_.bytes += bytes;
        sent_.longest = std::max(sent_.longest, bytes);
        ++sent_.messages;
        under_way_[{from, to}].push_back(list);
    }

    contour::Merger<contour::Crossing> merger_;
    std::vector<Program> programs_;
    std::vector<std::map<Slot, contour::Boundary>> slots_; // by rank
    std::vector<std::size_t> next_;
    std::map<std::pair<int, int>, std::deque<contour::Boundary>> under_way_;
    Sent sent_;
};

} // namespace sextant::test
