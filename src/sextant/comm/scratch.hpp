// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/places.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/loans.hpp"

namespace sextant {

/// The memory of a program's own buffers, its scratch and the outputs that nobody binds elsewhere:
/// one piece, in which each begins a cache line. Says in `places` where they lie.
Memory allocate_scratch(const Program& program, const Communicator& communicator, Places& places);

/// Touches the places of folds that are usually made with their taker instead (Loans::taker), where
/// ranks share memory: such a fold leaves its own place alone until it once comes too late for the
/// other, and no frame shall be the first to meet those pages.
void touch_spared(const Program& program, const Loans& loans, const Communicator& communicator,
                  const Places& places);

} // namespace sextant
