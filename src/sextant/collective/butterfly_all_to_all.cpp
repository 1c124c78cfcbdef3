// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/butterfly_all_to_all.hpp"

#include "sextant/collective/routed_all_to_all.hpp"

#include <algorithm>
#include <bit>

namespace sextant::collective {

namespace {

/// The halves of a machine at one level, and who sends to whom across.
class Halves {
  public:
    Halves(const Grid& grid, const Submachine& machine)
        : grid_(grid), first_(cut_in_two(machine).front()), second_(cut_in_two(machine).back()) {}

    /// Those who send to a rank from the half that it is not in. A single processor has none.
    std::vector<int> senders_to(int rank) const {
        std::vector<int> senders;
        if (first_ == second_)
            return senders;
        const bool in_first = contains(grid_, first_, rank);
        const Submachine &own = in_first ? first_ : second_, &other = in_first ? second_ : first_;
        const int x = rank % grid_.columns - own.column, y = rank / grid_.columns - own.row;
        for (int row = y; row < other.rows; row += own.rows) {
            for (int column = x; column < other.columns; column += own.columns)
                senders.push_back((other.row + row) * grid_.columns + other.column + column);
        }
        return senders;
    }
    /// To whom a rank sends there.
    int receiver_from(int rank) const {
        const bool in_first = contains(grid_, first_, rank);
        const Submachine &own = in_first ? first_ : second_, &other = in_first ? second_ : first_;
        const int x = (rank % grid_.columns - own.column) % other.columns;
        const int y = (rank / grid_.columns - own.row) % other.rows;
        return (other.row + y) * grid_.columns + other.column + x;
    }

  private:
    const Grid& grid_;
    const Submachine first_, second_;
};

/// The submachine of a rank after so many halvings.
Submachine halved(const Grid& grid, int times, int rank) {
    Submachine machine = whole_machine(grid);
    for (int i = 0; i < times; ++i) {
        const std::vector<Submachine> halves = cut_in_two(machine);
        machine = contains(grid, halves.front(), rank) ? halves.front() : halves.back();
    }
    return machine;
}

/// Whose blocks have come to a rank after so many halvings.
std::vector<int> sources(const Grid& grid, int times, int rank) {
    if (times == 0)
        return {rank};
    std::vector<int> all = sources(grid, times - 1, rank);
    for (const int sender : Halves(grid, halved(grid, times - 1, rank)).senders_to(rank)) {
        const std::vector<int> theirs = sources(grid, times - 1, sender);
        all.insert(all.end(), theirs.begin(), theirs.end());
    }
    std::sort(all.begin(), all.end());
    return all;
}

int ceil_log2(int n) {
    return std::countr_zero(std::bit_ceil(static_cast<unsigned>(n)));
}

} // namespace

Program butterfly_all_to_all(const Grid& grid, int rank) {
    Route route;
    route.supersteps = ceil_log2(grid.columns) + ceil_log2(grid.rows);
    route.held = [&](int supersteps, int r) -> Blocks {
        return {sources(grid, supersteps, r), ranks_of(grid, halved(grid, supersteps, r))};
    };
    route.submachine = [&](int superstep, int r) { return halved(grid, superstep, r); };
    route.partners = [&](int superstep, int r) {
        const Halves halves(grid, halved(grid, superstep, r));
        std::vector<int> partners = halves.senders_to(r);
        if (!partners.empty() || halved(grid, superstep, r).size() > 1)
            partners.push_back(halves.receiver_from(r));
        std::sort(partners.begin(), partners.end());
        partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
        return partners;
    };
    return routed_all_to_all(grid, route, rank);
}

} // namespace sextant::collective
