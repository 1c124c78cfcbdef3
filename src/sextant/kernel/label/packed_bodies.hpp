// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/bodies.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::kernel {

/// The measures that packed bodies contain in addition to coordinates and their sums.
struct BodyContents {
    VolumeShape volume;
    bool values = false;      ///< `value` of each body
    bool intensities = false; ///< the measures of intensities
};

/// Bodies of whole components in few bytes, by ascending label and first voxel: about 8 for a
/// component of one voxel, 20 for one of ten, instead of sizeof(Body). Numbers are relative to the
/// body before or to a corner of the box, in bytes of 7 bits (LEB128); nothing is lost.
class PackedBodies {
  public:
    explicit PackedBodies(const BodyContents& contents) : contents_(contents) {}

    /// Requires  at least one voxel, the first of which is in the first plane of the box.
    void add(Label label, const Body& body);
    bool empty() const { return bytes_.empty(); }
    std::size_t size() const { return bytes_.size(); }
    /// Returns the bytes and starts again.
    std::vector<std::byte> take();

  private:
    void add(std::uint64_t number);

    BodyContents contents_;
    std::vector<std::byte> bytes_;
    Label last_label_ = 0;
    Elements last_first_ = 0;
};

/// Reads packed bodies one after another.
class BodyReader {
  public:
    /// Keeps the span.
    BodyReader(const BodyContents& contents, std::span<const std::byte> bytes)
        : contents_(contents), bytes_(bytes) {}

    /// Reads the next body; returns false after the last. Throws Error if the bytes are damaged.
    bool next();
    Label label() const { return label_; }
    const Body& body() const { return body_; }

  private:
    std::uint64_t take();
    Elements take_number() { return static_cast<Elements>(take()); }
    double take_double();

    BodyContents contents_;
    std::span<const std::byte> bytes_;
    Label label_ = 0;
    Body body_;
};

} // namespace sextant::kernel
