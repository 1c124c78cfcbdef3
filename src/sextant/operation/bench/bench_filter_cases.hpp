// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/distributed/window_filter.hpp"

#include <string>
#include <vector>

namespace sextant::operation {

/// One filter to time; docs/bench.md has its fields.
struct FilterCase {
    std::string name;
    ImageShape shape{1024, 1024};
    ElementFormat element = gray_f32;
    distributed::Filter filter{3, {"x", "y", "xx", "xy", "yy"}, {}};
    int most = 24; ///< ways that are timed, the most promising ones
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<FilterCase> read_filter_cases(const std::string& path);

/// What is timed where nobody says what.
FilterCase usual_filter_case();

} // namespace sextant::operation
