// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// The buffers of all ranks while their programs are played on symbols: an element holds a symbol,
/// or nothing yet, or borrows another rank's. It knows what messages brought, also once copied, and
/// whether it was of use: folded, sent on or in a result.
///
/// Requires  programs whose regions are sound (see Dependences), and messages that match. Keep
///           schedule and claim alive.
/// Throws    std::logic_error naming rank and step, where a step reads what nobody wrote or a
/// kernel
///           what it was not made for.
class SymbolicMemory {
  public:
    /// What the caller provides holds what is given; the rest is undefined.
    SymbolicMemory(const Schedule& schedule, const Claim& claim);
    SymbolicMemory(const SymbolicMemory&) = delete; // elements point to elements

    /// What a step uses: an operand of a fold, or all of its regions.
    std::vector<Symbol> read(StepOfRank at, const Region& region);
    std::vector<Symbol> read(StepOfRank at);

    /// What a fold makes.
    void write(StepOfRank fold, std::span<const Symbol> symbols);
    void copy(StepOfRank copy);
    /// What a kernel makes of all that it reads, as the claim has it.
    void compute(StepOfRank compute);
    /// What a message brings.
    void receive(StepOfRank receive, std::span<const Symbol> message);
    /// The receiver's elements become loans of what is sent.
    void lend(StepOfRank send, StepOfRank receive);

    /// What a rank ends up with, and so uses.
    std::vector<Symbol> result(int rank);
    /// Throws std::logic_error naming the step where a message brought a rank what it never used.
    void check_all_used(int rank) const;

  private:
    /// An element that a message brought.
    struct Arrival {
        int receive;
        bool used = false;
    };
    struct Cell {
        Symbol symbol;
        const Cell* lender = nullptr;
        std::int64_t arrival = -1; ///< that it holds, or a copy of which: index into arrivals

        const Symbol& value() const { return lender ? lender->symbol : symbol; }
    };
    struct RankMemory {
        std::vector<std::vector<Cell>> buffers;
        std::vector<Arrival> arrivals;
    };

    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    template <class Visit>
    void for_each_cell(int rank, const Region& region, Visit&& visit);
    template <class Visit>
    void for_each_cell(StepOfRank at, Visit&& visit);
    RankMemory& memory(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    /// An arrival at a receive, for its next element.
    std::int64_t arrive(StepOfRank receive);
    const Symbol& defined(StepOfRank at, const Cell& cell) const;
    const Symbol& use(int rank, const Cell& cell);
    const Symbol& read(StepOfRank at, const Cell& cell);

    const Schedule& schedule_;
    const Claim& claim_;
    std::vector<RankMemory> ranks_;
};

/// Plays all ranks' programs on symbols, one step at a time, until none can go on.
///
/// Input     all ranks' programs with their dependences; what the ranks hold at the start.
/// Output    the longest chain of dependent applications; in `memory` what the ranks hold at the
///           end.
/// Throws    std::logic_error naming rank and step: messages that do not match, ranks that wait for
///           ever, operands that do not meet in order, and what SymbolicMemory refuses.
/// Deterministic.  `seed` orders the steps of Delivery::shuffled.
int play(const Schedule& schedule, const std::vector<Dependences>& dependences, Delivery delivery,
         unsigned seed, SymbolicMemory& memory);

} // namespace sextant
