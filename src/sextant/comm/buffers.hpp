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

/// The memory addresses of a program's regions, including operands in shared buffers.
class BufferAddresses {
  public:
    BufferAddresses(const Program& program, Bytes element_size)
        : bases_(program.buffers.size(), nullptr), lent_(program.regions.size()) {
        for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b)
            element_sizes_.push_back(program.element_size(b, element_size));
    }

    void bind(int buffer, std::byte* base) { bases_[static_cast<std::size_t>(buffer)] = base; }
    std::byte* base(int buffer) const { return bases_[static_cast<std::size_t>(buffer)]; }

    std::span<std::byte* const> bases() const { return bases_; }

    /// Reads operand `region` (an index into Program::regions) from the shared buffer `lent`, until
    /// `give_back` is called.
    void borrow(std::uint32_t region, const Blocks& lent) { lent_[region] = {lent}; }
    /// Reads operand `region` from compressed data, starting at element `first` of `code`, until
    /// `give_back` is called.
    void borrow(std::uint32_t region, const kernel::SparseCode& code, Elements first) {
        lent_[region] = {{}, &code, first};
    }
    void give_back(std::uint32_t region) { lent_[region] = {}; }

    /// An operand in a shared buffer: plain data (contiguous for folds), or compressed data with
    /// the position of its first element.
    struct Lent {
        Blocks data = {};
        const kernel::SparseCode* code = nullptr;
        Elements first = 0;
        explicit operator bool() const { return data.base || code; }
    };
    const Lent& lent(std::uint32_t region) const { return lent_[region]; }

    std::byte* at(const Region& region, Elements element) const {
        return base(region.buffer) + region.at(element) * element_size(region.buffer);
    }
    /// Returns the memory in which an operand (an index into Program::regions) is read: a shared
    /// buffer, or the program's own.
    Blocks source(const Program& program, std::uint32_t region) const {
        const Lent& shared = lent_[region];
        return shared.data.base ? shared.data : blocks(program.regions[region]);
    }
    Blocks blocks(const Region& region) const {
        const Bytes size = element_size(region.buffer);
        return {at(region, 0), region.length * size, region.stride * size, region.count};
    }
    Bytes element_size(int buffer) const {
        return element_sizes_[static_cast<std::size_t>(buffer)];
    }

  private:
    std::vector<Bytes> element_sizes_; // indexed by buffer
    std::vector<std::byte*> bases_;    // indexed by buffer
    std::vector<Lent> lent_;           // indexed by region
};

/// Resources shared by executions that never run at the same time: scratch, memory for compressed
/// messages, and threads. Grows to the needs of the largest execution.
class Workspace {
  public:
    explicit Workspace(int fold_threads) : team(fold_threads) {}

    /// Grows the scratch memory, which peers can read, or the memory for compressed messages.
    /// Growing discards the contents.
    void make_scratch(const Communicator& communicator, Bytes size);
    void make_rooms(Bytes size);

    Memory scratch, rooms;
    FoldTeam team;
    int version = 0; ///< changes when either memory is reallocated
};

/// Returns the offset of each of a program's own buffers in the workspace's scratch memory, aligned
/// to a cache line. Own buffers are the scratch buffers, and the outputs in case the caller does
/// not bind them. Indexed by buffer; -1 for inputs and in_outs.
std::vector<Bytes> own_offsets(const Program& program, const BufferAddresses& places);
/// Returns the total size of a program's own buffers in bytes.
Bytes own_bytes(const Program& program, const BufferAddresses& places);

/// With shared memory, touches the destinations of folds that usually write directly into another
/// rank's memory (Loans::taker). If the address arrives too late, such a fold writes to its
/// own destination; touching that memory now avoids page faults in a later frame.
void touch_spared(const Program& program, const Loans& loans, const Communicator& communicator,
                  const BufferAddresses& places);

} // namespace sextant
