// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// Where a program's regions lie in memory, operands that were lent included.
class Places {
  public:
    Places(const Program& program, Bytes element_size)
        : bases_(program.buffers.size(), nullptr), lent_(program.regions.size()) {
        for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b)
            element_sizes_.push_back(program.element_size(b, element_size));
    }

    void bind(int buffer, std::byte* base) { bases_[static_cast<std::size_t>(buffer)] = base; }
    std::byte* base(int buffer) const { return bases_[static_cast<std::size_t>(buffer)]; }

    std::span<std::byte* const> bases() const { return bases_; }

    /// Operand `region` (an index into Program::regions) is read at `lent` until returned.
    void borrow(std::uint32_t region, const std::byte* lent) { lent_[region] = {lent}; }
    /// The same, from a code, where it begins at element `first`.
    void borrow(std::uint32_t region, const kernel::SparseCode& code, Elements first) {
        lent_[region] = {nullptr, &code, first};
    }
    void give_back(std::uint32_t region) { lent_[region] = {}; }

    /// Where an operand is read that does not lie in its buffer: as it is, or in a code.
    struct Lent {
        const std::byte* data = nullptr;
        const kernel::SparseCode* code = nullptr;
        Elements first = 0;
        explicit operator bool() const { return data || code; }
    };
    const Lent& lent(std::uint32_t region) const { return lent_[region]; }

    std::byte* at(const Region& region, Elements element) const {
        return base(region.buffer) + region.at(element) * element_size(region.buffer);
    }
    Blocks blocks(const Region& region) const {
        const Bytes size = element_size(region.buffer);
        return {at(region, 0), region.length * size, region.stride * size, region.count};
    }
    Bytes element_size(int buffer) const {
        return element_sizes_[static_cast<std::size_t>(buffer)];
    }

  private:
    std::vector<Bytes> element_sizes_; // by buffer
    std::vector<std::byte*> bases_;    // by buffer
    std::vector<Lent> lent_;           // by region
};

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
