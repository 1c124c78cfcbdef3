// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// One or more ranks failed, and every rank knows: all throw this with the same text, none is left
/// waiting, and the communicator is still of use.
class AgreedFailure : public Error {
  public:
    AgreedFailure(const std::string& what, bool invalid_task)
        : Error(what), invalid_task_(invalid_task) {}
    /// Whether what failed was the request itself (InvalidTask).
    bool invalid_task() const { return invalid_task_; }

    /// Whether the user has been told already (launch.hpp).
    bool told() const { return told_; }
    void set_told() { told_ = true; }

  private:
    bool invalid_task_;
    bool told_ = false;
};

/// Does a part of a collective operation on every rank and makes sure that all know how it ended.
///
/// Input     what this rank does; it may be nothing, and it may throw.
/// Throws    AgreedFailure on every rank when it threw on any: the text of the lowest rank whose
///           error was its own; over processes with that rank's number, unless all failed alike.
/// Collective.
/// Cost      one all-gather of an int; on failure the texts.
void agree(const Communicator& communicator, const std::function<void()>& part);

/// The same; returns a number of each rank, by rank.
std::vector<std::uint64_t> agree(const Communicator& communicator,
                                 const std::function<void()>& part, std::uint64_t number);

/// Does a part that may fail, for whoever then does without: what went wrong on the first rank
/// where something did, with its number; empty where all is well. The same on every rank. Where
/// nobody can do without, `agree` (agree.hpp) throws.
/// Collective.
std::string first_failure(const Communicator& communicator, const std::function<void()>& part);

/// Makes sure that all ranks ask for the same in a run, where what they ask for changes now and
/// then. A rank for which it has changed says what it asks for, and its run is held back until all
/// ranks are known to have said the same. A rank for which nothing has changed begins at once; if
/// others wait for what it says, it notices as soon as it has to wait itself.
///
/// Cost      nothing where nothing has changed, unless a rank waits long; else log2(ranks) messages
///           of some bytes a rank, rounded up, one after another. Allocates nothing.
class Comparison {
  public:
    /// Input     a communicator that is this comparison's alone (Communicator::split_for_notices);
    ///           the most numbers that a rank may ask by, and what all ask for at first; for
    ///           messages, the names of its ranks, and the meaning of what one asks for.
    Comparison(Communicator communicator, std::size_t most_asked, std::span<const int> asked,
               std::vector<int> names, std::function<std::string(std::span<const int>)> text_of);
    ~Comparison();
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    /// The next run: what this rank asks for, and whether that is other than in the run before. The
    /// ranks count runs alike.
    void begin_run(std::span<const int> asked, bool changed);

    /// Whether the run is held back.
    bool closed() const { return said_; }
    /// Whether all ranks said the same when they last compared.
    bool agreed() const { return agreed_; }
    /// Whether they did not when some rank had begun the run: what it sent may still be on its way.
    bool spoiled() const { return spoiled_; }

    /// Does what can be done now. Throws AgreedFailure on every rank where ranks differ: it names
    /// two of them, and what each asks for.
    void advance();
    /// For a run that was not held back and has to wait: takes part if others compare. Throws as
    /// `advance`.
    void look();
    /// Waits until a comparison that this rank takes part in has ended. Throws as `advance`.
    void settle();
    /// Exchange::rest.
    void rest(int idle) { exchange_->rest(idle); }

  private:
    /// What one rank asks for: whether anyone heard of has begun, the earliest run heard of, its
    /// own run, the rank, and what it said.
    using Said = std::span<int>;

    Said part(std::span<int> message, std::size_t which) const {
        return message.subspan(which * said_size(), said_size());
    }
    std::size_t said_size() const { return 5 + most_asked_; }
    std::span<int> incoming(int round) { return message(2 * round + 1); }
    std::span<int> outgoing(int round) { return message(2 * round); }
    std::span<int> message(int index) {
        const std::size_t size = 2 * said_size();
        return {reinterpret_cast<int*>(memory_.data()) + static_cast<std::size_t>(index) * size,
                size};
    }
    void open();
    void reopen();
    void keep(std::span<const int> asked);
    void say(bool begun);
    void send(int round);
    void poll();
    int earliest_asked();
    void merge(std::span<int> message);
    [[noreturn]] void fail();

    const Communicator communicator_;
    const std::size_t most_asked_;
    const std::vector<int> names_;
    const std::function<std::string(std::span<const int>)> text_of_;
    int rounds_ = 0;
    Memory memory_; // of all messages
    std::unique_ptr<Exchange> exchange_;
    std::array<Completion, 64> completions_;

    int run_ = 0;
    std::vector<int> own_;   // as Said
    std::vector<int> known_; // the least and the greatest of what has been heard, as two Said
    std::vector<bool> came_; // by round
    bool said_ = false, agreed_ = true, spoiled_ = false;
    int next_ = 0;       // the round that is waited for
    int sends_open_ = 0; // under way
};

} // namespace sextant
