// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace sextant::test {

/// Reads the first and last rows of some frames, or all rows of small ones.
inline void read_some(FrameSource& source) {
    const FrameHeader& header = source.header();
    constexpr Elements most = 1 << 20;
    if (header.frames < 1 || header.shape.elements() < 1)
        throw std::logic_error("a source without frames");
    const std::int64_t rows = std::min(header.shape.height, most / header.shape.width);
    std::vector<float> values(static_cast<std::size_t>(rows * header.shape.width));
    for (std::int64_t frame = 0; frame < std::min<std::int64_t>(header.frames, 3); ++frame) {
        try {
            source.read_rows(frame, {0, rows}, values);
            source.read_rows(frame, {header.shape.height - rows, header.shape.height}, values);
        } catch (const InvalidFile&) {
            continue; // the next frame may be readable
        }
    }
}

/// Reads the first and last samples of an array, or all samples of a small one.
inline void read_some(ArraySource& source) {
    const ArrayHeader& header = source.header();
    if (header.lengths.empty() || header.chunk.size() != header.lengths.size())
        throw std::logic_error("an array without axes or chunks");
    Elements left = 1 << 20;
    ArrayBlock first{std::vector<std::int64_t>(header.lengths.size(), 0), header.lengths};
    for (std::size_t axis = header.lengths.size(); axis-- > 0; left /= first.count[axis])
        first.count[axis] = std::min(header.lengths[axis], left);
    ArrayBlock last = first;
    for (std::size_t axis = 0; axis < header.lengths.size(); ++axis)
        last.start[axis] = header.lengths[axis] - last.count[axis];
    std::vector<std::byte> samples(
        static_cast<std::size_t>(first.elements() * size_of(header.sample)));
    for (const ArrayBlock& block : {first, last}) {
        source.is_fill(block);
        try {
            source.read(block, samples);
        } catch (const InvalidFile&) {
            continue; // the other block may be readable
        }
    }
}

} // namespace sextant::test
