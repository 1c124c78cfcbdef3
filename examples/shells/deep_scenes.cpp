// SPDX-License-Identifier: BSD-3-Clause

#include "examples/shells/deep_scenes.hpp"

#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sextant::kernel {

namespace {

struct Shell {
    float x, y, depth, radius; // in units of half the image's longer side
    RgbaF32 colour;
};

/// The shell with this number. Radii increase with the number, and centres oscillate about the
/// middle; every fourth shell has the shape of the previous one in another colour.
Shell shell_of(const Shells& scene, int number) {
    const int place = number % 4 == 3 ? number - 1 : number;
    const float turn = 2.4f * static_cast<float>(place);
    const float radius =
        .9f * static_cast<float>(place + 1) / static_cast<float>(std::max(1, scene.count));
    const float opacity = .25f + .05f * static_cast<float>(number % 7);
    const auto shade = [&](float phase) {
        return opacity * (.5f + .5f * std::cos(1.7f * static_cast<float>(number) + phase));
    };
    return {.1f * std::cos(turn),
            .1f * std::sin(turn),
            2 + .1f * std::sin(.5f * turn),
            radius,
            {shade(0), shade(2.1f), shade(4.2f), opacity}};
}

void add_where_met(const Shell& shell, float x, float y, std::vector<Fragment>& fragments) {
    const float dx = x - shell.x, dy = y - shell.y;
    const float inside = shell.radius * shell.radius - dx * dx - dy * dy;
    if (inside < 0)
        return;
    const auto& [r, g, b, a] = shell.colour;
    for (const float side : {-1.0f, 1.0f})
        fragments.push_back({r, g, b, a, shell.depth + side * std::sqrt(inside)});
}

} // namespace

DeepImage draw_shells(const Shells& scene, int part, int parts) {
    if (part < 0 || part >= parts)
        throw std::logic_error("no such part of the shells");
    const float half = static_cast<float>(std::max(scene.shape.width, scene.shape.height)) / 2;
    DeepImage image{scene.shape, {0}, {}};
    for (Elements pixel = 0; pixel < scene.shape.elements(); ++pixel) {
        const auto x = static_cast<float>(pixel % scene.shape.width) + .5f;
        const auto y = static_cast<float>(pixel / scene.shape.width) + .5f;
        std::vector<Fragment> met;
        for (int number = part; number < scene.count; number += parts)
            add_where_met(shell_of(scene, number), x / half - 1, y / half - 1, met);
        std::stable_sort(met.begin(), met.end(),
                         [](const Fragment& a, const Fragment& b) { return a.depth < b.depth; });
        image.fragments.insert(image.fragments.end(), met.begin(), met.end());
        image.first.push_back(static_cast<Elements>(image.fragments.size()));
    }
    return image;
}

std::vector<RgbaF32> blend_sorted(std::span<const DeepImage> images) {
    for (const DeepImage& image : images) {
        if (image.shape != images[0].shape)
            throw std::logic_error("the deep images have different shapes");
    }
    std::vector<RgbaF32> picture;
    for (Elements pixel = 0; pixel < images[0].shape.elements(); ++pixel) {
        std::vector<Fragment> all;
        for (const DeepImage& image : images)
            all.insert(all.end(), image.at(pixel).begin(), image.at(pixel).end());
        std::stable_sort(all.begin(), all.end(),
                         [](const Fragment& a, const Fragment& b) { return a.depth < b.depth; });
        RgbaF32 sum;
        for (const Fragment& next : all)
            sum = over(sum, {next.r, next.g, next.b, next.a});
        picture.push_back(sum);
    }
    return picture;
}

} // namespace sextant::kernel
