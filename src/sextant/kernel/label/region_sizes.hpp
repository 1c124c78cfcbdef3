// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sextant::kernel {

/// The numbers of planes, rows and columns of a volume.
struct VolumeShape {
    Elements depth = 0, height = 0, width = 0;
    /// True for an image whose rows are treated as planes of one row: there is no border above and
    /// below a row within its plane.
    bool of_rows = false;
    Elements elements() const { return depth * height * width; }
    bool operator==(const VolumeShape&) const = default;
};

/// The size, box and centroid of a component or region. Suffices for most tables, and takes a third
/// of the memory of a Body. Coordinates are (z, y, x); voxel centres have integer coordinates. An
/// image is a volume of one plane.
struct RegionSize {
    Elements first = -1; ///< the first voxel: (z · height + y) · width + x
    Elements voxels = 0;
    std::array<Elements, 3> low{}, high{}; ///< the box: first and last coordinates
    std::array<Elements, 3> sums{};        ///< of the coordinates

    /// Adds the voxels begin … end − 1 of a row.
    void add_run(Elements z, Elements y, Elements begin, Elements end, const VolumeShape& volume) {
        const Elements count = end - begin;
        if (voxels == 0) {
            first = (z * volume.height + y) * volume.width + begin;
            low = {z, y, begin};
            high = {z, y, end - 1};
        } else {
            low = {std::min(low[0], z), std::min(low[1], y), std::min(low[2], begin)};
            high = {std::max(high[0], z), std::max(high[1], y), std::max(high[2], end - 1)};
        }
        voxels += count;
        sums[0] += count * z;
        sums[1] += count * y;
        sums[2] += count * (begin + end - 1) / 2;
    }

    /// Adds another part of the same region.
    void add(const RegionSize& other) {
        if (voxels == 0 || other.voxels == 0) {
            *this = voxels == 0 ? other : *this;
            return;
        }
        first = std::min(first, other.first);
        voxels += other.voxels;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], other.low[axis]);
            high[axis] = std::max(high[axis], other.high[axis]);
            sums[axis] += other.sums[axis];
        }
    }

    std::array<double, 3> centroid() const {
        const auto count = static_cast<double>(voxels);
        return {static_cast<double>(sums[0]) / count, static_cast<double>(sums[1]) / count,
                static_cast<double>(sums[2]) / count};
    }

    /// Converts a region of an image whose rows were treated as planes: rows become coordinate y.
    RegionSize of_image() const {
        RegionSize size = *this;
        std::swap(size.low[0], size.low[1]);
        std::swap(size.high[0], size.high[1]);
        std::swap(size.sums[0], size.sums[1]);
        return size;
    }

    bool operator==(const RegionSize&) const = default;
};

} // namespace sextant::kernel
