// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sextant {

/// One run of a compute step: the regions it reads and computes, and their addresses.
struct Computation {
    const Step& step;
    std::span<const Region> read, made;
    std::span<std::byte* const> buffers; ///< addresses of the program's buffers
    /// The memory from which each region of `read` is read in place: this rank's or another rank's,
    /// possibly split into different runs.
    std::span<const Blocks> sources;
    /// The destination of each region of `made`: its own address, or one in another rank's memory,
    /// with the same number and length of contiguous runs but possibly another stride.
    std::span<const Blocks> places;
    /// Long-running kernels must call `progress` from time to time, so that messages make progress.
    const std::function<void()>& progress;
};

/// The function of a compute step: computes all elements of the regions `made`, reading only the
/// regions `read`. It may throw, as an operator may.
using Kernel = std::function<void(const Computation& computation)>;

class Comparison;
class Workspace;

struct ExecuteOptions {
    Association association = Association::in_order;
    bool trace = false;
    /// The number of threads that share this rank's folds (thread_team.hpp). Does not affect
    /// results. More than one requires a thread-safe operator.
    int fold_threads = 1;
    /// Compress messages by skipping empty pixels (kernel/fold/sparse_code.hpp), and fold directly
    /// from the compressed form. Messages get shorter, at the cost of an additional pass over the
    /// data sent; results are bitwise identical. Must be the same on all ranks.
    bool sparse = false;
    /// Resources shared by executions that never run at the same time (buffers.hpp), created with
    /// `fold_threads`; null: each execution has its own.
    std::shared_ptr<Workspace> workspace = {};
    /// If not null, delays runs while ranks compare their requests (agreement.hpp). The caller
    /// calls Comparison::begin_run before each run. Must outlive the execution.
    Comparison* comparison = nullptr;
};

/// The bytes that a rank sent in a run, and their uncompressed size.
struct Sent {
    Bytes bytes = 0, elements = 0;
};

/// One rank's program prepared for a communicator: prepared once, run any number of times.
///
/// Messages and folds overlap: a send starts as soon as its region is final, and neighbouring
/// operands that have arrived are combined while other messages are in transit. If ranks share
/// memory, a fold reads its peers' elements in place, all in one pass.
///
/// If a rank fails in a run (an operator or kernel throws), it notifies the ranks that wait for it,
/// and they notify those that wait for them. Every message still completes, `run` throws on each
/// rank that was notified, and the communicator stays usable. Ranks that were not notified finish
/// normally: use `agree` if all ranks must know of the failure.
class Execution {
  public:
    /// Input     the rank's program, whose peers are ranks of `communicator`; the operator of its
    ///           folds, whose element type the program uses; the kernels of its compute steps,
    ///           indexed by kernel number.
    /// Requires  the programs of all ranks to form a schedule accepted by `prove`; a kernel for
    ///           each kernel number (std::logic_error).
    /// Not collective.
    Execution(Communicator communicator, Program program, Operator op, ExecuteOptions options = {},
              std::vector<Kernel> kernels = {});
    Execution(Execution&&) noexcept;
    Execution& operator=(Execution&&) noexcept;
    ~Execution();

    /// Sets the memory of a buffer: required for inputs and in_outs, optional for outputs. Must
    /// have exactly the declared size (InvalidTask), and stay valid while runs use it.
    void bind(int buffer, std::span<const std::byte> memory);
    void bind(int buffer, std::span<std::byte> memory);

    /// Maps the peers of the program to ranks; must not be called during a run. By default peer i
    /// is rank i. Throws InvalidTask if a message would need a tag beyond the limit of the
    /// transport.
    /// Cost      one pass over the messages; nothing is allocated.
    void set_peers(std::span<const int> ranks);

    /// Runs the program. Collective: every rank runs its own.
    /// Throws    what an operator or kernel throws, PeerFailed if this rank was notified of another
    ///           rank's failure, CommunicationFailed.
    /// Cost      after the first run nothing is allocated, unless traced.
    void run();

    /// Takes part in a run only to report that this rank failed, for instance for lack of valid
    /// input: ranks waiting for it throw PeerFailed. Rethrows `failure`. Collective: called
    /// in place of `run`.
    void run_failed(std::exception_ptr failure);

    /// Begins a run and returns, so that several executions can be in progress at once (Flight),
    /// each on its own communicator. Together with `advance` and `finish` equivalent to `run` or
    /// `run_failed`.
    void start();
    void start_failed(std::exception_ptr failure);
    /// Makes progress without waiting; returns true if there was anything to do. Errors are thrown
    /// by `finish`.
    bool advance();
    /// True if no run is in progress.
    bool over() const;
    /// Call if there is nothing to do and no other execution is in progress on this rank: lets
    /// other threads and processes run, and may wait for a message.
    void rest();
    /// Throws the error of the run that is over, as `run` does.
    void finish();
    /// Ends a run that cannot complete because this rank is failing. The communicator must not be
    /// used afterwards; with threads, all its ranks throw PeerFailed.
    void abandon();

    /// The result's bytes. Throws std::logic_error if the result is not contiguous.
    std::span<const std::byte> result() const;
    const Program& program() const;
    /// The data sent in the last run.
    const Sent& sent() const;
    /// This rank's events in the last run, if traced.
    const Trace& trace() const;

  private:
    class Runner;
    std::unique_ptr<Runner> runner_;
};

/// The runs in progress on this rank. Waiting for one run makes progress on all runs, so ranks may
/// wait in different orders without blocking each other.
///
/// Each execution needs its own communicator (Communicator::split), because two executions on one
/// communicator could receive each other's messages. Executions must outlive their runs, and be
/// started in the same order on all ranks that share any two of them. Not thread-safe.
class Flight {
  public:
    /// Starts a run (Execution::start, start_failed).
    void start(Execution& execution);
    void start_failed(Execution& execution, std::exception_ptr failure);
    /// Makes progress on all runs without waiting. Returns true if this execution's run is over.
    bool ready(Execution& execution);
    /// Waits until this execution's run is over; then calls Execution::finish.
    void wait(Execution& execution);
    /// Ends a run by Execution::abandon.
    void abandon(Execution& execution);

  private:
    bool advance_all();

    std::vector<Execution*> under_way_;
};

} // namespace sextant
