// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <span>

namespace sextant::collective {

/// Linear gather to rank 0: everyone sends what it has, and it lies there one after another, in
/// rank order. For what is small or comes late and uneven, such as traces.
///
/// Input     `counts[rank]` elements.
/// Output    at rank 0 all of them; elsewhere nothing.
/// Cost      one message a rank that has any; rank 0 receives p − 1.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program linear_gather(std::span<const Elements> counts, int rank);

} // namespace sextant::collective
