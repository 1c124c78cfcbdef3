// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/segment.hpp"
#include "sextant/core/memory.hpp"

#include <map>
#include <memory>
#include <optional>

namespace sextant {

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
