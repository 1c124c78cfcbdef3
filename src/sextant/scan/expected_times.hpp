// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/application.hpp"
#include "sextant/scan/series.hpp"

#include <span>
#include <vector>

namespace sextant::scan {

/// What is known before a scan of how long each of some values takes: combining it with what lies
/// before it. In any unit, since only ratios count.
class ExpectedTimes {
  public:
    /// So many values that are all alike: each counts 1.
    static ExpectedTimes alike(Elements values);

    /// Throws InvalidTask unless every time, and their sum, is finite and 0 or more. Where all are
    /// 0, nothing is known, and values are alike.
    explicit ExpectedTimes(std::span<const Seconds> times);

    Elements values() const { return static_cast<Elements>(until_.size()) - 1; }
    Seconds of(const Interval& values) const { return at(values.last) - at(values.first); }

    /// The values dealt in order, in shares of about equal time, each to the nearest edge between
    /// two values; of one value or more while there are enough. Values that are alike are dealt as
    /// `scan::dealt` does.
    Series dealt(int parts) const;

    /// The value at which half of the time of some has passed.
    Elements middle(const Interval& values) const;

  private:
    ExpectedTimes() = default;
    Seconds at(Elements value) const { return until_[static_cast<std::size_t>(value)]; }
    Elements end_of_share(Elements first, int shares_left) const;

    std::vector<Seconds> until_ = {0}; ///< of all values before one
    bool alike_ = false;
};

} // namespace sextant::scan
