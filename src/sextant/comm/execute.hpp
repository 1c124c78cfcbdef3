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

/// One run of a compute step: which regions it reads and makes, and where these lie.
struct Computation {
    const Step& step;
    std::span<const Region> read, made;
    std::span<std::byte* const> buffers; ///< where each buffer of the program begins
    /// Where each region made is to lie: there, or where another rank wants it, its runs as long
    /// and as many, but elsewhere and perhaps further apart.
    std::span<const Blocks> places;
    /// To be called now and then in long work, so that messages keep moving meanwhile.
    const std::function<void()>& progress;
};

/// The code of compute steps: makes all elements of the regions made, from nothing but those read.
/// It may throw, as an operator may.
using Kernel = std::function<void(const Computation& computation)>;

class Comparison;
class Workspace;

struct ExecuteOptions {
    Association association = Association::in_order;
    bool trace = false;
    /// How many threads share this rank's folds (fold_team.hpp): no bit depends on it. More than
    /// one only with an operator that may be called by several at once.
    int fold_threads = 1;
    /// Messages leave out what was not drawn (kernel/fold/sparse_code.hpp), and are folded from
    /// there: the same bits, in fewer bytes, for a pass over what is sent. All ranks alike.
    bool sparse = false;
    /// What executions share that never run at once (scratch.hpp), with as many threads; none: each
    /// has its own.
    std::shared_ptr<Workspace> workspace = {};
    /// Holds back runs, each of which has begun there before (comparison.hpp). Must outlive them.
    Comparison* comparison = nullptr;
};

/// How many bytes a rank sent in a run, and how many the elements have that it stood for.
struct Sent {
    Bytes bytes = 0, elements = 0;
};

/// One rank's program made ready to run on a communicator: prepared once, run as often as liked.
///
/// Messages and folds overlap: a send starts as soon as its region is final; while messages are on
/// their way, neighbouring operands that are there are combined. Where ranks share memory, a fold
/// reads its peers' elements where they lie, all in one pass.
///
/// When a rank fails in a run (an operator or kernel throws), it tells those that wait for it, they
/// tell theirs, every message still completes, and `run` throws on each rank that it reached; the
/// communicator stays usable. Ranks it did not reach finish: use `agree` where all must know.
class Execution {
  public:
    /// Input     the rank's program; peers are ranks of `communicator`; the operator of its folds,
    ///           whose element all its elements are; the kernels of its compute steps, by number.
    /// Requires  the programs of all ranks to form a schedule that `prove` accepts; a kernel for
    ///           each number (std::logic_error).
    /// Collective?   no.
    Execution(Communicator communicator, Program program, Operator op, ExecuteOptions options = {},
              std::vector<Kernel> kernels = {});
    Execution(Execution&&) noexcept;
    Execution& operator=(Execution&&) noexcept;
    ~Execution();

    /// Says where a buffer lies: required for inputs and in_outs, possible for outputs. Of exactly
    /// the declared elements (InvalidTask); must stay valid while runs use it.
    void bind(int buffer, std::span<const std::byte> memory);
    void bind(int buffer, std::span<std::byte> memory);

    /// Says which rank each peer of the program stands for; not during a run. Until then peer i is
    /// rank i. Throws InvalidTask where a message then needs a tag that there is not.
    /// Cost      no more than a look at each message: nothing is allocated.
    void set_peers(std::span<const int> ranks);

    /// Runs the program. Collective: every rank runs its own.
    /// Throws    what an operator or kernel throws, PeerFailed where another rank's failure reached
    /// this one,
    ///           CommunicationFailed.
    /// Cost      after the first run nothing is allocated, unless traced.
    void run();

    /// Takes part in a run only to tell those that wait for this rank that it failed, for instance
    /// because it has nothing right to bind: they throw PeerFailed. Throws `failure` again.
    /// Collective: in place of `run`.
    void run_failed(std::exception_ptr failure);

    /// `run` and `run_failed` in parts, so that several executions may be under way at once
    /// (flight.hpp), each on a communicator of its own: begins a run and returns.
    void start();
    void start_failed(std::exception_ptr failure);
    /// Does a little of what can be done now, without waiting; whether there was anything. What
    /// goes wrong is kept for `finish`.
    bool advance();
    /// Whether no run is under way.
    bool over() const;
    /// To be called where there is nothing to do, and no other execution is under way on this rank:
    /// lets others run, and may wait for a message.
    void rest();
    /// Throws what the run that is over ended with, as `run` does.
    void finish();
    /// Ends a run that will not be over since this rank is failing; the communicator is of no
    /// further use, and with threads all its ranks throw PeerFailed.
    void abandon();

    /// Where the result lies; only for contiguous results.
    std::span<const std::byte> result() const;
    const Program& program() const;
    /// Of the last run.
    const Sent& sent() const;
    /// This rank's events in the last run, if traced.
    const Trace& trace() const;

  private:
    class Runner;
    std::unique_ptr<Runner> runner_;
};

/// The runs that are under way on this rank at once. Whoever waits for one moves all of them, so
/// that ranks may wait in different orders and none holds up the others.
///
/// Executions under way at once must be on communicators of their own (Communicator::split): their
/// messages would be taken for each other's. They must outlive their runs, and be started in one
/// order on all ranks that share any two of them. Not for several threads.
class Flight {
  public:
    /// Execution::start and start_failed.
    void start(Execution& execution);
    void start_failed(Execution& execution, std::exception_ptr failure);
    /// Moves all that is under way, without waiting; whether this one's run is over.
    bool ready(Execution& execution);
    /// Until its run is over; then Execution::finish.
    void wait(Execution& execution);
    /// Execution::abandon.
    void abandon(Execution& execution);

  private:
    bool advance_all();

    std::vector<Execution*> under_way_;
};

} // namespace sextant
