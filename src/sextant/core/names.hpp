// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant {

/// The message for a name that is in no catalogue: "unknown KIND 'WANTED'; did you mean ...?", or
/// all the names where none is near.
std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names);

} // namespace sextant
