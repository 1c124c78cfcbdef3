// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/canny.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/gaussian_derivatives.hpp"
#include "sextant/distributed/join_components.hpp"
#include "sextant/distributed/margins.hpp"
#include "sextant/distributed/quantile.hpp"
#include "sextant/distributed/sample_view.hpp"
#include "sextant/kernel/edge_points.hpp"

#include <cmath>

#include <fmt/format.h>

namespace sextant {

namespace {

using distributed::Padded;

constexpr kernel::Connection edges_hang_together{kernel::Neighbours::eight,
                                                 kernel::Sameness::foreground};

std::uint8_t* edges_in(distributed::Image& image) {
    return reinterpret_cast<std::uint8_t*>(image.bytes().data());
}
const float* floats_in(const std::byte* bytes) {
    return reinterpret_cast<const float*>(bytes);
}

kernel::GradientView view_of(const Gradient& gradient) {
    const Tile own = gradient.x.tile();
    return {floats_in(gradient.x.bytes().data()), floats_in(gradient.y.bytes().data()), own.width,
            own, gradient.x.shape()};
}

distributed::Image maxima_of(const Gradient& gradient, kernel::EdgeThresholds thresholds) {
    const Padded x = distributed::with_margin(gradient.x, 1);
    const Padded y = distributed::with_margin(gradient.y, 1);
    distributed::Image maxima(gradient.x.communicator(), gradient.x.grid(), gray_u8);
    agree(maxima.communicator(), [&] {
        kernel::find_edges({floats_in(x.pixels.data()), floats_in(y.pixels.data()), x.held.width,
                            x.held, gradient.x.shape()},
                           maxima.tile(), thresholds, edges_in(maxima));
    });
    return maxima;
}

/// Which components of a tile have a strong point.
std::vector<std::uint8_t> strong_components(std::span<const std::uint8_t> edges,
                                            const kernel::Label* labels, std::size_t components) {
    std::vector<std::uint8_t> strong(components, 0);
    kernel::each_edge_point(edges.data(), static_cast<Elements>(edges.size()), [&](Elements i) {
        if (edges[static_cast<std::size_t>(i)] == kernel::strong_edge)
            strong[static_cast<std::size_t>(labels[i] - 1)] = 1;
    });
    return strong;
}

/// Takes away what does not hang together with a strong point.
void follow_strong(distributed::Image& edges, const contour::Pattern& pattern) {
    Memory plane;
    std::vector<kernel::Component> components;
    std::vector<std::uint8_t> strong;
    const kernel::SampleView view = distributed::sample_view(edges);
    agree(edges.communicator(), [&] {
        plane = Memory(edges.tile().elements() * static_cast<Bytes>(sizeof(kernel::Label)));
        auto* const labels = reinterpret_cast<kernel::Label*>(plane.data());
        kernel::Labeller labeller(edges_hang_together);
        labeller.apply(view, {labels, view.stride});
        components = labeller.components();
        strong =
            strong_components({edges_in(edges), edges.bytes().size()}, labels, components.size());
    });
    const auto* const labels = reinterpret_cast<const kernel::Label*>(plane.data());
    const std::vector<PartOf> wholes =
        join_components(edges.communicator(), edges.grid(),
                        {view, edges_hang_together, labels, components, strong}, pattern);
    std::uint8_t* const pixels = edges_in(edges);
    kernel::each_edge_point(pixels, edges.tile().elements(), [&](Elements i) {
        pixels[i] = wholes[static_cast<std::size_t>(labels[i] - 1)].marked ? 1 : 0;
    });
}

void take_tile(const Padded& padded, distributed::Image& image) {
    const Tile own = image.tile();
    for (Elements y = 0; y < own.height && own.width > 0; ++y) {
        const std::byte* const from = padded.pixels.data() +
                                      (own.y - padded.held.y + y) * padded.held.width + own.x -
                                      padded.held.x;
        std::copy_n(from, own.width, image.bytes().data() + y * own.width);
    }
}

/// Round by round, until no rank takes anything off.
void thin(distributed::Image& edges) {
    bool changed = true;
    while (changed) {
        Padded padded = distributed::with_margin(edges, kernel::thinning_margin);
        const Elements taken = kernel::thin(reinterpret_cast<std::uint8_t*>(padded.pixels.data()),
                                            padded.held, edges.tile(), edges.shape());
        take_tile(padded, edges);
        changed = false;
        for (const Elements of_rank : edges.communicator().all_gather(taken))
            changed = changed || of_rank > 0;
    }
}

void require_shares(double low, double high) {
    if (!(low >= 0 && low <= high && high <= 1))
        throw InvalidTask(fmt::format("quantiles of edges are {} and {}, expected a low one from 0 "
                                      "on and a high one no lower, up to 1",
                                      low, high));
}

} // namespace

Gradient gradient_of(const distributed::Image& image, double sigma,
                     const kernel::BorderRule& border) {
    const std::vector<distributed::Image> parts =
        gaussian_derivatives(image, {sigma, {"x", "y"}, border});
    return {parts[0], parts[1]};
}

kernel::EdgeThresholds quantiles_of(const Gradient& gradient, double low, double high) {
    const Communicator& communicator = gradient.x.communicator();
    Memory squared;
    agree(communicator, [&] {
        require_shares(low, high);
        squared = Memory(gradient.x.tile().elements() * gray_f32.size);
        kernel::squared_lengths(floats_in(gradient.x.bytes().data()),
                                floats_in(gradient.y.bytes().data()), gradient.x.tile().elements(),
                                reinterpret_cast<float*>(squared.data()));
    });
    const std::span values(floats_in(squared.data()),
                           static_cast<std::size_t>(gradient.x.tile().elements()));
    return {std::sqrt(quantile(communicator, values, low)),
            std::sqrt(quantile(communicator, values, high))};
}

distributed::Image edge_directions(const Gradient& gradient, kernel::EdgeThresholds thresholds,
                                   const contour::Pattern& pattern) {
    distributed::Image edges = maxima_of(gradient, thresholds);
    follow_strong(edges, pattern);
    thin(edges);
    const Padded padded = distributed::with_margin(edges, 1);
    distributed::Image directions(edges.communicator(), edges.grid(), direction_i8);
    kernel::find_directions({reinterpret_cast<const std::uint8_t*>(padded.pixels.data()),
                             padded.held.width, padded.held, edges.shape()},
                            view_of(gradient), edges.tile(),
                            reinterpret_cast<kernel::Direction*>(directions.bytes().data()));
    return directions;
}

} // namespace sextant
