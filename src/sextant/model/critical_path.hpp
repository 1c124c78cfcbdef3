// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/message.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include <functional>
#include <vector>

namespace sextant::model {

/// The cost of one message. A rank sends one message at a time and receives one at a time; it may
/// do both at once if its processor has time.
struct MessageCost {
    Span send;    ///< time that the sender is busy
    Span receive; ///< time that the receiver is busy
    /// The time from the start of the send until the whole message has arrived, without the time on
    /// shared links.
    Span full;
    /// The parts of sending and receiving that occupy the processor.
    Span send_processor, receive_processor;
    /// True if the send starts only when the receive has been posted.
    bool rendezvous = false;
};

/// The costs that a model assigns to the parts of a schedule.
struct Prices {
    /// Returns the cost of a message. It may depend on link, size, layout and blocks, but not on
    /// ranks: the function is called once for all messages that have these in common.
    std::function<MessageCost(const Message&)> message;
    /// True if folds and copies delay the rank's next sends and receives, as with blocking calls;
    /// otherwise they compete only with `send_processor` and `receive_processor`.
    bool blocking = true;
    /// True if messages share the links in Question::wires, if set. `message` then excludes the
    /// time on these links.
    bool share_links = false;
};

/// Data derived from a schedule, independent of prices, so that several replays can share the data.
/// Keeps a reference to the schedule. Throws std::logic_error if sends and receives do not match.
struct PreparedSchedule {
    explicit PreparedSchedule(const Schedule& schedule);

    std::vector<std::vector<StepOfRank>> mates;
    std::vector<Dependences> dependences; ///< one per rank
};

/// Replays a schedule on a simulated clock as the executor would run it. Steps start as Dependences
/// and the window allow; sends and receives run one after another in the order in which they could
/// start. Folds combine operands in order as they arrive. Operands that arrive while the processor
/// is busy are combined in one pass; with Question::folds_at_once, all operands are.
///
/// If the receiver is waiting, it has the message after the message's full time; if it is busy or
/// late, it has the message after its own receive time. In both cases the receiver is busy for its
/// receive time, because a measured full time can be shorter than the send or the receive.
///
/// With wires, messages share links from the end of their send until they arrive. A rendezvous
/// message is handed over without waiting for its receive, but enters the links only when the
/// receive is posted, and its send ends when it arrives. Handing over and receiving messages
/// interrupts other work, as in the simulator.
///
/// Requires  with wires, nodes for all ranks or for none (CannotExpress).
/// Throws    CannotExpress from the prices; std::logic_error if messages do not match or ranks
///           deadlock.
/// Cost      about (messages + operands of folds) times the logarithm of the number of open
///           messages.
/// Deterministic.
Prediction critical_path(const Question& question, const Prices& prices,
                         const PreparedSchedule& prepared);

inline Prediction critical_path(const Question& question, const Prices& prices) {
    return critical_path(question, prices, PreparedSchedule(question.schedule));
}

/// Returns a lower bound on `critical_path`, valid for every schedule in which some rank runs the
/// program that rank 0 runs here. The bound assumes that this rank never waits for others. It is a
/// lower bound because, in a replay, a rank sends one message at a time, receives one at a time,
/// works on one thing at a time, starts no step before its dependences have finished, and pays at
/// least the lowest cost per application of any fold pass.
///
/// Input     a schedule whose other ranks contain only the sends and receives that match those of
///           rank 0. With shared memory, these do not determine whether a message is copied, so the
///           cheapest case is assumed.
/// Cost      about the number of edges in rank 0's dependences.
Seconds least_time(const Question& question, const Prices& prices,
                   const PreparedSchedule& prepared);

} // namespace sextant::model
