// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/message.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include <functional>
#include <vector>

namespace sextant::model {

/// What one message costs. A rank sends one message at a time, and receives one at a time; both at
/// once if its processor has time.
struct MessageCost {
    Span send;    ///< how long the sender sends
    Span receive; ///< how long the receiver receives
    Span full;    ///< from the start of the send until the receiver has all, beside shared links
    /// The part of sending and receiving for which the processor can do nothing else.
    Span send_processor, receive_processor;
    /// Whether the send starts only when the receive has been posted.
    bool rendezvous = false;
};

/// How a model prices what a schedule does.
struct Prices {
    /// By link, size, layout and blocks, never by rank: it is asked once for all that look alike.
    std::function<MessageCost(const Message&)> message;
    /// Whether folds and copies hold up what the rank sends and receives next, as with calls that
    /// block; otherwise they compete only with `send_processor` and `receive_processor`.
    bool blocking = true;
    /// Whether messages take the question's wires, if there are such, which they share; `message`
    /// then prices what they cost beside.
    bool share_links = false;
};

/// What playing a schedule needs whatever the prices, for who plays it more than once. Keep the
/// schedule alive. Throws std::logic_error where messages do not match.
struct Prepared {
    explicit Prepared(const Schedule& schedule);

    std::vector<std::vector<StepOfRank>> mates;
    std::vector<Dependences> dependences; ///< by rank
};

/// Plays a schedule as the executor would run it, on a clock: steps start as Dependences and
/// window allow; sends and receives one after another in the order in which they could start;
/// folds in operand order, as operands come, those that came while the processor was busy in one
/// pass; all in one pass where Question::folds_at_once. A receiver that waits for a message has it
/// when the full path ends; one that is busy, or late, after its own time; and it is busy for that
/// time in any case: measured paths can be shorter than either side. With wires, messages share
/// links from when they are handed over until they are there. One that nothing buffers is handed
/// over without waiting for its receive, travels only then, and its send is over when it is there.
/// Handing over and taking interrupts other work, as where messages are simulated.
///
/// Requires  with wires, a node for each rank or none (CannotExpress).
/// Throws    CannotExpress from the prices; std::logic_error where messages do not match or ranks
///           wait for ever.
/// Cost      about (messages + operands of folds) times the logarithm of the ranks' open messages.
/// Deterministic.
Prediction critical_path(const Question& question, const Prices& prices, const Prepared& prepared);

inline Prediction critical_path(const Question& question, const Prices& prices) {
    return critical_path(question, prices, Prepared(question.schedule));
}

/// A lower bound of `critical_path` for every schedule in which some rank does what rank 0 does
/// here: at no time do the others keep it waiting. It follows from what a play never does: a rank
/// sends one message at a time, receives one at a time, works on one thing at a time, starts no
/// step before those that it depends on have finished, and folds in passes of which none is cheaper
/// for an application than the cheapest.
///
/// Input     the other ranks are the peers' sides of rank 0's messages. Where memory is shared,
///           they do not say whether a message is copied: whichever is cheapest counts.
/// Cost      about the edges of rank 0's dependences.
Seconds least_time(const Question& question, const Prices& prices, const Prepared& prepared);

} // namespace sextant::model
