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

class Record;

/// Thrown with the same text on every rank if one or more ranks failed. No rank is left waiting,
/// and the communicator stays usable.
class AgreedFailure : public Error {
  public:
    /// The type of the error on the rank that failed: InvalidTask, InvalidFile, InvalidData or
    /// another.
    enum class Fault { other, task, file, data };

    AgreedFailure(const std::string& what, Fault fault) : Error(what), fault_(fault) {}
    Fault fault() const { return fault_; }
    /// True if the request was invalid (InvalidTask, and thus also InvalidData).
    bool invalid_task() const { return fault_ == Fault::task || fault_ == Fault::data; }

    /// True if the error has already been printed for the user (launch.hpp).
    bool reported() const { return reported_; }
    void set_reported() { reported_ = true; }

  private:
    Fault fault_;
    bool reported_ = false;
};

/// Runs the local part of a collective operation on every rank and reports any failure to all
/// ranks.
///
/// Input     this rank's part; it may be empty, and it may throw.
/// Throws    AgreedFailure on every rank if the part threw on any rank, with the error text of the
///           lowest rank that failed on its own, not because of a peer. If ranks are processes,
///           that rank's number precedes the text, unless the text is the same on all ranks.
///           Cancelled on every rank if it was thrown on any rank and no rank failed on its own.
/// Collective.
/// Cost      one all-gather of an int; on failure, also one of the error texts.
void agree(const Communicator& communicator, const std::function<void()>& part);

/// Runs `agree` and also gathers a number from each rank. Returns these numbers, indexed by rank.
std::vector<std::uint64_t> agree(const Communicator& communicator,
                                 const std::function<void()>& part, std::uint64_t number);

/// Checks that all ranks have the same values in the declared fields of their options. Otherwise
/// throws AgreedFailure on every rank; its text names a field, two ranks and both values.
/// Collective.
/// Cost      one all-gather of an integer.
void require_same(const Communicator& communicator, const Record& options);
/// As above, for a struct with a record_of() overload. With a single rank, no record is built.
template <class Options>
requires requires(Options& options) {
    record_of(options);
}
void require_same(const Communicator& communicator, Options& options) {
    if (communicator.size() > 1)
        require_same(communicator, record_of(options));
}

/// Runs a local part that may fail, for operations that can continue even if the part fails.
/// Returns, on every rank, the number and the error of the lowest rank that failed; empty if none
/// failed. Use `agree` if the operation cannot continue without the part. Collective.
std::string first_failure(const Communicator& communicator, const std::function<void()>& part);

/// Checks that all ranks make the same request in each run, at low cost if requests rarely change.
/// A rank whose request has changed sends the new request and delays its run until it knows that
/// all ranks have sent the same one. A rank whose request has not changed starts its run at once;
/// if other ranks wait for its request, it notices as soon as it has to wait itself.
///
/// Cost      no messages if no request has changed, only occasional polls while a rank waits; else
///           ⌈log2(ranks)⌉ short messages per rank, one after another. Allocates nothing.
class Comparison {
  public:
    /// Input     a communicator used only by this comparison (Communicator::split_for_notices); the
    ///           maximum length of a request; the initial request, the same on all ranks; and, for
    ///           error messages, the number to print for each rank and a function that formats a
    ///           request.
    Comparison(Communicator communicator, std::size_t most_requested,
               std::span<const int> requested, std::vector<int> names,
               std::function<std::string(std::span<const int>)> text_of);
    ~Comparison();
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    /// Starts the next run with this rank's request; `changed` is true if the request differs from
    /// that of the previous run. Must be called for every run on every rank.
    void begin_run(std::span<const int> requested, bool changed);

    /// True if the run is delayed.
    bool closed() const { return said_; }
    /// True if all ranks made the same request in the last comparison.
    bool agreed() const { return agreed_; }
    /// True if requests differed in the last comparison and some rank had already begun the run:
    /// that rank's messages may still be in transit.
    bool spoiled() const { return spoiled_; }

    /// Makes progress without waiting. Throws AgreedFailure on every rank if requests differ,
    /// naming two ranks and their requests.
    void advance();
    /// For a run that was not delayed but has to wait: joins a comparison that other ranks have
    /// started. Throws as `advance` does.
    void check();
    /// Waits until a comparison that this rank takes part in has ended. Throws as `advance` does.
    void settle();
    /// Lets other threads and processes run, as Exchange::rest does.
    void rest(int idle) { exchange_->rest(idle); }

  private:
    /// One rank's request, encoded as ints: 1 if any rank known to the sender has begun the run,
    /// the earliest run known to the sender, the rank's own run, the rank, the length of the
    /// request, and its numbers.
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
    void keep(std::span<const int> requested);
    void say(bool begun);
    void send(int round);
    void poll();
    int earliest_requested();
    void merge(std::span<int> message);
    [[noreturn]] void fail();

    const Communicator communicator_;
    const std::size_t most_asked_;
    const std::vector<int> names_;
    const std::function<std::string(std::span<const int>)> text_of_;
    int rounds_ = 0;
    Memory memory_; // holds all messages
    std::unique_ptr<Exchange> exchange_;
    std::array<Completion, 64> completions_;

    int run_ = 0;
    std::vector<int> own_;   // this rank's request
    std::vector<int> known_; // smallest and largest request received
    std::vector<bool> came_; // indexed by round: true if the message has arrived
    bool said_ = false, agreed_ = true, spoiled_ = false;
    bool failed_ = false; ///< true once a rank has failed: no further comparison begins
    int next_ = 0;        // next round to wait for
    int sends_open_ = 0;  // sends in progress
};

} // namespace sextant
