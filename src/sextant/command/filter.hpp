// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/distributed/filtering.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// Finds weights by their name in the command line. Throws InvalidTask.
kernel::GaussianKernel::Weights weights_named(std::string_view name);
/// "gaussian", "p3pc", "gaussian, truncated at 4 sigmas".
std::string text_of(const kernel::GaussianKernel& kernel);
/// "smooth at sigma 2, then x, y at sigma 1"; with the kernel if it is not the default.
std::string text_of(const distributed::Filters& filters);

/// The parameters of a filter; and those of its border, which do not affect schedules.
std::vector<Parameter> filter_parameters();
std::vector<Parameter> border_parameters();
/// --distribute.
Parameter distribute_parameter();
/// The options for `sextant filter`, or those that `sextant explain filter` has of them. Throws
/// InvalidTask.
FilterOptions options_from(const Values& values);

/// What `sextant filter` did, at rank 0.
struct FilterSummary {
    std::string image, output;
    distributed::Filters filters;
    std::string transport;
    int ranks = 1; ///< available; the plan may use fewer
    FilterResult result;
    std::vector<std::byte> picture; ///< the first derivative as a PNG file, if a page shows it
    std::vector<std::string> warnings;
};

std::string to_text(const FilterSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const FilterSummary& summary);
/// A self-contained HTML page: the first result, the plan and its reason, the tiles, the predicted
/// time of each grid.
std::string to_page(const FilterSummary& summary);

} // namespace sextant::command
