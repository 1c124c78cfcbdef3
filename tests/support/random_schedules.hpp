// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/prove.hpp"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/random_programs.hpp"

namespace sextant::test {

/// Small random schedules, many of which are correct: steps are added to the ranks' programs in the
/// order in which they would run, and mostly read only defined elements.
class RandomSchedule {
  public:
    RandomSchedule(Random& random, int ranks) : random_(random) {
        for (int rank = 0; rank < ranks; ++rank) {
            ranks_.emplace_back();
            Rank& own = ranks_.back();
            own.buffers = {own.builder.input(6), own.builder.scratch(6), own.builder.scratch(6)};
            own.cells.resize(3, std::vector<Cell>(6));
            for (Elements e = 0; e < 6; ++e) {
                own.cells[0][static_cast<std::size_t>(e)].symbol = {e, rank, rank + 1, 0};
            }
        }
    }

    Schedule make(int operations) {
        const int window = random_.chance(50) ? 0 : random_.number(1, 3);
        for (Rank& rank : ranks_)
            rank.builder.window(window);
        for (int i = 0; i < operations; ++i) {
            const int kind = random_.number(1, 10);
            if (kind <= 5)
                transfer(i / 3);
            else if (kind <= 8)
                fold();
            else
                copy();
        }
        Schedule schedule;
        for (Rank& rank : ranks_) {
            const Region result = random_.chance(80) ? use_up(rank) : rank.buffers[1];
            schedule.push_back(rank.builder.finish(result));
        }
        return schedule;
    }

  private:
    struct Cell {
        Symbol symbol;
        bool unused = false; // received in a message and not used yet
    };
    struct Rank {
        ProgramBuilder builder;
        std::vector<Region> buffers;
        std::vector<std::vector<Cell>> cells;
    };

    static std::vector<Cell*> cells(Rank& rank, const Region& region) {
        std::vector<Cell*> all;
        for (Elements e : elements_in_order(region)) {
            auto& buffer = rank.cells[static_cast<std::size_t>(region.buffer)];
            all.push_back(&buffer[static_cast<std::size_t>(e)]);
        }
        return all;
    }

    /// A region to read, sometimes with elements that were never written.
    std::optional<Region> source(Rank& rank, Elements elements) {
        for (int trial = 0; trial < 8; ++trial) {
            const auto region = random_region(random_, random_.pick(rank.buffers), elements);
            if (!region)
                continue;
            bool defined = true;
            for (Cell* cell : cells(rank, *region))
                defined &= cell->symbol.element >= 0;
            if (defined || random_.chance(1))
                return region;
        }
        return std::nullopt;
    }

    /// A region to write, sometimes with received elements that were not used.
    std::optional<Region> destination(Rank& rank, Elements elements) {
        for (int trial = 0; trial < 8; ++trial) {
            const Region& buffer = rank.buffers[1 + random_.index(2)];
            const auto region = random_region(random_, buffer, elements);
            if (!region)
                continue;
            bool unused = false;
            for (Cell* cell : cells(rank, *region))
                unused |= cell->unused;
            if (!unused || random_.chance(2))
                return region;
        }
        return std::nullopt;
    }

    std::vector<Symbol> read(Rank& rank, const Region& region) {
        std::vector<Symbol> symbols;
        for (Cell* cell : cells(rank, region)) {
            symbols.push_back(cell->symbol);
            cell->unused = false;
        }
        return symbols;
    }

    void write(Rank& rank, const Region& region, const std::vector<Symbol>& symbols, bool came) {
        std::size_t i = 0;
        for (Cell* cell : cells(rank, region))
            *cell = {symbols[i++], came};
    }

    void transfer(int round) {
        const std::size_t a = random_.index(ranks_.size()), b = random_.index(ranks_.size());
        if (a == b)
            return;
        const Elements elements = random_.between(1, 4);
        const auto from = source(ranks_[a], elements);
        const auto to = destination(ranks_[b], elements);
        if (!from || !to)
            return;
        ranks_[a].builder.round(random_.chance(90) ? round : random_.number(0, 5));
        ranks_[b].builder.round(random_.chance(90) ? round : random_.number(0, 5));
        ranks_[a].builder.send(static_cast<int>(b), *from);
        ranks_[b].builder.receive(static_cast<int>(a), *to);
        write(ranks_[b], *to, read(ranks_[a], *from), true);
    }

