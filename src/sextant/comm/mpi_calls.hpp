// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/scope.hpp"
#include "sextant/core/units.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace sextant {

/// A short message that the addressed ranks need not receive.
struct MpiNotice {
    int source = 0, tag = 0;
    std::vector<std::byte> bytes;
};
/// Sends a notice to each of the given ranks except this one. Does not wait.
void send_notice(MPI_Comm comm, int tag, std::span<const int> ranks,
                 std::span<const std::byte> bytes);
/// Receives the next notice with this tag, or MPI_ANY_TAG, if one has arrived.
std::optional<MpiNotice> receive_notice(MPI_Comm comm, int tag);

/// Tracks the collective calls that one user of an MPI communicator makes. A user is the program
/// itself or an object (scope.hpp). Counting calls costs almost nothing; only a rank that waits
/// checks whether another rank has failed or waits in a different call.
class MpiCalls {
  public:
    enum class Kind : int { run, barrier, all_gather };

    /// Tracks calls on a communicator of the program. All notices are sent on `comm` with the given
    /// tag, including those about communicators derived from `comm`, because notices must not
    /// arrive on a communicator that has been freed. `owner` keeps `comm` alive. `has_strays` is
    /// set when a rank has failed, because notices may then be in transit.
    MpiCalls(MPI_Comm comm, int tag, std::shared_ptr<void> owner, bool& has_strays);
    /// Tracks calls on a communicator derived from that of `outer`. `which` identifies the new
    /// communicator: the same on all of its ranks, and different for each derived communicator.
    MpiCalls(MpiCalls& outer, MPI_Comm comm, std::uint64_t which);
    /// Tracks calls of an object that uses the communicator of `base`. Objects must be created in
    /// the same order on all ranks.
    MpiCalls(std::shared_ptr<MpiCalls> base, std::string what, RunsOf runs);
    MpiCalls(const MpiCalls&) = delete;
    MpiCalls& operator=(const MpiCalls&) = delete;
    ~MpiCalls();

    /// Begins a call. Throws like `look`, but only if a failure is already known.
    void begin(Kind kind, Bytes bytes = 0) {
        count(kind, bytes);
        if (failed_.load(std::memory_order_relaxed))
            look();
    }
    /// See Scoping::begin_run. Throws nothing.
    void begin_run() {
        run_counted_ = runs_ == RunsOf::all_ranks;
        if (run_counted_)
            count(Kind::run, 0);
    }
    /// Like `begin`, for the exchange of a run, which begin_run() may already have counted.
    void begin_exchange() {
        if (!std::exchange(run_counted_, false))
            count(Kind::run, 0);
        if (failed_.load(std::memory_order_relaxed))
            look();
    }
    void end() { under_way_ = false; }

    /// Throws PeerFailed or InvalidTask; see Scoping::look.
    void look();
    /// See Scoping::fail. Also fails the calls of `dependants`.
    void fail(const std::string& text);
    /// True if a rank has failed; messages may then still be in transit.
    bool failed() const { return failed_; }
    /// Adds the calls on a communicator derived from this one.
    void add_dependant(const std::shared_ptr<MpiCalls>& calls);

  private:
    using Clock = std::chrono::steady_clock;

    struct Root;
    struct Family;
    struct Failure {
        int rank = 0;
        bool order = false;     ///< ranks wait for each other in different calls
        std::int64_t calls = 0; ///< last call that the rank has completed
        std::string text;
    };
    struct Head;
    struct Waiting;

    void count(Kind kind, Bytes bytes);
    std::int64_t begun() const { return begun_.load(std::memory_order_relaxed); }
    std::int64_t by_all() const { return calls_by_all(begun()); }
    void take_early();
    void receive();
    void take(const MpiNotice& notice);
    void set_failure(const Failure& failure);
    void check_failure();
    void tell_waiting();
    void check_order();
    Head head(int what, int number, std::int64_t calls) const;
    std::string text_of(int rank, int number, Kind kind, Bytes bytes, bool says_call) const;
    void fail_order(const Waiting& other);

    std::uint64_t key() const;

    std::shared_ptr<Family> family_;       ///< shared by all users of the communicator
    const std::shared_ptr<MpiCalls> base_; ///< calls of an object's communicator; else null
    const std::string what_;
    int number_ = 0; ///< number of the object; 0: the communicator itself
    const RunsOf runs_ = RunsOf::some_ranks;
    std::atomic<std::int64_t> begun_{0};       ///< number of the last call (call_after)
    std::atomic<const void*> caller_{nullptr}; ///< thread that made the last call
    bool is_by_all_ = false;                   ///< true if all ranks make the last call
    Kind kind_ = Kind::run;
    Bytes bytes_ = 0;
    bool run_counted_ = false; ///< true if the next exchange belongs to a run already counted
    bool under_way_ = false, waits_ = false, told_ = false;
    Clock::time_point waits_since_, failed_since_;
    std::atomic<bool> failed_{false};
    Failure failure_;
    std::vector<std::weak_ptr<MpiCalls>> dependants_;
};

} // namespace sextant
