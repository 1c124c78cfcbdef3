// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// A symbolic operand: element `element` of the whole data set, combined from operands first … last
/// − 1 in order. A fold may only join [a, b) with [b, c), unless the claim allows other orders.
struct Symbol {
    Elements element = undefined;
    int first = 0, last = 0;
    int depth = 0; ///< length of the longest chain of operator applications that lead to it
    /// Not 0 if operands between `first` and `last` are missing, which only Order::any permits; the
    /// execution then has a list of the operands under this number.
    int gaps = 0;

    static constexpr Elements undefined = -1;
    bool same_value(const Symbol& other) const {
        return element == other.element && first == other.first && last == other.last &&
               gaps == other.gaps;
    }
};

/// The order in which folds may combine operands.
enum class Order : std::uint8_t {
    given,    ///< each operand once, in order: for every associative operator
    any,      ///< each operand once, in any order: for commutative operators
    unchecked ///< not checked, because nothing is known about the operands
};

/// A rule for when a send finishes. A schedule must be correct under every rule.
enum class Delivery : std::uint8_t {
    rendezvous, ///< both sides finish once both have started: no buffering
    shuffled,   ///< like `rendezvous`, with steps started in random order
    eager,      ///< the sender finishes at once
    lent        ///< the receiver folds from the sender's memory (zero copy)
};

std::string_view name(Delivery delivery);

inline constexpr Delivery deliveries[] = {Delivery::rendezvous, Delivery::shuffled, Delivery::eager,
                                          Delivery::lent};

/// The initial state and the required results of a schedule.
struct Claim {
    /// The initial symbol of element `element` in a rank's input buffer.
    std::function<Symbol(int rank, int buffer, Elements element)> given;
    /// Checks the result of one rank; returns a description of the error, or "".
    std::function<std::string(int rank, const std::vector<Symbol>& result)> wanted;
    /// Checks the results of all ranks together; may be empty.
    std::function<std::string(const std::vector<std::vector<Symbol>>& results)> wanted_together;
    /// Returns the symbols that a compute step writes, one region after another, for the symbols
    /// `read`. Throws std::logic_error if these are not the kernel's required inputs. May be empty.
    std::function<std::vector<Symbol>(int rank, const Program& program, const Step& step,
                                      const std::vector<Symbol>& read)>
        computed = {};
    Order order = Order::given;
};

/// The outcome of a proof, and the costs of the schedule.
struct Proof {
    std::string error; ///< empty if the schedule is proved
    std::int64_t messages = 0;
    int most_messages = 0; ///< maximum over ranks
    Elements moved = 0;
    Elements most_moved = 0;        ///< maximum over ranks
    Elements applications = 0;      ///< applications of the operator to two elements
    Elements most_applications = 0; ///< maximum over ranks
    int depth = 0;                  ///< length of the longest chain of dependent applications
    std::int64_t edges = 0;         ///< dependences between steps

    bool holds() const { return error.empty(); }
};

/// Proves a schedule correct by executing it on symbolic operands. The proof checks that every
/// message has a counterpart of the same size, no rank waits forever (without buffering), nothing
/// undefined is read, operands are combined in the claimed order, kernels read their required
/// inputs, every received element or a copy of it is used (folded, read by a kernel, sent on or in
/// a result), and results are as claimed.
///
/// Input     all ranks' programs; symbols for the input buffers.
/// Output    a proof, whose `error` names rank and step if it fails. Does not throw if the schedule
///           is wrong.
/// Cost      linear in the elements moved and folded. Use few elements, uneven pieces and many
///           ranks.
/// Deterministic.  `seed` orders the steps of Delivery::shuffled.
Proof prove(const Schedule& schedule, const Claim& claim, Delivery delivery, unsigned seed = 1);

/// Proves a schedule correct under every `Delivery`. The proof contains the costs, and the first
/// error found.
Proof prove(const Schedule& schedule, const Claim& claim);

} // namespace sextant
