// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant::operation {

/// The path of a file that a user gives, or names as one of those that Sextant ships: a file of
/// `folder` whose name without ending it is. What is neither stays as it was given, for whoever
/// reads it to refuse.
std::string shared_file(const std::string& given, std::string_view folder,
                        std::span<const std::string_view> endings);

} // namespace sextant::operation
