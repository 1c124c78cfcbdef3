// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/field.hpp"
#include "sextant/simulate/shapes.hpp"

namespace sextant::simulate {

/// A mesh or torus of any number of dimensions, whose hosts are its routers. Messages go along the
/// first dimension first, then the next; round a torus the shorter way, and where both are equally
/// long, hosts of even coordinate upward and the others downward, so that both ways are used.
///
/// Input     `extents`, along the first dimension first; hosts are numbered likewise.
///           `injection` (optional): bytes per second between a host and its router, each way.
Network mesh(const machine::Field& network, const Wire& wire);
Network torus(const machine::Field& network, const Wire& wire);

} // namespace sextant::simulate
