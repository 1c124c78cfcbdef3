// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/random.hpp"

// Synthetic images of lines and regions, the same on every platform, for tests and benchmarks of
// components and contours.
namespace sextant::test {

/// An image of bytes, row by row; 0 is the background.
struct Shape {
    std::string name;
    ImageShape image;
    std::vector<std::uint8_t> samples;

    std::uint8_t& at(Elements x, Elements y) {
        return samples[static_cast<std::size_t>(y * image.width + x)];
    }
};

/// A shape from a function of x and y.
inline Shape shape_of(std::string name, ImageShape image,
                      const std::function<int(Elements x, Elements y)>& sample) {
    Shape made{std::move(name), image, {}};
    made.samples.reserve(static_cast<std::size_t>(image.elements()));
    for (Elements y = 0; y < image.height; ++y) {
        for (Elements x = 0; x < image.width; ++x)
            made.samples.push_back(static_cast<std::uint8_t>(sample(x, y)));
    }
    return made;
}

/// Random pixels.
inline Shape random_shape(ImageShape image, int percent, unsigned seed = 1) {
    Random random(seed);
    return shape_of("random " + std::to_string(percent) + " %", image,
                    [&](Elements, Elements) { return random.chance(percent) ? 255 : 0; });
}

/// Random pixels with `values` different values, including 0.
inline Shape values_shape(ImageShape image, int values, unsigned seed = 1) {
    Random random(seed);
    return shape_of(std::to_string(values) + " values", image,
                    [&](Elements, Elements) { return random.number(0, values - 1); });
}

/// Regions about `size` pixels across, with values 0, 1, … values − 1: random numbers on a lattice,
/// interpolated and quantised.
inline Shape blobs(ImageShape image, int size, int values = 2, unsigned seed = 1) {
    Random random(seed);
    const Elements columns = image.width / size + 2;
    std::vector<int> lattice(static_cast<std::size_t>(columns * (image.height / size + 2)));
    for (int& number : lattice)
        number = random.number(0, 9999);
    const auto node = [&](Elements i, Elements j) {
        return static_cast<Elements>(lattice[static_cast<std::size_t>(j * columns + i)]);
    };
    return shape_of("blobs", image, [=](Elements x, Elements y) {
        const Elements i = x / size, j = y / size, u = x % size, v = y % size;
        const Elements sum = (size - v) * ((size - u) * node(i, j) + u * node(i + 1, j)) +
                             v * ((size - u) * node(i, j + 1) + u * node(i + 1, j + 1));
        return static_cast<int>(sum * values / (Elements{10000} * size * size));
    });
}

/// Every n-th column.
inline Shape vertical_lines(ImageShape image, int every) {
    return shape_of("vertical lines", image,
                    [=](Elements x, Elements) { return x % every == every / 2 ? 255 : 0; });
}

/// Every n-th diagonal, downward to the right.
inline Shape diagonal_lines(ImageShape image, int every) {
    return shape_of("diagonal lines", image, [=](Elements x, Elements y) {
        return (x - y + every * image.height) % every == 0 ? 255 : 0;
    });
}

/// The pixels of a path through an image, in order: back and forth along every second row.
inline std::vector<std::pair<Elements, Elements>> snake_path(ImageShape image) {
    std::vector<std::pair<Elements, Elements>> path;
    for (Elements y = 0; y < image.height; ++y) {
        const bool to_the_right = y % 4 == 0;
        if (y % 2 == 1) {
            path.emplace_back(y % 4 == 1 ? image.width - 1 : 0, y);
            continue;
        }
        for (Elements i = 0; i < image.width; ++i)
            path.emplace_back(to_the_right ? i : image.width - 1 - i, y);
    }
    return path;
}

/// The pixels of an inward spiral, in order, with one pixel between two windings.
inline std::vector<std::pair<Elements, Elements>> spiral_path(ImageShape image) {
    std::vector<std::pair<Elements, Elements>> path;
    Elements left = 0, top = 0, right = image.width - 1, bottom = image.height - 1;
    Elements x = 0, y = 0;
    const auto go = [&](Elements to_x, Elements to_y) {
        while (x != to_x || y != to_y) {
            x += (to_x > x) - (to_x < x);
            y += (to_y > y) - (to_y < y);
            path.emplace_back(x, y);
        }
    };
    if (image.elements() > 0)
        path.emplace_back(0, 0);
    while (true) {
        if (right <= x)
            break;
        go(right, y), top += 2;
        if (bottom <= y)
            break;
        go(x, bottom), right -= 2;
        if (left >= x)
            break;
        go(left, y), bottom -= 2;
        if (top >= y)
            break;
        go(x, top), left += 2;
    }
    return path;
}

inline Shape shape_of_configuration(std::string name, ImageShape image,
                                    const std::vector<std::pair<Elements, Elements>>& path) {
    Shape made = shape_of(std::move(name), image, [](Elements, Elements) { return 0; });
    for (const auto& [x, y] : path)
        made.at(x, y) = 255;
    return made;
}

/// One shape of each kind.
inline std::vector<Shape> shapes(ImageShape image) {
    std::vector<Shape> all;
    for (const int percent : {0, 5, 30, 50, 62, 90, 100})
        all.push_back(random_shape(image, percent, static_cast<unsigned>(percent)));
    all.push_back(values_shape(image, 3));
    all.push_back(blobs(image, 9));
    all.push_back(blobs(image, 7, 4));
    all.push_back(vertical_lines(image, 4));
    all.push_back(diagonal_lines(image, 4));
    all.push_back(diagonal_lines(image, 2));
    all.push_back(shape_of_configuration("snake", image, snake_path(image)));
    all.push_back(shape_of_configuration("spiral", image, spiral_path(image)));
    return all;
}

} // namespace sextant::test
