// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/image.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant {

namespace {

std::string fault_of_lists(const DeepImage& image) {
    const auto expected = static_cast<std::size_t>(image.shape.elements()) + 1;
    if (image.first.size() != expected) {
        return fmt::format("has {} fragment offsets, expected {}", image.first.size(), expected);
    }
    if (image.first.front() != 0 || !std::is_sorted(image.first.begin(), image.first.end()) ||
        image.first.back() != static_cast<Elements>(image.fragments.size())) {
        return fmt::format("has fragment offsets that do not ascend from 0 to {}",
                           image.fragments.size());
    }
    return "";
}

/// Checks the depths of one pixel's fragments.
std::string fault_of_depths(std::span<const Fragment> fragments) {
    for (std::size_t i = 0; i < fragments.size(); ++i) {
        const float depth = fragments[i].depth;
        if (std::isnan(depth))
            return fmt::format("the depth of fragment {} is NaN", i);
        if (i > 0 && depth < fragments[i - 1].depth) {
            return fmt::format("fragment {} at depth {} comes after one at {}, expected nearest "
                               "first",
                               i, depth, fragments[i - 1].depth);
        }
    }
    return "";
}

} // namespace

DeepImage empty_deep_image(ImageShape shape) {
    return {shape, std::vector<Elements>(static_cast<std::size_t>(shape.elements()) + 1), {}};
}

std::string fault_of(const DeepImage& image) {
    std::string fault = fault_of_lists(image);
    for (Elements pixel = 0; fault.empty() && pixel < image.shape.elements(); ++pixel) {
        const std::string found = fault_of_depths(image.at(pixel));
        if (!found.empty())
            fault = fmt::format("pixel ({}, {}): {}", pixel % image.shape.width,
                                pixel / image.shape.width, found);
    }
    return fault;
}

} // namespace sextant
