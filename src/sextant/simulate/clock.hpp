// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulate.hpp"

namespace sextant::simulate {

/// Answers a question without SimGrid: the same play on the same network, and links shared by the
/// same rule, but dealt anew only once a two-hundredth of some message's time has passed. So
/// thousands of messages at once take seconds, and times differ by a per cent or two
/// (docs/platform.md).
///
/// Throws    as `simulate`; InvalidFile for SimGrid's XML, whose routes only SimGrid knows.
/// Cost      by how often shares change, the links on the ways of all messages under way.
/// Deterministic to the bit.
Simulation simulate_on_clock(const Question& question);

/// The same on a platform that has been read.
Simulation simulate_on_clock(const Question& question, const Platform& platform);

} // namespace sextant::simulate
