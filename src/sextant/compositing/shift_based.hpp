// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/task.hpp"

namespace sextant::compositing {

/// Shift-Based compositing: Direct-Send in shift order, one stage of messages at a time (window 1),
/// so that at each moment every rank sends one message and receives one, a permutation that
/// fat-trees route without contention.
///
/// Input, Output, Cost   as Direct-Send.
/// Source    Cavin and Demengeon, EGPGV 2012, doi:10.2312/EGPGV/EGPGV12/129-138
Program shift_based(const Task& task, int window, int position);

} // namespace sextant::compositing
