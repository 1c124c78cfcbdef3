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

/// The buffers of all ranks during symbolic execution. An element holds a symbol, is undefined, or
/// refers to another rank's element. Received elements and their copies are tracked to check that
/// each is used: folded, read by a kernel, sent on or in a result.
///
/// Requires  valid regions (see Dependences) and matching messages. `schedule` and `claim` must
///           outlive this object.
/// Throws    std::logic_error naming rank and step if a step reads an undefined element or a kernel
///           reads the wrong inputs.
class SymbolicMemory {
  public:
    /// Inputs hold the claim's symbols; everything else is undefined.
    SymbolicMemory(const Schedule& schedule, const Claim& claim);
    SymbolicMemory(const SymbolicMemory&) =
        delete; // not copyable, because elements point to one another

    /// Read one operand of a fold, or all regions of a step, and mark the elements as used.
    std::vector<Symbol> read(StepOfRank at, const Region& region);
    std::vector<Symbol> read(StepOfRank at);

    /// Writes the result of a fold.
    void write(StepOfRank fold, std::span<const Symbol> symbols);
    void copy(StepOfRank copy);
    /// Writes the output of a kernel for its inputs, according to the claim.
    void compute(StepOfRank compute);
    /// Writes the content of a message.
    void receive(StepOfRank receive, std::span<const Symbol> message);
    /// Makes the receiver's elements refer to the sender's elements.
    void lend(StepOfRank send, StepOfRank receive);

    /// The order in which folds may combine operands.
    Order order() const { return claim_.order; }

    /// Reads a rank's result and marks its elements as used.
    std::vector<Symbol> result(int rank);
    /// Throws std::logic_error naming the receive if a rank never used an element of its message.
    void check_all_used(int rank) const;

  private:
    /// An element received in a message.
    struct Arrival {
        int receive;
        bool used = false;
    };
    struct Cell {
        Symbol symbol;
        const Cell* lender = nullptr;
        std::int64_t arrival =
            -1; ///< index into `arrivals` of this element, or of the element that it copies

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
    /// Records the next element of a receive.
    std::int64_t arrive(StepOfRank receive);
    const Symbol& defined(StepOfRank at, const Cell& cell) const;
    const Symbol& use(int rank, const Cell& cell);
    const Symbol& read(StepOfRank at, const Cell& cell);

    const Schedule& schedule_;
    const Claim& claim_;
    std::vector<RankMemory> ranks_;
};

/// Executes all ranks' programs on symbols, one step at a time, until none can continue.
///
/// Input     all ranks' programs with their dependences; the initial content of `memory`.
/// Output    the longest chain of dependent applications; in `memory` the final content.
/// Throws    std::logic_error naming rank and step if messages do not match, a rank waits forever,
///           operands are out of order, or SymbolicMemory finds an error.
/// Deterministic.  `seed` orders the steps of Delivery::shuffled.
int execute(const Schedule& schedule, const std::vector<Dependences>& dependences,
            Delivery delivery, unsigned seed, SymbolicMemory& memory);

} // namespace sextant
