// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/fold_team.hpp"
#include "sextant/comm/places.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/loans.hpp"

#include <vector>

namespace sextant {

/// What executions have in common that never run at once: their scratch, room for codes, and
/// threads. It grows to what the largest of them needs.
class Workspace {
  public:
    explicit Workspace(int fold_threads) : team(fold_threads) {}

    /// Memory that ranks of a communicator see; what lay there is lost where it is too small.
    void make_scratch(const Communicator& communicator, Bytes size);
    void make_rooms(Bytes size);

    Memory scratch, rooms;
    FoldTeam team;
    int version = 0; ///< another once either has moved
};

/// Where a program's own buffers lie in scratch, its scratch and the outputs that nobody binds
/// elsewhere: each begins a cache line. By buffer; -1 where it is not its own.
std::vector<Bytes> own_offsets(const Program& program, const Places& places);
/// The bytes of all of them.
Bytes own_bytes(const Program& program, const Places& places);

/// Touches the places of folds that are usually made with their taker instead (Loans::taker), where
/// ranks share memory: such a fold leaves its own place alone until it once comes too late for the
/// other, and no frame shall be the first to meet those pages.
void touch_spared(const Program& program, const Loans& loans, const Communicator& communicator,
                  const Places& places);

} // namespace sextant
