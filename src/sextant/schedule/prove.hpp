// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// A symbolic operand: element `element` of the whole, combined from the operands first … last − 1
/// in order. A fold may join [a, b) with [b, c) only.
struct Symbol {
    Elements element = undefined;
    int first = 0, last = 0;
    int depth = 0; ///< dependent applications of the operator behind it

    static constexpr Elements undefined = -1;
    bool same_value(const Symbol& other) const {
        return element == other.element && first == other.first && last == other.last;
    }
};

/// When a message lets its sender go on. A schedule must be right under all of them.
enum class Delivery : std::uint8_t {
    rendezvous, ///< both sides finish when both have started: no buffering anywhere
    shuffled,   ///< likewise, with steps started in random order
    eager,      ///< the sender finishes at once
    lent        ///< the receiver folds straight from the sender's memory (shared memory)
};

std::string_view name(Delivery delivery);

inline constexpr Delivery deliveries[] = {Delivery::rendezvous, Delivery::shuffled, Delivery::eager,
                                          Delivery::lent};

/// What a schedule starts from and must end with.
struct Claim {
    /// The symbol in element `element` of a rank's input buffer at the start.
    std::function<Symbol(int rank, int buffer, Elements element)> given;
    /// Judges the result of one rank; returns what is wrong with it, or "".
    std::function<std::string(int rank, const std::vector<Symbol>& result)> wanted;
    /// Judges the results of all ranks together; may be empty.
    std::function<std::string(const std::vector<std::vector<Symbol>>& results)> wanted_together;
    /// What a compute step makes, one region after another, of the symbols that it reads; throws
    /// std::logic_error where these are not what its kernel would need. Empty: nothing computes.
    std::function<std::vector<Symbol>(int rank, const Program& program, const Step& step,
                                      const std::vector<Symbol>& read)>
        computed = {};
};

/// A proof, or why there is none; with what it cost, read off the schedule.
struct Proof {
    std::string error; ///< empty: proved
    std::int64_t messages = 0;
    int most_messages = 0; ///< sent by one rank
    Elements moved = 0;
    Elements most_moved = 0;        ///< sent by one rank
    Elements applications = 0;      ///< of the operator, on elements
    Elements most_applications = 0; ///< by one rank
    int depth = 0;                  ///< longest chain of dependent applications
    std::int64_t edges = 0;         ///< dependences

    bool holds() const { return error.empty(); }
};

/// Proves a schedule on symbolic operands, with no machine: every message has its counterpart of
/// the same size, no rank waits for ever (with no buffering anywhere), nothing undefined is read,
/// operands meet in order, kernels read what they need, everything that a message brings is folded,
/// computed with, sent on or in a result (itself or a copy of it), and the results are what is
/// claimed.
///
/// Input     all ranks' programs; symbols for the input buffers.
/// Output    a proof, whose `error` names rank and step where it fails. Never throws for a wrong
///           schedule.
/// Cost      about the elements moved and folded; use few elements, uneven pieces and many ranks.
/// Deterministic.  `seed` orders the steps of Delivery::shuffled.
Proof prove(const Schedule& schedule, const Claim& claim, Delivery delivery, unsigned seed = 1);

/// Under every delivery; the costs of the first, the error of the first that fails.
Proof prove(const Schedule& schedule, const Claim& claim);

} // namespace sextant
