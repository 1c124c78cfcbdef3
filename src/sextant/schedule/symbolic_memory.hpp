// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>
#include <stdexcept>
#include <vector>

namespace sextant {

/// The buffers of all ranks while their programs are played on symbols: an element holds a symbol,
/// or nothing yet, or borrows another rank's. It knows what messages brought that nobody has read.
///
/// Requires  programs whose regions are sound (see Dependences), and messages that match.
/// Throws    std::logic_error naming rank and step: where a step reads what nobody wrote, or writes
///           over what a message brought and nobody has read.
class SymbolicMemory {
  public:
    /// What the caller provides holds what is given; the rest is undefined.
    SymbolicMemory(const Schedule& schedule, const Claim& claim);
    SymbolicMemory(const SymbolicMemory&) = delete; // elements point to elements

    /// What a step reads: through one region, or all that it sends.
    std::vector<Symbol> read(StepOfRank at, const Region& region);
    std::vector<Symbol> message(StepOfRank send);

    /// What a fold or copy makes.
    void write(StepOfRank at, std::span<const Symbol> symbols);
    /// What a message brings.
    void receive(StepOfRank receive, std::span<const Symbol> message);
    /// The receiver's elements become loans of what is sent.
    void lend(StepOfRank send, StepOfRank receive);

    /// What a rank ends up with, and so uses.
    std::vector<Symbol> result(int rank);
    /// Throws where a message brought a rank what it never used.
    void check_all_used(int rank) const;

  private:
    struct Cell {
        Symbol symbol;
        const Cell* lender = nullptr;
        int unused_transfer = -1; ///< the receive that filled it, until it is read

        const Symbol& value() const { return lender ? lender->symbol : symbol; }
    };

    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    template <class Visit>
    void for_each_cell(int rank, const Region& region, Visit&& visit);
    template <class Visit>
    void for_each_cell(StepOfRank message, Visit&& visit);
    const Symbol& read(StepOfRank at, Cell& cell);
    void write(StepOfRank at, Cell& cell, const Cell& value);
    std::logic_error dead_transfer(int rank, int receive) const;

    const Schedule& schedule_;
    std::vector<std::vector<std::vector<Cell>>> cells_; // by rank, buffer, element
};

} // namespace sextant
