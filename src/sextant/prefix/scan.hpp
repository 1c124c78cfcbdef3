// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/units.hpp"
#include "sextant/prefix/threaded_scan.hpp"
#include "sextant/prefix/watch.hpp"
#include "sextant/scan/stealing.hpp"

#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant::prefix {

/// Stores values of one type in slots of equal size, which are the elements that ranks combine and
/// exchange.
template <class Value>
struct Slots {
    Bytes size = 0; ///< bytes per slot
    /// Writes a value into a slot. May throw, which ends the scan on every rank.
    std::function<void(const Value& value, std::span<std::byte> slot)> put;
    std::function<Value(std::span<const std::byte> slot)> get;
    /// True if `put` rejects values that are too large. Values then travel with labels, so that the
    /// error names the elements that were combined (ScanOptions::names_elements).
    bool limited = false;
};

/// Slots for trivially copyable values, stored as their bytes.
template <class Value>
Slots<Value> plain_slots() {
    static_assert(std::is_trivially_copyable_v<Value>);
    return {sizeof(Value),
            [](const Value& value, std::span<std::byte> slot) {
                std::memcpy(slot.data(), &value, sizeof value);
            },
            [](std::span<const std::byte> slot) {
                Value value;
                std::memcpy(&value, slot.data(), sizeof value);
                return value;
            }};
}

/// The size of a slot that stores a byte count and up to `capacity` bytes.
Bytes sized_slot(Bytes capacity);
/// Writes the number of bytes, then the bytes. Throws InvalidTask if the slot is too small.
void put_sized(std::span<const std::byte> bytes, std::span<std::byte> slot);
/// Returns the bytes that put_sized() wrote.
std::span<const std::byte> get_sized(std::span<const std::byte> slot);

/// Slots for serialised values of at most `capacity` bytes; a larger value throws InvalidTask
/// naming its size, the capacity and the elements of the series. Messages contain whole slots, so a
/// generous capacity costs bandwidth.
template <class Value>
Slots<Value> sized_slots(Bytes capacity,
                         std::function<std::vector<std::byte>(const Value& value)> bytes_of,
                         std::function<Value(std::span<const std::byte> bytes)> value_of) {
    return {sized_slot(capacity),
            [bytes_of = std::move(bytes_of)](const Value& value, std::span<std::byte> slot) {
                put_sized(bytes_of(value), slot);
            },
            [value_of = std::move(value_of)](std::span<const std::byte> slot) {
                return value_of(get_sized(slot));
            },
            true};
}

/// Returns an operator on slots that calls combine(left, right) on values in series order.
/// `combine` need not be commutative.
template <class Value, class Combine>
Operator operator_on(const Slots<Value>& slots, Combine combine) {
    Operator op;
    op.name = "combine";
    op.element = {"value", slots.size};
    op.fold = [slots, combine = std::move(combine)](std::span<const std::byte* const> sources,
                                                    std::byte* to, Elements elements) {
        const auto size = static_cast<std::size_t>(slots.size);
        for (std::size_t at = 0; at < static_cast<std::size_t>(elements) * size; at += size) {
            Value sum = slots.get({sources[0] + at, size});
            for (const std::byte* source : sources.subspan(1))
                sum = combine(std::as_const(sum), slots.get({source + at, size}));
            slots.put(sum, {to + at, size});
        }
    };
    return op;
}

/// Options of a scan. Must be the same on every rank.
struct ScanOptions {
    std::string strategy = "scan-then-propagate"; ///< name in scan::strategies()
    std::string algorithm = "kogge-stone";        ///< global scan: name in scan::catalogue()
    scan::Tuning tuning = {};                     ///< tuning of the global scan
    bool gives_last = true;                       ///< see scan::GlobalScan
    Association association = Association::in_order;
    bool trace = false; ///< record events of the schedule, and the time of each application
    /// Threads per rank. More than one requires "reduce-then-scan" and a thread-safe operator.
    int threads = 1;
    /// The rule for moving the boundaries between the threads' segments; see scan::Stealing.
    scan::Boundaries boundaries = scan::Boundaries::moving;
    /// The time limit for one application in seconds; 0: none. If an application takes longer, the
    /// process prints an error that names the elements and ends with exit code 1, because a running
    /// operator cannot be interrupted.
    Seconds time_limit = 0;
    /// True if operator errors name the elements that were being combined. Each value then travels
    /// with a label of 16 bytes, as it does with a trace or a time limit.
    bool names_elements = false;
    /// Only for an operator declared commutative: the number of value pairs that each rank combines
    /// in both orders before a run. The run throws if the results differ.
    int commutative_samples = 1;
};

