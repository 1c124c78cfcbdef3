// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/bodies.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace sextant::test {

/// True if voxels at this distance touch.
inline bool touch(kernel::Neighbours neighbours, int dz, int dy, int dx) {
    const int steps = std::abs(dz) + std::abs(dy) + std::abs(dx);
    return steps > 0 && steps <= (neighbours == kernel::Neighbours::six        ? 1
                                  : neighbours == kernel::Neighbours::eighteen ? 2
                                                                               : 3);
}

/// Labels in the order of first voxels.
template <class Sample>
std::vector<kernel::Label> flooded(const std::vector<Sample>& samples,
                                   const kernel::VolumeShape& shape,
                                   kernel::Connection connection) {
    std::vector<kernel::Label> labels(samples.size(), 0);
    kernel::Label count = 0;
    const auto at = [&](Elements z, Elements y, Elements x) {
        return static_cast<std::size_t>((z * shape.height + y) * shape.width + x);
    };
    for (std::size_t first = 0; first < samples.size(); ++first) {
        if (samples[first] == 0 || labels[first] != 0)
            continue;
        std::vector<std::size_t> open{first};
        labels[first] = ++count;
        while (!open.empty()) {
            const auto here = static_cast<Elements>(open.back());
            open.pop_back();
            const Elements x = here % shape.width, y = here / shape.width % shape.height,
                           z = here / shape.width / shape.height;
            for (int dz = -1; dz <= 1; ++dz)
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) {
                        if (!touch(connection.neighbours, dz, dy, dx) || z + dz < 0 ||
                            z + dz >= shape.depth || y + dy < 0 || y + dy >= shape.height ||
                            x + dx < 0 || x + dx >= shape.width)
                            continue;
                        const std::size_t there = at(z + dz, y + dy, x + dx);
                        const bool same = connection.sameness == kernel::Sameness::foreground ||
                                          samples[there] == samples[static_cast<std::size_t>(here)];
                        if (samples[there] == 0 || !same || labels[there] != 0)
                            continue;
                        labels[there] = count;
                        open.push_back(there);
                    }
        }
    }
    return labels;
}

/// The measures of labelled components, voxel by voxel. `shape.of_rows`: of an image, a plane.
inline std::vector<kernel::Body> measured(const std::vector<kernel::Label>& labels,
                                          const kernel::VolumeShape& shape,
                                          const std::vector<float>& intensity) {
    const kernel::Label count = labels.empty() ? 0 : *std::ranges::max_element(labels);
    std::vector<kernel::Body> bodies(static_cast<std::size_t>(count));
    const auto label_at = [&](Elements z, Elements y, Elements x) {
        const bool inside =
            z >= 0 && z < shape.depth && y >= 0 && y < shape.height && x >= 0 && x < shape.width;
        return inside ? labels[static_cast<std::size_t>((z * shape.height + y) * shape.width + x)]
                      : -1;
    };
    for (Elements i = 0; i < shape.elements(); ++i) {
        const Elements x = i % shape.width, y = i / shape.width % shape.height,
                       z = i / shape.width / shape.height;
        const kernel::Label label = labels[static_cast<std::size_t>(i)];
        if (label == 0)
            continue;
        kernel::Body& body = bodies[static_cast<std::size_t>(label - 1)];
        const std::array<Elements, 3> at = {z, y, x};
        if (body.voxels == 0) {
            body.first = i;
            body.low = body.high = at;
        }
        ++body.voxels;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            body.low[axis] = std::min(body.low[axis], at[axis]);
            body.high[axis] = std::max(body.high[axis], at[axis]);
            body.sums[axis] += at[axis];
        }
        const Elements products[] = {z * z, y * y, x * x, z * y, z * x, y * x};
        for (std::size_t k = 0; k < 6; ++k)
            body.products[k] += products[k];
        for (const kernel::Label before :
             {label_at(z - 1, y, x), label_at(z, y - 1, x), label_at(z, y, x - 1)})
            body.contacts += before == label ? 1 : 0;
        body.at_border = body.at_border || y == 0 || x == 0 || y + 1 == shape.height ||
                         x + 1 == shape.width ||
                         (!shape.of_rows && (z == 0 || z + 1 == shape.depth));
        const auto value = static_cast<double>(intensity[static_cast<std::size_t>(i)]);
        body.intensity += value;
        body.least = std::min(body.least, value);
        body.largest = std::max(body.largest, value);
    }
    return bodies;
}

} // namespace sextant::test
