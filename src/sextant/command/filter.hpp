// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/distributed/window_filter.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// By the name that users know them by; throws InvalidTask.
kernel::GaussianKernel::Weights weights_named(std::string_view name);
/// "gaussian", "p3pc", "gaussian, truncated at 4 sigmas".
std::string text_of(const kernel::GaussianKernel& kernel);

/// What says which filter is meant, and what it sees beyond the border, which changes no schedule.
std::vector<Parameter> filter_parameters();
std::vector<Parameter> border_parameters();
/// Those that come before, and the filter itself. Throws InvalidTask for one that cannot be.
distributed::Filters filters_from(const Values& values);

} // namespace sextant::command
