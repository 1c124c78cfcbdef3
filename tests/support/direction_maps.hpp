// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/directions.hpp"

#include "tests/support/shapes.hpp"

// Direction maps of lines, paths and rings, and random maps.
namespace sextant::test {

struct DirectionMap {
    std::string name;
    ImageShape image;
    std::vector<kernel::Direction> codes;

    kernel::Direction& at(Elements x, Elements y) {
        return codes[static_cast<std::size_t>(y * image.width + x)];
    }
    kernel::DirectionView view() const {
        return {codes.data(), image.width, {0, 0, image.width, image.height}, image};
    }
};

inline DirectionMap no_directions(std::string name, ImageShape image) {
    return {std::move(name), image,
            std::vector<kernel::Direction>(static_cast<std::size_t>(image.elements()),
                                           kernel::no_edge)};
}

/// The direction from one pixel to a neighbour.
inline kernel::Direction direction_of(Elements dx, Elements dy) {
    for (kernel::Direction code = 0; code < 8; ++code) {
        if (kernel::steps[code].x == dx && kernel::steps[code].y == dy)
            return code;
    }
    return kernel::edge_end;
}

/// Sets the directions along a path, from its first pixel to its last or in reverse.
inline void follow_path(DirectionMap& map, std::vector<std::pair<Elements, Elements>> path,
                        bool reversed = false) {
    if (reversed)
        std::reverse(path.begin(), path.end());
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto [x, y] = path[i];
        map.at(x, y) = i + 1 == path.size()
                           ? kernel::edge_end
                           : direction_of(path[i + 1].first - x, path[i + 1].second - y);
    }
}

/// Gives all pixels of a shape the same direction; a pixel whose neighbour is outside ends its
/// line.
inline DirectionMap directed(const Shape& shape, kernel::Direction code) {
    DirectionMap map = no_directions(shape.name, shape.image);
    const auto inside = [&](Elements x, Elements y) {
        return x >= 0 && x < shape.image.width && y >= 0 && y < shape.image.height &&
               shape.samples[static_cast<std::size_t>(y * shape.image.width + x)] != 0;
    };
    for (Elements y = 0; y < shape.image.height; ++y) {
        for (Elements x = 0; x < shape.image.width; ++x) {
            if (inside(x, y))
                map.at(x, y) = inside(x + kernel::steps[code].x, y + kernel::steps[code].y)
                                   ? code
                                   : kernel::edge_end;
        }
    }
    return map;
}

/// Gives each pixel of a shape the direction of a random neighbour in the shape, or ends its line.
inline DirectionMap random_directions(const Shape& shape, unsigned seed, int percent_ends = 5) {
    Random random(seed);
    DirectionMap map = no_directions("random directions, " + shape.name, shape.image);
    for (Elements y = 0; y < shape.image.height; ++y) {
        for (Elements x = 0; x < shape.image.width; ++x) {
            const auto inside = [&](kernel::Direction code) {
                const Elements i = x + kernel::steps[code].x, j = y + kernel::steps[code].y;
                return i >= 0 && i < shape.image.width && j >= 0 && j < shape.image.height &&
                       shape.samples[static_cast<std::size_t>(j * shape.image.width + i)] != 0;
            };
            if (shape.samples[static_cast<std::size_t>(y * shape.image.width + x)] == 0)
                continue;
            map.at(x, y) = kernel::edge_end;
            const auto first = static_cast<kernel::Direction>(random.number(0, 7));
            for (int k = 0; k < 8 && map.at(x, y) == kernel::edge_end; ++k) {
                const auto code = static_cast<kernel::Direction>((first + k) % 8);
                if (inside(code))
                    map.at(x, y) = code;
            }
            if (random.chance(percent_ends))
                map.at(x, y) = kernel::edge_end;
        }
    }
    return map;
}

/// Nested closed contours, alternately clockwise and anticlockwise.
inline DirectionMap rings(ImageShape image) {
    DirectionMap map = no_directions("rings", image);
    for (Elements inset = 0; 2 * inset + 1 < std::min(image.width, image.height); inset += 2) {
        const Elements left = inset, top = inset, right = image.width - 1 - inset,
                       bottom = image.height - 1 - inset;
        if (right <= left || bottom <= top)
            break;
        std::vector<std::pair<Elements, Elements>> path;
        for (Elements x = left; x < right; ++x)
            path.emplace_back(x, top);
        for (Elements y = top; y < bottom; ++y)
            path.emplace_back(right, y);
        for (Elements x = right; x > left; --x)
            path.emplace_back(x, bottom);
        for (Elements y = bottom; y > top; --y)
            path.emplace_back(left, y);
        if (inset % 4 == 2)
            std::reverse(path.begin(), path.end());
        for (std::size_t i = 0; i < path.size(); ++i) {
            const auto& [x, y] = path[i];
            const auto& [to_x, to_y] = path[(i + 1) % path.size()];
            map.at(x, y) = direction_of(to_x - x, to_y - y);
        }
    }
    return map;
}

inline DirectionMap map_of_path(std::string name, ImageShape image,
                                const std::vector<std::pair<Elements, Elements>>& path,
                                bool reversed) {
    DirectionMap map = no_directions(std::move(name), image);
    follow_path(map, path, reversed);
    return map;
}

/// One map of each kind.
inline std::vector<DirectionMap> direction_maps(ImageShape image) {
    std::vector<DirectionMap> all;
    all.push_back(no_directions("none", image));
    for (const kernel::Direction code : {0, 2, 4, 6}) {
        all.push_back(directed(random_shape(image, 100), code));
        all.push_back(directed(vertical_lines(image, 3), code));
    }
    for (const kernel::Direction code : {1, 5})
        all.push_back(directed(diagonal_lines(image, 2), code));
    for (const kernel::Direction code : {3, 7})
        all.push_back(directed(random_shape(image, 80), code));
    for (const bool reversed : {false, true}) {
        all.push_back(map_of_path("snake", image, snake_path(image), reversed));
        all.push_back(map_of_path("spiral", image, spiral_path(image), reversed));
    }
    all.push_back(rings(image));
    for (const int percent : {20, 50, 80, 100})
        all.push_back(random_directions(random_shape(image, percent), 7));
    all.push_back(random_directions(blobs(image, 8), 8, 0));
    return all;
}

} // namespace sextant::test
