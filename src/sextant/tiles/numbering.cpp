// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/tiles/numbering.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>

namespace sextant {

namespace {

/// A number of items and the sum of their weights.
struct Total {
    Elements count = 0, weight = 0;

    void add(const Total& other) {
        count += other.count;
        weight += other.weight;
    }
};

bool comes_before(const Share& a, const Share& b) {
    return a.pixel < b.pixel;
}

/// Returns the sum of the contributions to each item, sorted by pixel.
std::vector<Share> added_up(std::vector<Share> shares) {
    std::sort(shares.begin(), shares.end(), comes_before);
    std::vector<Share> things;
    for (const Share& share : shares) {
        check_cancelled(1);
        if (things.empty() || things.back().pixel != share.pixel)
            things.push_back({share.pixel, 0});
        things.back().weight += share.weight;
    }
    return things;
}

/// The totals of each row of pixels of each rank's tile.
class RowTotals {
  public:
    RowTotals(const Communicator& communicator, const Grid& grid, const std::vector<Share>& things)
        : grid_(grid) {
        const Tile own = tile(grid, communicator.rank());
        for (int rank = 0; rank < communicator.size(); ++rank) {
            const Tile its = tile(grid, rank);
            offsets_.push_back(offsets_.back() +
                               static_cast<std::size_t>(its.width > 0 ? its.height : 0));
        }
        std::vector<Total> local(count(communicator.rank()));
        for (const Share& thing : things)
            local[static_cast<std::size_t>(thing.pixel / grid.width - own.y)].add(
                {1, thing.weight});
        all_ = all_gather_by_rank(communicator, local).values;
    }

    /// Returns, for each row of a tile, the totals of all pixels before it in the image's row-major
    /// order.
    std::vector<Total> before(int rank) const {
        const int column = rank % grid_.columns, row = rank / grid_.columns;
        Total sum;
        for (int j = 0; j < row; ++j)
            for (int i = 0; i < grid_.columns; ++i)
                each_row(j * grid_.columns + i, [&](const Total& total) { sum.add(total); });
        std::vector<Total> found;
        for (Elements y = 0; y < tile(grid_, rank).height; ++y) {
            for (int i = 0; i < grid_.columns; ++i) {
                if (i == column)
                    found.push_back(sum);
                sum.add(at(row * grid_.columns + i, y));
            }
        }
        return found;
    }

    Total all() const {
        Total sum;
        for (const Total& total : all_)
            sum.add(total);
        return sum;
    }

  private:
    /// The number of rows of a rank's tile.
    std::size_t count(int rank) const {
        const auto i = static_cast<std::size_t>(rank);
        return offsets_[i + 1] - offsets_[i];
    }

    Total at(int rank, Elements y) const {
        const auto i = static_cast<std::size_t>(y);
        return i < count(rank) ? all_[offsets_[static_cast<std::size_t>(rank)] + i] : Total{};
    }

    template <class Body>
    void each_row(int rank, Body&& body) const {
        for (std::size_t y = 0; y < count(rank); ++y)
            body(at(rank, static_cast<Elements>(y)));
    }

    const Grid& grid_;
    std::vector<Total> all_;                 // row totals of all ranks, one rank after another
    std::vector<std::size_t> offsets_ = {0}; // index of each rank's first row in `all_`
};

/// Returns the numbering of each item whose pixel is in this tile.
std::vector<Standing> stand(const Communicator& communicator, const Grid& grid,
                            const RowTotals& rows, const std::vector<Share>& things) {
    std::vector<Total> before = rows.before(communicator.rank());
    const Elements top = tile(grid, communicator.rank()).y;
    std::vector<Standing> standings;
    standings.reserve(things.size());
    for (const Share& thing : things) {
        check_cancelled(1);
        Total& next = before[static_cast<std::size_t>(thing.pixel / grid.width - top)];
        standings.push_back({next.count, next.weight, thing.weight});
        next.add({1, thing.weight});
    }
    return standings;
}

} // namespace

Numbering number_by_pixels(const Communicator& communicator, const Grid& grid,
                           std::span<const Share> shares) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    std::vector<std::vector<Share>> requested(ranks);
    agree(communicator, [&] {
        for (const Share& share : shares) {
            check_cancelled(1);
            requested[static_cast<std::size_t>(rank_of_pixel(grid, share.pixel))].push_back(share);
        }
    });
    const ByRank<Share> to_answer = all_to_all_lists(communicator, requested);

    std::vector<Share> things;
    agree(communicator, [&] { things = added_up(to_answer.values); });
    const RowTotals rows(communicator, grid, things);
    std::vector<std::vector<Standing>> answers(ranks);
    agree(communicator, [&] {
        const std::vector<Standing> standings = stand(communicator, grid, rows, things);
        std::size_t next = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (Elements k = 0; k < to_answer.counts[rank]; ++k) {
                check_cancelled(1);
                const Share& share = to_answer.values[next++];
                const auto thing =
                    std::lower_bound(things.begin(), things.end(), share, comes_before);
                answers[rank].push_back(
                    standings[static_cast<std::size_t>(thing - things.begin())]);
            }
        }
    });
    const ByRank<Standing> answered = all_to_all_lists(communicator, answers);

    Numbering made;
    std::vector<std::size_t> places(ranks, 0);
    for (std::size_t rank = 1; rank < ranks; ++rank)
        places[rank] = places[rank - 1] + requested[rank - 1].size();
    made.standings.reserve(shares.size());
    agree(communicator, [&] {
        for (const Share& share : shares) {
            check_cancelled(1);
            const int rank = rank_of_pixel(grid, share.pixel);
            made.standings.push_back(answered.values[places[static_cast<std::size_t>(rank)]++]);
        }
    });
    made.count = rows.all().count;
    made.weight = rows.all().weight;
    return made;
}

} // namespace sextant
