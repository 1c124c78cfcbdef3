// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"
#include "sextant/scan/application.hpp"

#include <atomic>
#include <functional>

namespace sextant::operation {

/// What sleeping took longer than it should.
struct SleepError {
    std::atomic<std::int64_t> nanoseconds = 0, sleeps = 0;

    Seconds mean() const;
};

/// An operator that combines neighbouring intervals of a series (scan::Interval) and takes as long
/// as it is told: asleep, so that more may work at once than there are cores, or busy. It is exact
/// and does not commute: operands that are no neighbours throw std::logic_error.
///
/// A thread that has slept too long sleeps less the next time, so that errors do not add up.
/// Input     `time` and `error` must outlive it.
Operator mock_operator(const scan::OperatorTime& time, bool busy, SleepError& error);

} // namespace sextant::operation
