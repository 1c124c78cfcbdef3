// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

namespace sextant {

/// A strided block of elements in a numbered buffer: `count` runs of `length` elements, run i at
/// `offset + i * stride`, stride >= length. The rows of a sub-image are such a block. Elements are
/// numbered run by run.
struct Region {
    int buffer = 0;
    Elements offset = 0;
    Elements length = 0;
    Elements stride = 0;
    Elements count = 1;

    Elements elements() const { return length * count; }
    bool empty() const { return elements() == 0; }
    /// One past the last element.
    Elements end() const { return empty() ? offset : offset + (count - 1) * stride + length; }
    bool contiguous() const { return count <= 1 || stride == length; }
    /// The position of element `e` of the region in its buffer.
    Elements at(Elements e) const {
        return contiguous() ? offset + e : offset + e / length * stride + e % length;
    }
    /// The number of contiguous elements from element `e` on, including `e`.
    Elements run_left(Elements e) const {
        return contiguous() ? elements() - e : length - e % length;
    }

    bool operator==(const Region&) const = default;
};

/// The contiguous region of `length` elements from `offset`.
Region block(int buffer, Elements offset, Elements length);

/// The i-th of `parts` nearly equal contiguous pieces of a contiguous region; every element belongs
/// to exactly one. Pieces differ by at most one element and may be empty.
Region part(const Region& whole, int i, int parts);

/// True if two regions share an element. Exact for strided blocks: two columns of an image do not
/// overlap although their bounding intervals do.
/// Cost      linear in the smaller number of runs.
bool overlap(const Region& a, const Region& b);

/// True if `outer` is contiguous and holds every element of `inner`.
bool covers(const Region& outer, const Region& inner);

} // namespace sextant
