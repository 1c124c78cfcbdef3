// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::model {

/// The wave of each step of a program: how many messages, one after another, its rank must have
/// received before it, or before work that precedes it in the program. Under a window, no fewer
/// than the windows before its round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

} // namespace sextant::model
