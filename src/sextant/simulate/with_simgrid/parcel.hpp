// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/simulate.hpp"

#include <string>

namespace sextant::simulate {

/// A simulation as bytes, from one process of a program to another of the same, and back.
std::string pack(const Simulation& simulation);
Simulation unpack(const std::string& bytes);

} // namespace sextant::simulate