/// Returns a record of all options.
Record record_of(ScanOptions& options);

/// Returns the configuration that the options name. Throws InvalidTask.
scan::Configuration configuration_of(const ScanOptions& options);

/// Runs the parts of one collective operation one after another. A rank that fails in one part
/// still joins the following parts, but only to report the failure, because other ranks wait for it
/// there.
class Stages {
  public:
    /// Runs a part that does not communicate with other ranks.
    template <class Run>
    void alone(Run run) {
        together(run, [](const std::exception_ptr&) {});
    }

    /// Runs a part that communicates with other ranks; after a failure, calls `run_failed(failure)`
    /// instead.
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

    /// Rethrows the failure, if there was one.
    void rethrow() const {
        if (failure_)
            std::rethrow_exception(failure_);
    }

  private:
    std::exception_ptr failure_;
};

/// An inclusive scan of a series of values distributed over the ranks of a communicator in rank
/// order. A scan is planned once and can be run any number of times. It is intended for operators
/// that cost more than one schedule step (about a microsecond), because each application is a step.
class Scan {
  public:
    /// Input     the number of this rank's values, 0 or more; the operator on them.
    /// Requires  the same options and element size on all ranks. If anything fails on any rank,
    ///           every rank throws AgreedFailure.
    /// Collective.
    Scan(Communicator communicator, Elements values, Operator op, const ScanOptions& options = {});

    /// Runs the scan.
    /// Input     this rank's values, contiguous, in the operator's format.
    /// Output    the same number of values, each combined with all previous values of the series.
    ///           Valid until the next run.
    /// Throws    AgreedFailure on every rank if the operator throws on any thread of any rank, if a
    ///           rank passes a different number of values than planned, or if an operator declared
    ///           commutative is not commutative. The next run may succeed again.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    /// Ends the use of this object on all ranks; see Collective::fail. Not collective.
    void fail(const std::string& text);

    /// The position of this rank's first value in the series.
    Elements first() const { return first_; }
    /// This rank's part of the last run, if traced: trace() returns the events of program(),
    /// applications() all applications with their times.
    const Trace& trace() const { return execution().trace(); }
    std::vector<scan::Bar> applications() const;
    /// The start of the last traced run on the clock of this host.
    Seconds origin() const { return watch_ ? watch_->origin() : 0; }
    /// The number of values that were stolen in the last run: reduced by a different thread of this
    /// rank than the one initially assigned.
    Elements stolen() const { return threaded_ ? threaded_->stolen() : 0; }
    /// The schedule of this rank. With threads, it is the schedule of the scan of the ranks'
    /// totals.
    const Program& program() const { return execution().program(); }

  private:
    void prepare(const scan::Series& series, const scan::Configuration& configuration,
                 const ScanOptions& options);
    void check_and_run(std::span<const std::byte> values);
    std::span<const std::byte> checked(std::span<const std::byte> values);
    std::span<const std::byte> scanned(std::span<const std::byte> values);
    [[noreturn]] void run_failed(std::exception_ptr failure);
    const Execution& execution() const { return threaded_ ? threaded_->totals_run() : *execution_; }

    Communicator communicator_;
    Elements values_, first_ = 0; ///< number of values; position of the first one in the series
    Operator operator_;
    int commutative_samples_;
    std::unique_ptr<OrderCheck> watch_;
    std::unique_ptr<ThreadedScan> threaded_; ///< if null, execution_ runs the scan
    std::optional<Execution> execution_;
    std::span<const std::byte> result_;
};

