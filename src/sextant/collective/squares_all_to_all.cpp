// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/squares_all_to_all.hpp"

#include "sextant/collective/routed_all_to_all.hpp"

#include <algorithm>

namespace sextant::collective {

namespace {

/// The squares of a machine, and who minds which.
class Squares {
  public:
    explicit Squares(const Grid& grid) : grid_(grid), squares_(into_squares(whole_machine(grid))) {}

    int square_of(int rank) const {
        return static_cast<int>(
            std::find_if(squares_.begin(), squares_.end(),
                         [&](const Submachine& square) { return contains(grid_, square, rank); }) -
            squares_.begin());
    }
    const Submachine& square(int number) const {
        return squares_[static_cast<std::size_t>(number)];
    }

    /// The ranks of all squares that a rank minds: those whose number its own place within its
    /// square is, modulo the square's members.
    std::vector<int> minded_by(int rank) const {
        const std::vector<int> members = ranks_of(grid_, square(square_of(rank)));
        const auto place =
            static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
        std::vector<int> minded;
        for (int number = place; number < static_cast<int>(squares_.size());
             number += static_cast<int>(members.size())) {
            const std::vector<int> ranks = ranks_of(grid_, square(number));
            minded.insert(minded.end(), ranks.begin(), ranks.end());
        }
        std::sort(minded.begin(), minded.end());
        return minded;
    }

  private:
    const Grid& grid_;
    const std::vector<Submachine> squares_;
};

} // namespace

Program squares_all_to_all(const Grid& grid, int rank) {
    const Squares squares(grid);
    const auto members_of = [&](int r) {
        return ranks_of(grid, squares.square(squares.square_of(r)));
    };
    Route route;
    route.supersteps = 3;
    route.held = [&](int supersteps, int r) -> Blocks {
        switch (supersteps) {
        case 0:
            return blocks_at_first(grid, r);
        case 1:
            return {members_of(r), squares.minded_by(r)};
        case 2:
            return {squares.minded_by(r), members_of(r)};
        default:
            return blocks_at_last(grid, r);
        }
    };
    route.submachine = [&](int superstep, int r) {
        return superstep == 1 ? whole_machine(grid) : squares.square(squares.square_of(r));
    };
    route.partners = [&](int superstep, int r) {
        return superstep == 1 ? squares.minded_by(r) : members_of(r);
    };
    return routed_all_to_all(grid, route, rank);
}

} // namespace sextant::collective
