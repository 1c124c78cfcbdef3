// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/tiles/list_exchange.hpp"

#include "sextant/collective/all_to_all.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sextant::detail {

namespace {

std::size_t at(int rank) {
    return static_cast<std::size_t>(rank);
}

/// Returns the regions of lists stored one after another in a buffer.
std::vector<Region> in_turn(const Region& buffer, std::span<const Elements> counts) {
    std::vector<Region> lists;
    Elements offset = 0;
    for (const Elements count : counts) {
        lists.push_back(block(buffer.buffer, offset, count));
        offset += count;
    }
    return lists;
}

} // namespace

Elements sum(std::span<const Elements> counts) {
    return std::accumulate(counts.begin(), counts.end(), Elements{0});
}

/// Exchanges with the nearest ranks first.
void exchange_lists(const Communicator& communicator, Bytes element,
                    std::span<const Elements> counts_to, std::span<const std::byte> values,
                    std::span<const Elements> counts_from, std::span<std::byte> to, bool same) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks == 1) {
        std::ranges::copy(values, to.begin());
        return;
    }
    ProgramBuilder builder;
    const Region input = builder.input(same ? counts_to[0] : sum(counts_to));
    const Region output = builder.output(sum(counts_from));
    const std::vector<Region> sent =
        same ? std::vector(counts_to.size(), input) : in_turn(input, counts_to);
    const std::vector<Region> got = in_turn(output, counts_from);
    builder.copy(got[at(rank)], sent[at(rank)]);
    for (int distance = 1; distance < ranks; ++distance) {
        const int next = (rank + distance) % ranks, before = (rank + ranks - distance) % ranks;
        builder.send(next, sent[at(next)]);
        builder.receive(before, got[at(before)]);
    }
    Operator moved;
    moved.element = {"entry", element};
    Execution execution(communicator, builder.finish(output), moved);
    execution.bind(0, values);
    execution.bind(1, to);
    execution.run();
}

/// With many ranks, counts are forwarded in combined messages, because the memory for direct
/// messages would grow with the square of the number of ranks.
std::vector<Elements> counts_from(const Communicator& communicator,
                                  std::span<const Elements> counts_to) {
    constexpr int most_direct = 16;
    const int ranks = communicator.size();
    std::vector<Elements> counts(at(ranks));
    const std::vector<Elements> one(at(ranks), 1);
    const auto to = std::as_writable_bytes(std::span(counts));
    if (ranks <= most_direct) {
        exchange_lists(communicator, sizeof(Elements), one, std::as_bytes(counts_to), one, to);
        return counts;
    }
    const Grid row_each = near_square(ranks, ranks, ranks);
    Program program =
        with_packed_result(collective::squares_all_to_all(row_each, communicator.rank()));
    Operator moved;
    moved.element = {"number", sizeof(Elements)};
    Execution execution(communicator, std::move(program), moved);
    execution.bind(0, std::as_bytes(counts_to));
    execution.run();
    std::ranges::copy(execution.result(), to.begin());
    return counts;
}

} // namespace sextant::detail

namespace sextant {

Elements sum_over_ranks(const Communicator& communicator, Elements own) {
    return detail::sum(communicator.all_gather(own));
}

contour::Order merging_order(const Communicator& communicator, const Grid& grid,
                             const contour::Pattern& pattern) {
    if (grid.ranks() != communicator.size())
        throw InvalidTask(fmt::format("{}x{} tiles on {} ranks, expected one per rank",
                                      grid.columns, grid.rows, communicator.size()));
    return {grid, pattern.stages(grid)};
}

contour::ListCapacity list_capacity(const contour::Order& order, std::span<const Elements> counts) {
    std::vector<Elements> before(counts.size() + 1, 0); // number of entries before a position
    for (int rank = 0; rank < order.grid().ranks(); ++rank)
        before[static_cast<std::size_t>(order.position(rank) + 1)] =
            counts[static_cast<std::size_t>(rank)];
    for (std::size_t i = 1; i < before.size(); ++i)
        before[i] += before[i - 1];
    return [before, order](contour::Run run) {
        const Elements all = before[static_cast<std::size_t>(run.last)] -
                             before[static_cast<std::size_t>(run.first)];
        return run.last - run.first > 1 ? std::min(all, contour::most_on_border(order, run)) : all;
    };
}

} // namespace sextant
