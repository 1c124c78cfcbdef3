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

/// Compresses bodies of whole components without loss, by ascending label and first voxel. A
/// component of one voxel takes about 8 bytes, one of ten voxels about 20, instead of sizeof(Body).
/// Numbers are stored as LEB128, relative to the previous body or to a corner of the box.
class PackedBodies {
  public:
    explicit PackedBodies(const BodyContents& contents) : contents_(contents) {}

    /// Requires  at least one voxel, the first of which is in the first plane of the box.
    void add(Label label, const Body& body);
    bool empty() const { return bytes_.empty(); }
    std::size_t size() const { return bytes_.size(); }
    /// Returns the bytes and clears this object.
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
