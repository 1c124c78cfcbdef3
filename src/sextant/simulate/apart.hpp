// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace sextant::simulate {

/// Runs a function in a process of its own, and gives the bytes that it returned. SimGrid holds one
/// world a process, and ends the process where its input is wrong.
///
/// Throws    InvalidTask, InvalidFile and std::logic_error as the function did; Error with the last
///           line that the process wrote where it threw anything else or ended otherwise.
/// Requires  no other threads in this process.
std::string apart(const std::function<std::string()>& function);

} // namespace sextant::simulate
