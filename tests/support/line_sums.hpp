// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"

#include <stdexcept>
#include <vector>

#include "tests/support/schedules.hpp"

// A minimal filter: on a line with four numbers per rank, the sum of each number and its
// neighbours.
namespace sextant::test {

inline constexpr Elements each = 4; ///< numbers per rank

/// The program of one rank. Buffer 0 holds the rank's numbers and one number of either neighbour;
/// buffer 1 holds the sums. The line is extended by one number at each end, so no border rule is
/// needed.
inline Program line_sums(int ranks, int rank) {
    ProgramBuilder builder;
    const Region line = builder.in_out(each + 2), sums = builder.output(each);
    const auto numbers = [&](Elements first, Elements count) {
        return block(line.buffer, first, count);
    };
    for (const int side : {-1, 1}) {
        const int neighbour = rank + side;
        if (neighbour < 0 || neighbour >= ranks)
            continue;
        builder.send(neighbour, numbers(side < 0 ? 1 : each, 1));
        builder.receive(neighbour, numbers(side < 0 ? 0 : each + 1, 1));
    }
    builder.compute(0, {numbers(1, each)}, {block(sums.buffer, 1, each - 2)});
    builder.compute(0, {numbers(0, 3)}, {block(sums.buffer, 0, 1)});
    builder.compute(0, {numbers(each - 1, 3)}, {block(sums.buffer, each - 1, 1)});
    return builder.finish(sums);
}

/// Number n of the line is element n + 1; element 0 is the number before the line. The sum around a
/// number is operand 1 of its element.
inline Claim line_sums_claim(int ranks) {
    const auto number = [](Elements e) { return Symbol{e, 0, 1, 0}; };
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        const bool own = e >= 1 && e <= each;
        const bool beyond = (rank == 0 && e == 0) || (rank == ranks - 1 && e == each + 1);
        return own || beyond ? number(rank * each + e) : Symbol{};
    };
    claim.computed = [](int, const Program&, const Step&, const std::vector<Symbol>& read) {
        std::vector<Symbol> sums;
        for (std::size_t i = 1; i + 1 < read.size(); ++i) {
            if (read[i - 1].element + 1 != read[i].element ||
                read[i].element + 1 != read[i + 1].element)
                throw std::logic_error("sums numbers that are no neighbours");
            sums.push_back({read[i].element, 1, 2, 0});
        }
        return sums;
    };
    claim.wanted = exactly([](int rank) { return combined(rank * each + 1, each, 1, 2); });
    return claim;
}

inline Case line_sums_case(int ranks) {
    return {fmt::format("sums along a line, {} ranks", ranks),
            make_schedule(ranks, [=](int rank) { return line_sums(ranks, rank); }),
            line_sums_claim(ranks)};
}

/// The kernel: sums each number and its neighbours.
inline void sum_line(const Computation& computation) {
    const Region& from = computation.read[0];
    const float* const read =
        reinterpret_cast<float*>(computation.buffers[static_cast<std::size_t>(from.buffer)]) +
        from.offset;
    auto* const made = reinterpret_cast<float*>(computation.places[0].base);
    for (Elements i = 0; i < computation.made[0].length; ++i)
        made[i] = read[i] + read[i + 1] + read[i + 2];
}

} // namespace sextant::test
