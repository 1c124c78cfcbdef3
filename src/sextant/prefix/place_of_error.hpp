// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::prefix {

/// Throws the exception at hand again, with where it happened in front of its text: InvalidTask as
/// such, what else a user's code may throw as Error. Bugs of ours (std::logic_error) pass as they
/// are. Only within a catch.
[[noreturn]] void rethrow_with_place(const std::string& place);

} // namespace sextant::prefix
