// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/distributed/window_filter.hpp"

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
/// The filters before, and the filter itself. Throws InvalidTask if one is not valid.
distributed::Filters filters_from(const Values& values);

} // namespace sextant::command
