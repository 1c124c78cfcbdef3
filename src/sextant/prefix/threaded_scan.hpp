// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/scan/look_ahead.hpp"
#include "sextant/scan/stealing.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sextant::prefix {

/// A scan of a series on several threads per rank: see scan/stealing.hpp and scan/look_ahead.hpp.
/// Only the thread that calls `run` communicates with other ranks. With Boundaries::look_ahead on a
/// single rank, that thread also applies the operator, as thread 0.
class ThreadedScan {
  public:
    /// Input     the number of values that each rank scans; the configuration; the operator for
    ///           each thread.
    /// Throws    InvalidTask.
    ThreadedScan(Communicator communicator, scan::Series series,
                 const scan::Configuration& configuration, std::vector<Operator> operators);

    /// Same as Scan::run, but rethrows the operator's exception on this rank, or throws PeerFailed.
    /// If the operator throws on one thread, the other threads stop after their current
    /// application.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    /// Takes part in a run only to notify other ranks that this rank failed. Rethrows the failure.
    /// Collective.
    void run_failed(std::exception_ptr failure) { totals_run_.run_failed(std::move(failure)); }

    Elements stolen() const { return stolen_; }
    const Execution& totals_run() const { return totals_run_; }

  private:
    class Reduction;
    class LookingAhead;

    int employed() const { return scan::employed(own_, configuration_.threads); }
    std::byte* slot(Memory& memory, Elements i) const;
    const std::byte* value(Elements i) const;
    void look_ahead();
    void apply(int thread, const scan::LookAhead::Task& task);
    void reduce();
    void scan_partials(const Communicator& threads);
    void finish(int thread);
    void apply(int thread, const std::byte* left, const std::byte* right, std::byte* to) const;
    void copy(std::byte* to, const std::byte* from) const;
    const std::byte* before_rank() const;

    const Communicator communicator_;
    const scan::Configuration configuration_;
    const std::vector<Operator> operators_;
    const std::size_t size_; ///< bytes per value
    const Elements own_;     ///< number of this rank's values
    const bool is_first_;    ///< true if no earlier rank has values
    const bool looks_ahead_; ///< true if scan::LookAhead is used instead of the two phases
    const scan::Totals totals_;
    Execution totals_run_;
    /// By thread: total of its segment; prefix up to the segment's end.
    Memory partials_, prefixes_;
    Memory output_;
    std::vector<scan::Interval> segments_;
    std::span<const std::byte> values_; ///< values of the current run
    Elements stolen_ = 0;
};

} // namespace sextant::prefix
