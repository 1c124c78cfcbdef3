// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

namespace sextant {

/// Memory that several processes of one machine have mapped, each at its own address, aligned to
/// huge pages. Segments created here have no name in any file system: they vanish when the last
/// process ends, however it ends. Movable, not copyable.
class Segment {
  public:
    Segment() = default;
    /// Creates a zeroed segment of whole pages, which use memory only when they are touched.
    /// Throws    CommunicationFailed, with the reason.
    static Segment create(Bytes size);
    /// Maps a segment of another process that still has its descriptor open.
    /// Throws    CommunicationFailed, with the reason.
    static Segment open(int process, int descriptor, Bytes size);

    enum class Whose { ours, a_peers };
    /// Wraps zeroed memory that is already shared and owned by another component, which keeps it
    /// mapped. With Whose::ours, touched pages are returned to the system on destruction.
    static Segment kept(std::byte* data, Bytes size, Whose whose);

    Segment(Segment&& other) noexcept;
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();

    std::byte* data() const { return data_; }
    Bytes size() const { return size_; }
    int descriptor() const { return descriptor_; }
    /// True if the machine has memory for this range. Where touching unavailable memory would kill
    /// the process, all pages of the range are allocated now.
    bool has_memory(Bytes offset, Bytes size) const;
    /// Returns the pages of a range to the system; they read as zeros afterwards.
    void clear(Bytes offset, Bytes size) const;

    /// Closes the descriptor; call when all processes have mapped the segment.
    void close_descriptor();

  private:
    /// The action on destruction.
    enum class End { unmap, clear, nothing };

    std::byte* data_ = nullptr;
    Bytes size_ = 0;
    int descriptor_ = -1;
    End end_ = End::unmap;
};

/// Allocates memory from a segment. Memory that is returned is zeroed and its pages are released.
/// Allocations keep the segment alive. Not thread-safe.
class Arena : public std::enable_shared_from_this<Arena> {
  public:
    /// Input     a segment, whose first `kept` bytes are not allocated.
    Arena(Segment segment, Bytes kept);

    const Segment& segment() const { return segment_; }
    void close_descriptor() { segment_.close_descriptor(); }
    /// Allocates zeroed memory. Returns std::nullopt if there is no space.
    std::optional<Memory> take(Bytes size);
    bool holds(const std::byte* data, Bytes size) const;

  private:
    void give_back(Bytes offset, Bytes size);

    Segment segment_;
    std::map<Bytes, Bytes> free_; // free ranges: sizes by offset
};

} // namespace sextant
