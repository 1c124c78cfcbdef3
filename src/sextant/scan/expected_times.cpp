// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/expected_times.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::scan {

ExpectedTimes ExpectedTimes::alike(Elements values) {
    ExpectedTimes made;
    for (Elements value = 1; value <= values; ++value)
        made.until_.push_back(static_cast<Seconds>(value));
    made.alike_ = true;
    return made;
}

ExpectedTimes::ExpectedTimes(std::span<const Seconds> times) {
    for (std::size_t value = 0; value < times.size(); ++value) {
        const Seconds sum = until_.back() + times[value];
        if (!(times[value] >= 0) || !std::isfinite(sum)) {
            throw InvalidTask(fmt::format("value {} is expected to take {} s: expected 0 or more, "
                                          "and a finite sum",
                                          value, times[value]));
        }
        until_.push_back(sum);
    }
    if (until_.back() == 0)
        *this = alike(values());
}

Series ExpectedTimes::dealt(int parts) const {
    if (alike_)
        return scan::dealt(values(), parts);
    Series shares;
    Elements first = 0;
    for (int left = parts; left > 0; --left) {
        const Elements last = end_of_share(first, left);
        shares.push_back(last - first);
        first = last;
    }
    return shares;
}

/// Of the values from `first` on one share of so many: it is measured by what is left, so that a
/// value that takes long does not starve the last share.
Elements ExpectedTimes::end_of_share(Elements first, int shares_left) const {
    const Seconds wanted = at(first) + (until_.back() - at(first)) / shares_left;
    const auto from = until_.begin() + first;
    const auto found = std::lower_bound(from, until_.end() - 1, wanted);
    Elements last = found - until_.begin();
    if (found > from && wanted - *(found - 1) < *found - wanted)
        --last;
    const Elements left = values() - first;
    const Elements least = shares_left == 1 ? left : std::min<Elements>(left, 1);
    return std::clamp(last, first + least, first + std::max(least, left - shares_left + 1));
}

Elements ExpectedTimes::middle(const Interval& values) const {
    const Seconds half = (at(values.first) + at(values.last)) / 2;
    const auto from = until_.begin() + values.first + 1;
    const Elements passed = std::upper_bound(from, until_.begin() + values.last, half) - from;
    return std::min(values.first + passed, values.last - 1);
}

} // namespace sextant::scan
