// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/interpolate.hpp"

#include <algorithm>

namespace sextant::model {

/// A duration, or a point in time, with the interval it may lie in. The three are computed alike:
/// the low of a run is the run in which everything is low.
struct Span {
    Seconds median = 0, low = 0, high = 0;

    Span() = default;
    explicit Span(Seconds exact) : median(exact), low(exact), high(exact) {}
    Span(Seconds m, Seconds l, Seconds h) : median(m), low(l), high(h) {}
    explicit Span(const machine::Value& value)
        : median(value.median), low(value.low), high(value.high) {}
    explicit Span(const machine::Estimate& estimate)
        : median(estimate.median), low(estimate.low), high(estimate.high) {}

    Span operator+(const Span& o) const { return {median + o.median, low + o.low, high + o.high}; }
    Span operator-(const Span& o) const { return {median - o.median, low - o.low, high - o.high}; }
    Span operator*(double factor) const { return {median * factor, low * factor, high * factor}; }
};

inline Span later(const Span& a, const Span& b) {
    return {std::max(a.median, b.median), std::max(a.low, b.low), std::max(a.high, b.high)};
}

} // namespace sextant::model
