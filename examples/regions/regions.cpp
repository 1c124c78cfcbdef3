// SPDX-License-Identifier: BSD-3-Clause
#include "regions.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::example {

namespace {

/// The brightness band of each sample, numbered from 1 because 0 means background.
distributed::Image bands_of(const distributed::Image& image, int bands) {
    distributed::Image made(image.communicator(), image.grid(), gray_u8);
    std::ranges::transform(image.bytes(), made.bytes().begin(), [bands](std::byte sample) {
        return std::byte(1 + std::to_integer<int>(sample) * bands / 256);
    });
    return made;
}

/// A region's label and the sum of its samples in one tile.
struct Light {
    kernel::Label label;
    Elements sum;
};

std::vector<Light> light_in(const distributed::Image& image, const Labelled& labelled) {
    std::vector<Light> light;
    for (const Labelled::Part& part : labelled.parts)
        light.push_back({part.label, 0});
    std::ranges::sort(light, {}, &Light::label);
    const auto* label = reinterpret_cast<const kernel::Label*>(labelled.labels.bytes().data());
    for (const std::byte sample : image.bytes()) {
        const auto region = std::ranges::lower_bound(light, *label++, {}, &Light::label);
        region->sum += std::to_integer<int>(sample);
    }
    return light;
}

} // namespace

std::vector<Region> grow_regions(const distributed::Image& image, int bands,
                                 const contour::Pattern& pattern) {
    const Communicator& communicator = image.communicator();
    agree(communicator, [&] {
        if (image.element() != gray_u8 || bands < 1 || bands > 255)
            throw InvalidTask(fmt::format("{} bands of {}, expected 1 to 255 of {}", bands,
                                          image.element().name, gray_u8.name));
    });
    const kernel::Connection by_value{kernel::Neighbours::four, kernel::Sameness::value};
    const Labelled labelled = label_components(bands_of(image, bands), by_value, pattern);
    std::vector<std::vector<Light>> to(static_cast<std::size_t>(communicator.size()));
    to[0] = light_in(image, labelled);
    const ByRank<Light> light = all_to_all_lists(communicator, to);
    std::vector<Region> regions;
    for (const kernel::RegionSize& component : gather_components(labelled))
        regions.push_back({component, 0});
    std::vector<Elements> sums(regions.size(), 0); // integers, so sums do not depend on order
    for (const Light& part : light.values)
        sums[static_cast<std::size_t>(part.label - 1)] += part.sum;
    for (std::size_t i = 0; i < regions.size(); ++i)
        regions[i].brightness =
            static_cast<double>(sums[i]) / static_cast<double>(regions[i].pixels.voxels);
    return regions;
}

} // namespace sextant::example
