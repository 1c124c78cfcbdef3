// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/edge_detector.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/label_references.hpp"
#include "tests/support/random.hpp"

// Gradient fields, from which edges are detected.
namespace sextant::test {

struct GradientField {
    std::string name;
    ImageShape shape;
    std::vector<float> x, y;

    kernel::GradientView view() const { return {x.data(), y.data(), shape.width, shape}; }
};

inline Tile whole_of(ImageShape shape) {
    return {0, 0, shape.width, shape.height};
}

template <class Make>
GradientField field_of(std::string name, ImageShape shape, Make&& make) {
    GradientField field{std::move(name), shape, {}, {}};
    for (Elements j = 0; j < shape.height; ++j) {
        for (Elements i = 0; i < shape.width; ++i) {
            const auto [x, y] = make(static_cast<float>(i), static_cast<float>(j));
            field.x.push_back(x);
            field.y.push_back(y);
        }
    }
    return field;
}

/// Gradient of a bright disc with a soft rim: towards the centre, of magnitude 1 at the rim.
inline GradientField disc_gradient(ImageShape shape, float x, float y, float radius) {
    return field_of("disc", shape, [=](float i, float j) {
        const float away = std::max(std::hypot(i - x, j - y), 1e-3F);
        const float length = std::exp(-(away - radius) * (away - radius) / 2);
        return std::pair((x - i) / away * length, (y - j) / away * length);
    });
}

/// One field of each kind.
inline std::vector<GradientField> gradient_fields(ImageShape shape) {
    Random random(3);
    const auto chance = [&random](int most) {
        return static_cast<float>(random.number(-most, most)) / 3;
    };
    std::vector<GradientField> all;
    all.push_back(field_of("noise", shape, [&](float, float) {
        return std::pair(chance(999) / 99, chance(999) / 99);
    }));
    all.push_back(field_of("few values, with ties", shape,
                           [&](float, float) { return std::pair(chance(2), chance(2)); }));
    all.push_back(field_of("flat", shape, [](float, float) { return std::pair(0.F, 0.F); }));
    all.push_back(field_of("ramp", shape, [](float, float) { return std::pair(1.5F, 1.5F); }));
    all.push_back(field_of("waves", shape, [](float i, float j) {
        return std::pair(3 * std::sin(i / 3 + j / 5), 3 * std::cos(j / 4 - i / 9));
    }));
    all.push_back(disc_gradient(shape, static_cast<float>(shape.width) / 2,
                                static_cast<float>(shape.height) / 2, 9));
    return all;
}

} // namespace sextant::test