/// Writes values into slots. `first` is the position of this rank's first value in the series;
/// errors name positions in the series. Collective.
template <class Value>
Memory in_slots(const Communicator& communicator, std::span<const Value> values,
                const Slots<Value>& slots, Elements first) {
    const auto size = static_cast<std::size_t>(slots.size);
    Memory bytes;
    agree(communicator, [&] {
        bytes = Memory(static_cast<Bytes>(values.size() * size));
        for (std::size_t i = 0; i < values.size(); ++i) {
            try {
                slots.put(values[i], bytes.bytes().subspan(i * size, size));
            } catch (...) {
                const Elements place = first + static_cast<Elements>(i);
                rethrow_with_place("element " + std::to_string(place));
            }
        }
    });
    return bytes;
}

/// Reads the values of all slots in `bytes`. Collective.
template <class Value>
std::vector<Value> from_slots(const Communicator& communicator, std::span<const std::byte> bytes,
                              const Slots<Value>& slots) {
    const auto size = static_cast<std::size_t>(slots.size);
    std::vector<Value> values;
    agree(communicator, [&] {
        values.reserve(bytes.size() / size);
        for (std::size_t at = 0; at < bytes.size(); at += size)
            values.push_back(slots.get(bytes.subspan(at, size)));
    });
    return values;
}

/// Scans a series once.
///
/// Input     this rank's values, any number; combine(left, right) of two values, which need not be
///           commutative; the format of values in slots.
/// Output    the same number of values, each combined with all previous values of the series.
/// Throws    AgreedFailure on every rank if anything fails on any rank.
/// Cost      the cost of the strategy (scan::strategies()), plus three all-gathers of an int.
/// Collective. Deterministic for a given number of values on each rank, except with
/// Association::by_arrival or with several threads and moving boundaries, where the association
/// depends on timing.
template <class Value, class Combine>
std::vector<Value> scan(const Communicator& communicator, std::span<const Value> values,
                        Combine combine, const Slots<Value>& slots,
                        const ScanOptions& options = {}) {
    ScanOptions with_names = options;
    with_names.names_elements |= slots.limited;
    Scan series(communicator, static_cast<Elements>(values.size()),
                operator_on(slots, std::move(combine)), with_names);
    const Memory bytes = in_slots(communicator, values, slots, series.first());
    return from_slots(communicator, series.run(bytes.bytes()), slots);
}

/// Scans a series of trivially copyable values once.
template <class Value, class Combine>
std::vector<Value> scan(const Communicator& communicator, std::span<const Value> values,
                        Combine combine, const ScanOptions& options = {}) {
    return scan(communicator, values, std::move(combine), plain_slots<Value>(), options);
}

/// Shifts a series of values that is distributed over the ranks of a communicator by one position:
/// position i receives value i − 1, and the last value is dropped (scan::shift).
class Shift {
  public:
    /// Input     the number of this rank's values, 0 or more; bytes per value.
    /// Requires  the same size on all ranks. If anything fails on any rank, every rank throws
    ///           AgreedFailure.
    /// Collective.
    Shift(Communicator communicator, Elements values, Bytes size);

    /// Input     this rank's values, contiguous.
    /// Output    for each value, the previous value of the series. The first rank that has values
    ///           receives one value less. Valid until the next run.
    /// Throws    AgreedFailure on every rank if a rank passes a different number of bytes.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    /// The position of this rank's first value in the series.
    Elements first() const { return first_; }
    /// True if this rank has the first value of the series.
    bool leads() const { return values_ > 0 && first_ == 0; }
    /// The number of values that a run returns.
    Elements received() const { return leads() ? values_ - 1 : values_; }

  private:
    void check_and_run(std::span<const std::byte> values);

    Communicator communicator_;
    Elements values_, first_ = 0;
    Bytes size_;
    std::optional<Execution> execution_;
};

} // namespace sextant::prefix
