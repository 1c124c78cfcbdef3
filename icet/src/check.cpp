// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

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

/// A pixel over another, or the nearer of two.
void blend(Channels& front, const Channels& back, bool by_depth, double opaque) {
    if (by_depth) {
        if (back.back() < front.back())
            front = back;
        return;
    }
    const double through = 1 - front[3] / opaque;
    for (std::size_t i = 0; i < front.size(); ++i)
        front[i] += through * back[i];
}

} // namespace

void check_frame(const Context& context, const TileImage& tile, const Composition& composition,
                 std::span<const int> order, const sextant::Frame& frame) {
    const ElementFormat& element = composition.element;
    const auto size = static_cast<std::size_t>(element.size);
    const auto pixels =
        static_cast<std::size_t>(tile.tile[2]) * static_cast<std::size_t>(tile.tile[3]);
    const auto ranks = static_cast<std::size_t>(context.size());
    std::vector<std::byte> all(ranks * pixels * size);
    context.communicator().all_gather(std::span(tile.image.data(), pixels * size), all);
    std::vector<int> places(order.begin(), order.end());
    if (places.empty()) {
        places.resize(ranks);
        std::iota(places.begin(), places.end(), 0);
    }
    const bool by_depth = has_depth(element), bytes = element == rgba_u8;
    const double opaque = bytes ? 255 : 1;
    const double allowed = by_depth ? 0 : (bytes ? .5 : 1e-5) * static_cast<double>(ranks) + 1e-9;
    for (Elements i = 0; i < frame.count; ++i) {
        const auto at = static_cast<std::size_t>(frame.first + i);
        const auto of = [&](int rank) {
            return channels_of(&all[(static_cast<std::size_t>(rank) * pixels + at) * size],
                               element);
        };
        Channels expected = of(places[0]);
        for (std::size_t place = 1; place < ranks; ++place)
            blend(expected, of(places[place]), by_depth, opaque);
        const Channels found =
            channels_of(frame.bytes.data() + static_cast<std::size_t>(i) * size, element);
        for (std::size_t channel = 0; channel < found.size(); ++channel) {
            const double a = expected[channel], b = found[channel];
            if (a == b || std::abs(a - b) <= allowed || (std::isnan(a) && std::isnan(b)))
                continue;
            std::fprintf(
                stderr,
                "sextant: SEXTANT_ICET_CHECK: rank %d: channel %zu of pixel %zu, %zu is %g, "
                "expected %g\n",
                context.rank(), channel, at % static_cast<std::size_t>(tile.tile[2]),
                at / static_cast<std::size_t>(tile.tile[2]), b, a);
            std::abort();
        }
    }
}

} // namespace sextant::icet
