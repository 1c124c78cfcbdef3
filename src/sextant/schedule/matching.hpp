// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <functional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace sextant {

/// A step of one rank's program.
struct StepOfRank {
    int rank = -1, step = -1;
};

/// Matches the messages of programs, of which only one need be in memory at a time.
class MessageMatching {
  public:
    explicit MessageMatching(int ranks) : ranks_(ranks) {}

    /// Adds the program of the next rank. Requires  peers that exist and differ from the rank
    /// (std::logic_error).
    void add(const Program& program);
    /// Once all programs are added: calls `found` for each message with its two sides.
    /// Requires  as match_messages.
    void match(const std::function<void(StepOfRank send, StepOfRank receive)>& found) const;

  private:
    /// One side of a message, with the number and the size of its elements.
    struct Side {
        int peer, step;
        Elements elements;
        Bytes element;
    };

    const int ranks_;
    std::vector<std::vector<Side>> sends_, receives_; ///< by rank; sorted by peer, then step
};

/// Returns, for each rank and step, the other side of its message: the k-th send from a to b
/// matches the k-th receive of b from a. {-1, -1} for steps that are not messages.
///
/// Requires  peers that exist and differ from the rank, equal numbers of sends and receives for
///           each pair, and equal sizes of messages and elements (std::logic_error naming rank and
///           step).
std::vector<std::vector<StepOfRank>> match_messages(const Schedule& schedule);

/// An exception to throw for an invalid step: "rank 3, step 5 (receive from rank 1): WHAT".
std::logic_error fault(const Program& program, StepOfRank at, std::string_view what);

} // namespace sextant
