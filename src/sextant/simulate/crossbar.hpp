// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/field.hpp"
#include "sextant/simulate/shapes.hpp"

namespace sextant::simulate {

/// Hosts on one switch that never blocks: a message meets others only on the two cables at its
/// ends.
///
/// Input     `hosts`, how many.
Network crossbar(const machine::Field& network, const Wire& wire);

} // namespace sextant::simulate
