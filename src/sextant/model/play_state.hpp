// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"
#include "sextant/schedule/walk.hpp"

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace sextant::model {

/// Something that happens at a time; what happens at one time happens in the order in which it was
/// found out.
struct Happening {
    enum Kind {
        finished, ///< a step has finished
        out_free, ///< the rank may begin its next send
        entering, ///< a message enters links that others share
        arriving, ///< a message is on its way, and the receiver may turn to it
        in_free,  ///< the rank may turn to the next message
        arrived,  ///< it is there; the processor takes it
        combining ///< the processor may have time for the operands of a fold
    } kind;
    Span time;
    StepOfRank at;
    std::uint64_t number = 0;

    bool operator<(const Happening& other) const { // the earliest is the largest of a queue
        return std::tie(other.time.median, other.number) < std::tie(time.median, number);
    }
};

/// Where one step stands. A fold has done what its operands up to `next` allow by `done`.
struct StepState {
    const MessageCost* cost = nullptr;
    Span posted, begun, done;
    std::uint32_t next = 0;
    bool is_posted = false, has_begun = false;
    bool meets = false;        ///< others, on shared links
    bool handed_over = false;  ///< to them, but its receiver does not wait for it yet
    bool travels = false;      ///< there
    Seconds on_links = 0;      ///< how long it did
    bool will_combine = false; ///< whether the processor will look at the fold again
};

/// What a rank does one at a time: its sends, or its receives.
struct Lane {
    std::queue<int> waiting; ///< steps, in the order in which they may begin
    Span free;
    bool wakes = false; ///< whether it will look at `waiting` again
};

/// Where one rank stands.
struct RankState {
    RankState(const Program& program, const Dependences& dependences)
        : walk(program, dependences), steps(program.steps.size()) {}

    Walk walk;
    std::vector<StepState> steps;
    Lane out, in;
    Span processor; ///< when it is free
    Span handing;   ///< and for messages that may interrupt work
};

} // namespace sextant::model
