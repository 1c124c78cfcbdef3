// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/estimate_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

std::string interval_text(const Estimate& estimate, double units, int digits) {
    return fmt::format("[{:.{}f}, {:.{}f}]", estimate.interval.low * units, digits,
                       estimate.interval.high * units, digits);
}

std::string to_text(const Estimate& estimate, double units, int digits) {
    return fmt::format("{:.{}f} {}", estimate.median * units, digits,
                       interval_text(estimate, units, digits));
}

report::TimeRange to_range(const Estimate& estimate) {
    return {estimate.median, estimate.interval.low, estimate.interval.high};
}

nlohmann::ordered_json to_json(const Estimate& estimate) {
    return {{"median", estimate.median},
            {"low", estimate.interval.low},
            {"high", estimate.interval.high}};
}

} // namespace sextant::operation
