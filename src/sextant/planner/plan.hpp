// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace sextant::planner {

/// A predicted time with its interval.
struct Expected {
    Seconds seconds = 0, low = 0, high = 0;
};

/// A configuration that was considered.
template <class Configuration>
struct Alternative {
    Configuration configuration{};
    std::optional<Seconds> bound = {};     ///< lower bound from one rank alone (predictor.hpp)
    std::optional<Expected> expected = {}; ///< time of the whole schedule, if predicted
    std::optional<Seconds> raced = {};     ///< median measured time, if raced (race.hpp)
    std::string remark = {};
};

/// Returns the text of a configuration for messages and reports. Families of algorithms whose
/// configurations have no text() overload this function.
template <class Configuration>
requires requires(const Configuration& configuration) {
    { configuration.text() } -> std::same_as<std::string>;
}
std::string text_of(const Configuration& configuration) {
    return configuration.text();
}

/// The configuration chosen for a task, for any family of algorithms, and the reason for the
/// choice. Made by plan_of (choose.hpp); plan_file.hpp writes and reads it.
template <class Configuration>
struct Plan {
    Configuration configuration{};
    std::string reason = {};
    // The following are set only on the rank that chose, if it used predictions.
    std::string model = {}, machine = {};
    std::vector<Alternative<Configuration>> alternatives = {}; ///< the chosen one first
    std::size_t rivals = 1; ///< number of leading alternatives that may be fastest

    /// A short text: "radix-k, radices 8,4, sparse".
    std::string text() const { return text_of(configuration); }
    /// The predicted time.
    std::optional<Seconds> expected() const {
        if (alternatives.empty() || !alternatives.front().expected)
            return std::nullopt;
        return alternatives.front().expected->seconds;
    }
};

} // namespace sextant::planner
