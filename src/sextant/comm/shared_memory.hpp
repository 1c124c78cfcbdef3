// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

namespace sextant {

/// Memory that several processes of one machine have mapped, each at an address of its own. What is
/// created here has no name in any file system: when the last of them has ended, in whatever way,
/// it is gone. Its addresses are at a boundary of huge pages. Moves, does not copy.
class Segment {
  public:
    Segment() = default;
    /// A new one, of whole pages: zeroed, and taken from the machine only where it is touched.
    /// Throws    CommunicationFailed, with the reason.
    static Segment create(Bytes size);
    /// One that another process made and still has the descriptor of.
    /// Throws    CommunicationFailed, with the reason.
    static Segment open(int process, int descriptor, Bytes size);

    enum class Whose { ours, a_peers };
    /// Memory of somebody else's making, who keeps its addresses: zeroed, and shared already. Of
    /// ours, what was touched goes back to the machine in the end.
    static Segment kept(std::byte* data, Bytes size, Whose whose);

    Segment(Segment&& other) noexcept;
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();

    std::byte* data() const { return data_; }
    Bytes size() const { return size_; }
    int descriptor() const { return descriptor_; }
    /// Whether the machine has memory for so many bytes from a place on. Where touching what it
    /// has not would end the process, it is asked for all of them now.
    bool has_memory(Bytes offset, Bytes size) const;
    /// Gives the pages of a stretch back to the machine; they come back as zeros.
    void clear(Bytes offset, Bytes size) const;

    /// When all have it mapped nobody needs the descriptor any more.
    void close_descriptor();

  private:
    /// What to do in the end.
    enum class End { unmap, clear, nothing };

    std::byte* data_ = nullptr;
    Bytes size_ = 0;
    int descriptor_ = -1;
    End end_ = End::unmap;
};

/// Parcels out a segment. What is given back is zero again and costs nothing; who still has memory
/// of it keeps the segment. For one thread at a time.
class Arena : public std::enable_shared_from_this<Arena> {
  public:
    /// Input     a segment, whose first `kept` bytes are not for parcelling out.
    Arena(Segment segment, Bytes kept);

    const Segment& segment() const { return segment_; }
    void close_descriptor() { segment_.close_descriptor(); }
    /// Zeroed; nothing where there is no room.
    std::optional<Memory> take(Bytes size);
    bool holds(const std::byte* data, Bytes size) const;

  private:
    void give_back(Bytes offset, Bytes size);

    Segment segment_;
    std::map<Bytes, Bytes> free_; // stretches: sizes by offset
};

} // namespace sextant
