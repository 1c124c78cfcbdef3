// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/prefix/slots.hpp"
#include "sextant/prefix/threaded_scan.hpp"
#include "sextant/prefix/watch.hpp"
#include "sextant/scan/scan_configuration.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::prefix {

/// How a series is to be scanned. Every rank gives the same.
struct ScanOptions {
    std::string strategy = "scan-then-propagate"; ///< a name of scan::strategies()
    std::string algorithm = "kogge-stone";        ///< of the global scan: of scan::catalogue()
    scan::Tuning tuning = {};                     ///< of that algorithm
    bool gives_last = true;                       ///< see scan::GlobalScan
    Association association = Association::in_order;
    bool trace = false; ///< events of the schedule, and a bar for each application
    /// Of each rank. More than one need "reduce-then-scan", and an operator that several may apply
    /// at once.
    int threads = 1;
    scan::Boundaries boundaries = scan::Boundaries::moving; ///< between threads: see scan::Stealing
    /// An application that takes longer ends the process: its elements are told first, then it
    /// exits with code 1, since nothing else ends an operator. 0: none is too long.
    Seconds time_limit = 0;
    /// Whether an error of the operator says what it was combining. Each value then travels with a
    /// label of 16 bytes, as with a trace or a time limit.
    bool names_elements = false;
    /// Where the operator is declared commutative, so many pairs of each rank's values are combined
    /// both ways before a run; values that differ then end it.
    int commutative_samples = 1;
};

/// The same, with its names looked up. Throws InvalidTask.
scan::Way way_of(const ScanOptions& options);

/// Collective parts of one operation, one after another. A rank that fails in one takes part in
/// those that follow only to say so, since others wait for it there.
class Stages {
  public:
    /// What a rank does by itself.
    template <class Run>
    void alone(Run run) {
        together(run, [](const std::exception_ptr&) {});
    }

    /// What it does with others; where it failed before, `run_failed(failure)` instead.
    template <class Run, class RunFailed>
    void together(Run run, RunFailed run_failed) {
        try {
            if (failure_)
                run_failed(failure_);
            else
                run();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    /// Throws again what went wrong, if anything did.
    void rethrow() const {
        if (failure_)
            std::rethrow_exception(failure_);
    }

  private:
    std::exception_ptr failure_;
};

/// An inclusive scan of a series of values that lies at the ranks of a communicator, in rank order:
/// planned once, run as often as liked. For operators that cost more than a step of a schedule, a
/// microsecond or so: each application is one.
class Scan {
  public:
    /// Input     how many values this rank has, 0 or more; the operator on them.
    /// Requires  the same options and size of an element on all ranks. Whatever goes wrong on any
    ///           rank, every rank throws AgreedFailure.
    /// Collective.
    Scan(Communicator communicator, Elements values, Operator op, const ScanOptions& options = {});

    /// Scans.
    /// Input     this rank's values, one after another, in the operator's format.
    /// Output    as many: each combined with all before it in the series. Valid until the next run.
    /// Throws    AgreedFailure on every rank when the operator throws on any thread of any, one
    ///           gives another number of values than planned, or an operator does not commute that
    ///           is declared to; the next run may be right again.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    /// The place in the series of this rank's first value.
    Elements first() const { return first_; }
    /// This rank's part of the last run, if traced: events of its schedule, with threads of that of
    /// the ranks' totals; and all that it applied the operator to, when.
    const Trace& trace() const { return execution().trace(); }
    std::vector<scan::Bar> applications() const;
    /// When the last run that was traced began, on the clock of this host.
    Seconds origin() const { return watch_ ? watch_->origin() : 0; }
    /// Values that another thread of this rank reduced in the last run than whose share they were.
    Elements stolen() const { return threaded_ ? threaded_->stolen() : 0; }
    /// This rank's schedule; with threads that of the ranks' totals.
    const Program& program() const { return execution().program(); }

  private:
    void prepare(const scan::Series& series, const scan::Way& way, const ScanOptions& options);
    void check_and_run(std::span<const std::byte> values);
    std::span<const std::byte> checked(std::span<const std::byte> values);
    std::span<const std::byte> scanned(std::span<const std::byte> values);
    [[noreturn]] void run_failed(std::exception_ptr failure);
    const Execution& execution() const { return threaded_ ? threaded_->totals_run() : *execution_; }

    Communicator communicator_;
    Elements values_, first_ = 0; ///< how many, and the first one's place in the series
    Operator operator_;
    int commutative_samples_;
    std::unique_ptr<Watch> watch_;
    std::unique_ptr<ThreadedScan> threaded_; ///< with more than one thread, else
    std::optional<Execution> execution_;
    std::span<const std::byte> result_;
};

/// Scans a series once.
///
/// Input     this rank's values, any number; combine(left, right) of two, which need not be
///           commutative; how values lie in slots.
/// Output    as many: each combined with all before it in the series.
/// Throws    AgreedFailure on every rank when anything goes wrong on any.
/// Cost      see the strategies; three all-gathers of an int beside.
/// Collective.
/// Deterministic  unless folded by arrival, for the same number of values at each rank.
template <class Value, class Combine>
std::vector<Value> scan(const Communicator& communicator, std::span<const Value> values,
                        Combine combine, const Slots<Value>& slots,
                        const ScanOptions& options = {}) {
    const auto size = static_cast<std::size_t>(slots.size);
    ScanOptions with_names = options;
    with_names.names_elements |= slots.limited;
    Scan series(communicator, static_cast<Elements>(values.size()),
                operator_on(slots, std::move(combine)), with_names);
    std::vector<Value> results;
    Memory bytes;
    agree(communicator, [&] {
        bytes = Memory(static_cast<Bytes>(values.size() * size));
        for (std::size_t i = 0; i < values.size(); ++i) {
            try {
                slots.put(values[i], bytes.bytes().subspan(i * size, size));
            } catch (...) {
                const Elements place = series.first() + static_cast<Elements>(i);
                rethrow_with_place("element " + std::to_string(place));
            }
        }
    });
    const std::span<const std::byte> scanned = series.run(bytes.bytes());
    agree(communicator, [&] {
        results.reserve(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            results.push_back(slots.get(scanned.subspan(i * size, size)));
    });
    return results;
}

/// The same for values that are their own bytes.
template <class Value, class Combine>
std::vector<Value> scan(const Communicator& communicator, std::span<const Value> values,
                        Combine combine, const ScanOptions& options = {}) {
    return scan(communicator, values, std::move(combine), plain_slots<Value>(), options);
}

} // namespace sextant::prefix
