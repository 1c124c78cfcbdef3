// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>
#include <string>

namespace sextant {

/// Does a part that may fail, for whoever then does without: what went wrong on the first rank
/// where something did, with its number; empty where all is well. The same on every rank. Where
/// nobody can do without, `agree` (agree.hpp) throws.
/// Collective.
std::string first_failure(const Communicator& communicator, const std::function<void()>& part);

} // namespace sextant
