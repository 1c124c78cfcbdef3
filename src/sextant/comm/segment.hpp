// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>

namespace sextant {

/// Memory that several processes of one machine have mapped, each at an address of its own. It has
/// no name in any file system: when the last of them has ended, in whatever way, it is gone.
/// Addresses are at a boundary of huge pages. Moves, does not copy.
class Segment {
  public:
    Segment() = default;
    /// A new one, of whole pages: zeroed, and taken from the machine only where it is touched.
    /// Throws    CommunicationFailed, with the reason.
    static Segment create(Bytes size);
    /// One that another process made and still has the descriptor of.
    /// Throws    CommunicationFailed, with the reason.
    static Segment open(int process, int descriptor, Bytes size);

    Segment(Segment&& other) noexcept;
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();

    std::byte* data() const { return data_; }
    Bytes size() const { return size_; }
    int descriptor() const { return descriptor_; }
    /// When all have it mapped nobody needs the descriptor any more.
    void close_descriptor();

  private:
    std::byte* data_ = nullptr;
    Bytes size_ = 0;
    int descriptor_ = -1;
};

} // namespace sextant
