// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/list_exchange.hpp"

#include "sextant/collective/all_to_all.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sextant::detail {

namespace {

/// The maximum number of bytes that a rank receives in one padded all-gather.
constexpr Bytes most_alike = Bytes{1} << 24;

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

/// Returns the program of an all-to-all: sends list [r] of `from` to each rank r and receives list
/// [r] of `to` from it, nearest ranks first.
Program exchange(ProgramBuilder& builder, const std::vector<Region>& from,
                 const std::vector<Region>& to, const Region& result, int rank) {
    const int ranks = static_cast<int>(to.size());
    builder.copy(to[at(rank)], from[at(rank)]);
    for (int distance = 1; distance < ranks; ++distance) {
        const int next = (rank + distance) % ranks, before = (rank + ranks - distance) % ranks;
        builder.send(next, from[at(next)]);
        builder.receive(before, to[at(before)]);
    }
    return builder.finish(result);
}

void run(const Communicator& communicator, Program program, Bytes element,
         std::span<const std::byte> from, std::span<std::byte> to) {
    Operator moved;
    moved.element = {"entry", element};
    Execution execution(communicator, std::move(program), moved);
    execution.bind(0, from);
    execution.bind(1, to);
    execution.run();
}

} // namespace

Elements sum(std::span<const Elements> counts) {
    return std::accumulate(counts.begin(), counts.end(), Elements{0});
}

void all_to_all_lists(const Communicator& communicator, Bytes element,
                      std::span<const Elements> counts_to, std::span<const std::byte> values,
                      std::span<const Elements> counts_from, std::span<std::byte> to) {
    if (communicator.size() == 1) {
        std::ranges::copy(values, to.begin());
        return;
    }
    ProgramBuilder builder;
    const Region input = builder.input(sum(counts_to)), output = builder.output(sum(counts_from));
    run(communicator,
        exchange(builder, in_turn(input, counts_to), in_turn(output, counts_from), output,
                 communicator.rank()),
        element, values, to);
}

/// If there are many ranks, counts are forwarded in combined messages, because the memory for
/// direct messages would grow with the square of the number of ranks.
std::vector<Elements> counts_from(const Communicator& communicator,
                                  std::span<const Elements> counts_to) {
    constexpr int most_direct = 16;
    const int ranks = communicator.size();
    std::vector<Elements> counts(at(ranks));
    const std::vector<Elements> one(at(ranks), 1);
    const auto to = std::as_writable_bytes(std::span(counts));
    if (ranks <= most_direct) {
        all_to_all_lists(communicator, sizeof(Elements), one, std::as_bytes(counts_to), one, to);
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

/// Gathers lists of similar length on all ranks by one collective call, padded to the longest list.
void tell_all_alike(const Communicator& communicator, Bytes element,
                    std::span<const Elements> counts, std::span<const std::byte> own,
                    std::span<std::byte> to) {
    const auto longest = static_cast<std::size_t>(*std::ranges::max_element(counts) * element);
    std::vector<std::byte> padded(longest), all(longest * counts.size());
    std::ranges::copy(own, padded.begin());
    communicator.all_gather(padded, all);
    auto next = to.begin();
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
        next = std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(rank * longest),
                           counts[rank] * element, next);
}

void gather_lists(const Communicator& communicator, Bytes element, std::span<const Elements> counts,
                  std::span<const std::byte> own, std::span<std::byte> to) {
    const Elements padded = *std::ranges::max_element(counts) * std::ssize(counts);
    if (padded <= 2 * sum(counts) && padded * element <= most_alike)
        return tell_all_alike(communicator, element, counts, own, to);
    ProgramBuilder builder;
    const Region input = builder.input(counts[at(communicator.rank())]);
    const Region output = builder.output(sum(counts));
    const std::vector<Region> same(counts.size(), input);
    run(communicator, exchange(builder, same, in_turn(output, counts), output, communicator.rank()),
        element, own, to);
}

} // namespace sextant::detail

namespace sextant {

contour::ListCapacity list_capacity(const contour::Pattern& pattern, const Grid& grid,
                                    std::span<const Elements> counts,
                                    const contour::ListCapacity& bound) {
    const contour::Order order(grid, pattern.stages(grid));
    std::vector<Elements> before(counts.size() + 1, 0); // number of entries before a position
    for (int rank = 0; rank < grid.ranks(); ++rank)
        before[static_cast<std::size_t>(order.position(rank) + 1)] =
            counts[static_cast<std::size_t>(rank)];
    for (std::size_t i = 1; i < before.size(); ++i)
        before[i] += before[i - 1];
    return [before, bound](contour::Run run) {
        const Elements all = before[static_cast<std::size_t>(run.last)] -
                             before[static_cast<std::size_t>(run.first)];
        return bound && run.last - run.first > 1 ? std::min(all, bound(run)) : all;
    };
}

} // namespace sextant
