// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/direction_map.hpp"

#include "sextant/core/error.hpp"
#include "sextant/distributed/canny.hpp"
#include "sextant/distributed/sample_view.hpp"

#include <fmt/format.h>

namespace sextant::distributed {

void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to) {
    const Tile& tile = samples.tile;
    const auto convert = [&](const auto* first) {
        for (Elements i = 0; i < tile.elements(); ++i) {
            const auto code = static_cast<float>(first[i]);
            if (!(code >= kernel::edge_end && code <= 7 &&
                  code == static_cast<float>(static_cast<int>(code))))
                throw InvalidFile(path, fmt::format("has {} at ({}, {}), expected a direction: -2 "
                                                    "to 7",
                                                    code, tile.x + i % tile.width,
                                                    tile.y + i / tile.width));
            to[i] = static_cast<kernel::Direction>(code);
        }
    };
    std::visit(convert, samples.first);
}

Image directions_from(const Image& samples, const std::string& path) {
    Image directions(samples.communicator(), samples.grid(), direction_i8);
    convert_directions(sample_view(samples), path,
                       reinterpret_cast<kernel::Direction*>(directions.bytes().data()));
    return directions;
}

} // namespace sextant::distributed
