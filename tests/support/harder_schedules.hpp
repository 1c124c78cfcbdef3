// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "tests/support/schedules.hpp"

namespace sextant::test {

/// Parallel Pipeline (Lee 1996): a ring in which part c of the image starts at rank c + 1, is
/// combined with each rank's own and ends at rank c. After the wrap from rank p − 1 to rank 0 the
/// operands are no longer adjacent, so two partial results, of the ranks in front and of those
/// behind, travel on as one message of two strided blocks.
class Pipeline {
  public:
    Pipeline(int ranks, Elements elements, int rank)
        : p_(ranks),
          rank_(rank),
          image_(builder_.input(elements)),
          slot_((elements + ranks - 1) / ranks) {
        builder_.window(1);
    }

    Program make() {
        Region held = own_part(0);
        for (int step = 0; step < p_; ++step) {
            if (step > 0)
                held = take_in(step);
            builder_.round(step);
            if (step < p_ - 1)
                builder_.send((rank_ + 1) % p_, held);
        }
        return builder_.finish(join(held));
    }

  private:
    int part_at(int step) const { return ((rank_ - 1 - step) % p_ + p_) % p_; }
    Region own_part(int step) const { return part(image_, part_at(step), p_); }

    /// Receives the part of this step, combines it with this rank's own and returns what it holds.
    Region take_in(int step) {
        builder_.round(step - 1);
        const Region own = own_part(step), scratch = builder_.scratch(2 * slot_);
        const Region front = block(scratch.buffer, 0, own.length);
        const Region back = block(scratch.buffer, slot_, own.length);
        const Region both{scratch.buffer, 0, own.length, slot_, 2};
        const int previous = (rank_ - 1 + p_) % p_, last = part_at(step);
        if (last != p_ - 1 && rank_ == 0) { // the wrap: the ranks behind come in, we are in front
            builder_.receive(previous, back);
            builder_.copy(front, own);
            return both;
        }
        if (last != p_ - 1 && rank_ <= last) {
            builder_.receive(previous, both);
            builder_.fold(front, {front, own});
            return both;
        }
        builder_.receive(previous, back);
        builder_.fold(back, {back, own});
        return back;
    }

    Region join(const Region& held) {
        if (held.count == 1)
            return held;
        const Region front = block(held.buffer, held.offset, held.length);
        builder_.fold(front, {front, block(held.buffer, held.offset + slot_, held.length)});
        return front;
    }

    const int p_, rank_;
    ProgramBuilder builder_;
    const Region image_;
    const Elements slot_; // of the largest part
};

inline Case pipeline_case(int ranks, Elements elements) {
    const auto program = [=](int rank) { return Pipeline(ranks, elements, rank).make(); };
    return {fmt::format("pipeline of {}, {} elements", ranks, elements),
            make_schedule(ranks, program),
            {own_operand,
             exactly([=](int rank) {
                 const Region mine = part(block(0, 0, elements), rank, ranks);
                 return combined(mine.offset, mine.length, 0, ranks);
             }),
             {}}};
}

/// The all-to-all exchange of Bruck et al. (1997) for any number of ranks: ⌈log2 p⌉ rounds; in the
/// round of distance d, the blocks whose number has bit d go d ranks on. They lie as runs of d
/// blocks, 2d apart, and a shorter run at the end: a message of two regions.
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

    /// The blocks with the bit of `distance`: whole runs of them and the rest of the last.
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

/// Element e of block j of rank i is number (i p + j) m + e of them all, and ends as element e of
/// block i of rank j.
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
