// SPDX-License-Identifier: BSD-3-Clause
#include "volume.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace brain {

namespace {

using Imath::V3d;
using Imath::V3i;
using sextant::InvalidFile;

void check_header(const std::string& path, const sextant::FrameHeader& header) {
    const std::vector<std::int64_t>& lengths = header.axes.lengths; // planes, rows, columns
    std::size_t axes = lengths.size();
    while (axes > 3 && lengths[lengths.size() - axes] == 1)
        --axes;
    if (axes > 3)
        throw InvalidFile(path, fmt::format("has {} dimensions, expected 3", axes));
    if (header.stated_frames > header.frames) {
        throw InvalidFile(path, fmt::format("contains only {} of its {} planes: truncated",
                                            header.frames, header.stated_frames));
    }
    const auto [width, height] = header.shape;
    if (std::min({width, height, header.frames}) < 2 ||
        std::max({width, height, header.frames}) > std::numeric_limits<int>::max()) {
        throw InvalidFile(path, fmt::format("has {}x{}x{} voxels, expected at least 2x2x2", width,
                                            height, header.frames));
    }
}

/// The distances of neighbouring voxels; 1 if the file states none.
V3d spacing_of(const std::string& path, const sextant::FrameHeader& header) {
    if (!header.grid)
        return V3d(1);
    const auto [x, y, z] = header.grid->spacing;
    const auto [least, greatest] = std::minmax({x, y, z});
    if (!(least > 0) || !(greatest <= 100 * least)) {
        throw InvalidFile(path, fmt::format("has voxels of {}x{}x{}, expected positive lengths of "
                                            "similar size",
                                            x, y, z));
    }
    return V3d(x, y, z) / least;
}

/// The eight voxels around a position, and along each axis the weight of the far ones.
struct Cell {
    int first[3];
    float weight[3];
    const float* corner;
    std::ptrdiff_t row, slice;
};

Cell cell_at(const Volume& volume, const V3d& position) {
    Cell cell{{}, {}, nullptr, volume.size.x, std::ptrdiff_t{volume.size.x} * volume.size.y};
    for (int axis = 0; axis < 3; ++axis) {
        const double inside = std::clamp(position[axis], 0.0, volume.size[axis] - 1.0);
        cell.first[axis] = std::min(static_cast<int>(inside), volume.size[axis] - 2);
        cell.weight[axis] = static_cast<float>(inside - cell.first[axis]);
    }
    cell.corner = volume.values.data() + cell.first[0] + cell.first[1] * cell.row +
                  cell.first[2] * cell.slice;
    return cell;
}

/// The density at the cell's position, shifted by this number of voxels in memory.
float interpolated(const Cell& cell, std::ptrdiff_t shift) {
    const auto along_x = [&](std::ptrdiff_t i) {
        const float* const voxel = cell.corner + shift + i;
        return voxel[0] + cell.weight[0] * (voxel[1] - voxel[0]);
    };
    const auto along_y = [&](std::ptrdiff_t i) {
        const float near = along_x(i);
        return near + cell.weight[1] * (along_x(i + cell.row) - near);
    };
    const float near = along_y(0);
    return near + cell.weight[2] * (along_y(cell.slice) - near);
}

/// Writes, for each of `count` voxels `stride` apart, the mean over its 2 radius + 1 neighbours.
void blur_row(const float* from, float* to, int count, std::ptrdiff_t stride, int radius) {
    const auto at = [&](int i) { return from[std::clamp(i, 0, count - 1) * stride]; };
    float sum = 0;
    for (int i = -radius; i <= radius; ++i)
        sum += at(i);
    for (int i = 0; i < count; ++i) {
        to[i * stride] = sum / static_cast<float>(2 * radius + 1);
        sum += at(i + radius + 1) - at(i - radius);
    }
}

} // namespace

Volume read_volume(const std::string& path) {
    const auto source = sextant::format::open_frames(path, {.every_plane = true});
    const sextant::FrameHeader& header = source->header();
    check_header(path, header);
    Volume volume{V3i(static_cast<int>(header.shape.width), static_cast<int>(header.shape.height),
                      static_cast<int>(header.frames)),
                  spacing_of(path, header),
                  {}};
    const auto plane = static_cast<std::size_t>(header.shape.elements());
    volume.values.resize(plane * static_cast<std::size_t>(header.frames));
    for (std::int64_t z = 0; z < header.frames; ++z)
        source->read_frame(
            z, std::span(volume.values).subspan(plane * static_cast<std::size_t>(z), plane));
    std::replace_if(
        volume.values.begin(), volume.values.end(), [](float v) { return !std::isfinite(v); }, 0.F);
    const auto [least, greatest] = std::minmax_element(volume.values.begin(), volume.values.end());
    const double first = *least, range = static_cast<double>(*greatest) - first;
    if (!(range > 0)) {
        throw InvalidFile(path, fmt::format("has values from {} to {}, expected different values",
                                            first, *greatest));
    }
    for (float& value : volume.values)
        value = static_cast<float>((value - first) / range);
    return volume;
}

Volume blurred(Volume volume, int radius) {
    const auto row = std::ptrdiff_t{volume.size.x}, slice = row * volume.size.y;
    const std::ptrdiff_t strides[3] = {1, row, slice};
    for (int axis = 0; axis < 3; ++axis) {
        const auto from = volume.values;
        const int across = (axis + 1) % 3, along = (axis + 2) % 3;
        for (int j = 0; j < volume.size[along]; ++j) {
            for (int i = 0; i < volume.size[across]; ++i) {
                const auto start = i * strides[across] + j * strides[along];
                blur_row(from.data() + start, volume.values.data() + start, volume.size[axis],
                         strides[axis], radius);
            }
        }
    }
    return volume;
}

float Volume::at(const V3d& position) const {
    return interpolated(cell_at(*this, position), 0);
}

V3d Volume::gradient(const V3d& position) const {
    const Cell cell = cell_at(*this, position);
    const auto row = std::ptrdiff_t{size.x}, slice = row * size.y;
    const std::ptrdiff_t strides[3] = {1, row, slice};
    V3d slope;
    for (int axis = 0; axis < 3; ++axis) { // differences are one-sided at the border
        const int back = cell.first[axis] > 0 ? 1 : 0;
        const int forth = cell.first[axis] < size[axis] - 2 ? 1 : 0;
        const float difference =
            interpolated(cell, forth * strides[axis]) - interpolated(cell, -back * strides[axis]);
        slope[axis] = difference / (std::max(1, back + forth) * spacing[axis]);
    }
    return slope;
}

} // namespace brain
