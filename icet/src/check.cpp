// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include "sextant/core/element.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace sextant::icet {

namespace {

/// The channels of a pixel, colours first.
using Channels = std::vector<double>;

Channels channels_of(const std::byte* pixel, const ElementFormat& element) {
    Channels channels;
    const auto floats = [&](const std::byte* first, int count) {
        for (int i = 0; i < count; ++i)
            channels.push_back(static_cast<double>(reinterpret_cast<const float*>(first)[i]));
    };
    if (element == rgba_u8 || element == rgba_u8_depth_f32) {
        for (int i = 0; i < 4; ++i)
            channels.push_back(std::to_integer<int>(pixel[i]));
        if (element == rgba_u8_depth_f32)
            floats(pixel + 4, 1);
    } else {
        floats(pixel, static_cast<int>(element.size / 4));
    }
    return channels;
}

/// Blends a pixel over another or, with `by_depth`, keeps the nearer one.
void blend(Channels& front, const Channels& back, bool by_depth, double opaque) {
    if (by_depth) {
        const std::size_t alpha = front.size() - 2;
        const bool shows = front[alpha] == 0 && back[alpha] != 0;
        if (back.back() < front.back() || (back.back() == front.back() && shows))
            front = back;
        return;
    }
    const double through = 1 - front[3] / opaque;
    for (std::size_t i = 0; i < front.size(); ++i)
        front[i] += through * back[i];
}

/// This rank's image of a tile; pixels outside its part are empty.
std::vector<std::byte> image_of(const TileTask& task, const Composition& composition,
                                const DrawnPart& drawn) {
    std::vector<std::byte> image(
        static_cast<std::size_t>(task.pixels() * composition.element.size));
    kernel::find(composition.blend, composition.element).fill_identity(image.data(), task.pixels());
    if (!is_empty(drawn.part))
        pack(*drawn.planes, drawn.readback, composition, image.data(), drawn.part[0], drawn.part[1],
             task.tile[2]);
    return image;
}

/// The pixel `at` of the composited planes, in the channels of a composition.
Channels channels_of(const Pixels& planes, bool with_depth, std::size_t at) {
    Channels channels;
    const auto size = static_cast<std::size_t>(color_size(planes.color_format));
    const std::byte* const color = planes.color.data() + at * size;
    if (planes.color_format == ICET_IMAGE_COLOR_RGBA_UBYTE) {
        for (std::size_t i = 0; i < 4; ++i)
            channels.push_back(std::to_integer<int>(color[i]));
    } else {
        for (std::size_t i = 0; i < size / 4; ++i)
            channels.push_back(static_cast<double>(reinterpret_cast<const float*>(color)[i]));
    }
    if (with_depth)
        channels.push_back(
            static_cast<double>(reinterpret_cast<const float*>(planes.depth.data())[at]));
    return channels;
}

} // namespace

void check_frame(const Context& context, const TileTask& task, const DrawnPart& drawn,
                 const TileFrame& frame, const TilePiece& piece) {
    const Composition composition = composition_of(task.color_format, task.depth_format, task.mode);
    const ElementFormat& element = composition.element;
    const auto size = static_cast<std::size_t>(element.size);
    const auto pixels = static_cast<std::size_t>(task.pixels());
    const auto ranks = static_cast<std::size_t>(context.size());
    std::vector<std::byte> all(ranks * pixels * size);
    context.communicator().all_gather(image_of(task, composition, drawn), all);
    const bool by_depth = has_depth(element), bytes = channels(element) == "u8";
    const bool has_result_depth = by_depth && frame.keeps_depth;
    const double opaque = bytes ? 255 : 1;
    const double allowed =
        by_depth ? 0 : (bytes ? .5 : 1e-5) * static_cast<double>(ranks + 1) + 1e-9;
    const std::uint32_t word = word_of(frame.background);
    Channels background;
    for (std::size_t i = 0; i < 4; ++i)
        background.push_back(bytes ? word >> (8 * i) & 255
                                   : static_cast<double>(frame.background[i]));
    const auto colors =
        static_cast<std::size_t>(task.color_format == ICET_IMAGE_COLOR_NONE        ? 0
                                 : task.color_format == ICET_IMAGE_COLOR_RGB_FLOAT ? 3
                                                                                   : 4);
    for (Elements i = 0; i < piece.count; ++i) {
        const auto at = static_cast<std::size_t>(piece.first + i);
        const auto of = [&](int rank) {
            return channels_of(&all[(static_cast<std::size_t>(rank) * pixels + at) * size],
                               element);
        };
        Channels sum = of(frame.order[0]);
        for (std::size_t place = 1; place < ranks; ++place)
            blend(sum, of(frame.order[place]), by_depth, opaque);
        if (!by_depth) {
            blend(sum, background, false, opaque);
        } else if (!(sum.back() < 1)) {
            sum = background;
            sum.push_back(1);
        }
        Channels expected(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(colors));
        if (has_result_depth)
            expected.push_back(sum.back());
        const Channels found = channels_of(*frame.result, has_result_depth, at);
        for (std::size_t channel = 0; channel < found.size(); ++channel) {
            const double a = expected[channel], b = found[channel];
            if (a == b || std::abs(a - b) <= allowed || (std::isnan(a) && std::isnan(b)))
                continue;
            std::fprintf(
                stderr,
                "sextant: SEXTANT_ICET_CHECK: rank %d: channel %zu of pixel %zu, %zu is %g, "
                "expected %g\n",
                context.rank(), channel, at % static_cast<std::size_t>(task.tile[2]),
                at / static_cast<std::size_t>(task.tile[2]), b, a);
            std::abort();
        }
    }
}

} // namespace sextant::icet
