// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>

namespace sextant {

/// Bytes in memory: `count` runs of `length`, `stride` apart, numbered run by run.
struct Blocks {
    std::byte* base = nullptr;
    Bytes length = 0, stride = 0;
    Elements count = 1;

    Bytes bytes() const { return length * count; }
    bool contiguous() const { return count <= 1 || stride == length; }
    /// Where byte `i` lies.
    std::byte* at(Bytes i) const {
        return contiguous() ? base + i : base + i / length * stride + i % length;
    }
    /// How many bytes lie in one piece from byte `i` on, itself included.
    Bytes run_left(Bytes i) const { return contiguous() ? bytes() - i : length - i % length; }
};

/// Copies bytes to as many bytes; the two sides may be cut differently.
void copy(std::span<const Blocks> to, std::span<const Blocks> from);

/// Bytes that begin `first` bytes into others, in runs shaped like those of `shape`, counted as if
/// the others lay in one piece. Without a base unless that is a block.
Blocks within(const Blocks& whole, Bytes first, const Blocks& shape);

/// Where bytes [first, first + count) of several blocks lie; null unless they lie in one piece.
const std::byte* in_one_piece(std::span<const Blocks> blocks, Bytes first, Bytes count);

} // namespace sextant