    void copy() {
        Rank& rank = ranks_[random_.index(ranks_.size())];
        const Elements elements = random_.between(1, 3);
        const auto from = source(rank, elements), to = destination(rank, elements);
        if (!from || !to || overlap(*from, *to))
            return;
        rank.builder.copy(*to, *from);
        const auto originals = cells(rank, *from), copies = cells(rank, *to);
        for (std::size_t i = 0; i < copies.size(); ++i) {
            *copies[i] = *originals[i];
            originals[i]->unused = false; // now the copy must be used
        }
    }

    bool adjacent(Rank& rank, const Region& first, const Region& second) {
        const auto left = cells(rank, first), right = cells(rank, second);
        for (std::size_t i = 0; i < left.size(); ++i) {
            const Symbol &a = left[i]->symbol, &b = right[i]->symbol;
            if (a.element != b.element || a.last != b.first)
                return false;
        }
        return true;
    }

    void fold() {
        Rank& rank = ranks_[random_.index(ranks_.size())];
        for (int trial = 0; trial < 40; ++trial) {
            const Elements elements = random_.between(1, 2);
            const auto first = source(rank, elements), second = source(rank, elements);
            if (!first || !second || first->buffer == second->buffer)
                continue;
            if (!adjacent(rank, *first, *second) && !random_.chance(1))
                continue;
            const Region& to = random_.chance(50) ? *first : *second;
            if (to.buffer == 0)
                continue;
            std::vector<Symbol> sum = read(rank, *first);
            const std::vector<Symbol> right = read(rank, *second);
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i].last = right[i].last;
            rank.builder.fold(to, {*first, *second});
            write(rank, to, sum, false);
            return;
        }
    }

    /// Copies received elements that were not used; the copies become a result.
    Region use_up(Rank& rank) {
        const Region sink = rank.builder.scratch(18);
        for (int b = 1; b <= 2; ++b) {
            for (Elements e = 0; e < 6; ++e) {
                const bool unused = cells(rank, block(b, e, 1))[0]->unused;
                if (unused)
                    rank.builder.copy(block(sink.buffer, 6 * b + e, 1), block(b, e, 1));
            }
        }
        return sink;
    }

    Random& random_;
    std::vector<Rank> ranks_;
};

/// An invalid region: mostly small numbers, sometimes the largest possible.
inline Region garbage_region(Random& random) {
    const auto number = [&](Elements low, Elements high) {
        if (!random.chance(1))
            return random.between(low, high);
        const Elements most = std::numeric_limits<Elements>::max();
        return random.chance(50) ? most - random.between(0, 2) : random.between(0, 2) - most;
    };
    return {random.number(-1, 3), number(-2, 20), number(-1, 6), number(-4, 7), number(-1, 4)};
}

/// An invalid schedule.
inline Schedule garbage(Random& random) {
    Schedule schedule;
    for (int ranks = random.number(1, 3), rank = 0; rank < ranks; ++rank) {
        Program program;
        program.window = random.number(-1, 3);
        for (int b = random.number(0, 3); b > 0; --b) {
            const auto role = static_cast<Role>(random.number(0, 3));
            program.buffers.push_back({role, random.between(0, 20)});
        }
        for (int i = random.number(0, 6); i > 0; --i) {
            auto first = static_cast<std::uint32_t>(program.regions.size());
            auto count = static_cast<std::uint32_t>(random.number(0, 3));
            for (std::uint32_t k = 0; k < count; ++k)
                program.regions.push_back(garbage_region(random));
            if (random.chance(1))
                (random.chance(50) ? first : count) = ~std::uint32_t{0};
            const auto verb = static_cast<Verb>(random.number(0, 3));
            program.steps.push_back({verb, random.number(-1, 4), 0, random.number(-1, ranks), first,
                                     count, garbage_region(random)});
        }
        program.result = garbage_region(random);
        schedule.push_back(std::move(program));
    }
    return schedule;
}

} // namespace sextant::test
