// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// The all-to-all exchange of Bruck et al. (1997) for any number of ranks: ⌈log2 p⌉ rounds; in the
/// round of distance d, the blocks whose number has bit d are sent d ranks ahead. They form runs of
/// d blocks, 2d apart, and a shorter run at the end: a message of two regions.
class Bruck {
  public:
    Bruck(int ranks, Elements block_size, int rank) : p_(ranks), rank_(rank), size_(block_size) {}

    Program make() {
        const Region input = builder_.input(p_ * size_);
        Region now = builder_.scratch(p_ * size_);
        builder_.copy(blocks(now, 0, p_ - rank_), blocks(input, rank_, p_ - rank_));
        builder_.copy(blocks(now, p_ - rank_, rank_), blocks(input, 0, rank_));
        int round = 0;
        for (int distance = 1; distance < p_; distance *= 2) {
            builder_.round(round++);
            now = exchange(now, distance);
        }
        const Region output = builder_.output(p_ * size_);
        for (int i = 0; i < p_; ++i) {
            builder_.copy(blocks(output, (rank_ - i + p_) % p_, 1), blocks(now, i, 1));
        }
        return builder_.finish(output);
    }

  private:
    Region blocks(const Region& buffer, int first, int count) const {
        return block(buffer.buffer, first * size_, count * size_);
    }

    /// The blocks whose number has the bit `distance`: the complete runs, and the rest of the last
    /// run.
    std::vector<Region> moving(const Region& buffer, int distance) const {
        const int runs = p_ / (2 * distance);
        const int rest = std::clamp(p_ - runs * 2 * distance - distance, 0, distance);
        return {
            Region{buffer.buffer, distance * size_, distance * size_, 2 * distance * size_, runs},
            blocks(buffer, (2 * runs + 1) * distance, rest)};
    }

    Region exchange(const Region& now, int distance) {
        const Region next = builder_.scratch(p_ * size_);
        builder_.send((rank_ + distance) % p_, moving(now, distance));
        builder_.receive((rank_ - distance + p_) % p_, moving(next, distance));
        for (int i = 0; i < p_; ++i) {
            if ((i & distance) == 0)
                builder_.copy(blocks(next, i, 1), blocks(now, i, 1));
        }
        return next;
    }

    const int p_, rank_;
    const Elements size_;
    ProgramBuilder builder_;
};

/// Element e of block j of rank i has the number (i p + j) m + e; the exchange moves it to element
/// e of block i of rank j.
inline Case bruck_case(int ranks, Elements block_size) {
    const Elements all = ranks * block_size;
    const auto program = [=](int rank) { return Bruck(ranks, block_size, rank).make(); };
    const auto given = [=](int rank, int, Elements e) { return Symbol{rank * all + e, 0, 1, 0}; };
    const auto wanted = [=](int rank) {
        std::vector<Symbol> symbols;
        for (int from = 0; from < ranks; ++from) {
            const auto block = combined(from * all + rank * block_size, block_size, 0, 1);
            symbols.insert(symbols.end(), block.begin(), block.end());
        }
        return symbols;
    };
    return {fmt::format("Bruck of {}, blocks of {}", ranks, block_size),
            make_schedule(ranks, program),
            {given, exactly(wanted), {}}};
}

} // namespace sextant::test
