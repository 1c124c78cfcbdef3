// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agree.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/prefix/slots.hpp"
#include "sextant/scan/strategy.hpp"

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
    bool trace = false;
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
    /// Throws    AgreedFailure on every rank when the operator throws on any, or one gives another
    ///           number of values than planned; the next run may be right again.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    const Program& program() const { return execution_->program(); }
    /// This rank's part of the last run's trace.
    const Trace& trace() const { return execution_->trace(); }

  private:
    void bind_and_run(std::span<const std::byte> values);

    Communicator communicator_;
    Elements values_;
    std::optional<Execution> execution_;
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
    Scan series(communicator, static_cast<Elements>(values.size()),
                operator_on(slots, std::move(combine)), options);
    std::vector<Value> results;
    Memory bytes;
    agree(communicator, [&] {
        bytes = Memory(static_cast<Bytes>(values.size() * size));
        for (std::size_t i = 0; i < values.size(); ++i)
            slots.put(values[i], bytes.bytes().subspan(i * size, size));
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
