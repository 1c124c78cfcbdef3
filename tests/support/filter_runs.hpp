// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/window_filter.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

// Filters on any communicator, against the same filter on the whole image: what the tests over
// threads and over MPI share.
namespace sextant::test {

/// Samples that no two neighbours share, with all bits in use.
inline std::vector<std::byte> samples_of(const ElementFormat& element, ImageShape shape) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(shape.elements() * element.size));
    std::uint32_t state = 12345;
    for (Elements i = 0; i < shape.elements(); ++i) {
        state = state * 1664525U + 1013904223U;
        std::byte* const to = bytes.data() + i * element.size;
        const float value = static_cast<float>(state >> 8) * 0x1p-24F - .3F;
        const auto high = static_cast<std::uint16_t>(state >> 16);
        if (element == gray_f32)
            std::memcpy(to, &value, sizeof(value));
        else if (element == gray_u16)
            std::memcpy(to, &high, sizeof(high));
        else
            *to = static_cast<std::byte>(high >> 8);
    }
    return bytes;
}

inline kernel::SampleView view_of(const std::vector<std::byte>& bytes, const ElementFormat& element,
                                  ImageShape shape) {
    kernel::SampleView view;
    if (element == gray_u8)
        view.first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    else if (element == gray_u16)
        view.first = reinterpret_cast<const std::uint16_t*>(bytes.data());
    else
        view.first = reinterpret_cast<const float*>(bytes.data());
    view.stride = shape.width;
    view.tile = {0, 0, shape.width, shape.height};
    view.image = shape;
    return view;
}

/// The filter on the whole image at once: planes one after another.
inline std::vector<float> filtered(const std::vector<std::byte>& bytes,
                                   const ElementFormat& element, ImageShape shape,
                                   const distributed::Filter& filter) {
    std::vector<float> all(filter.features.size() * static_cast<std::size_t>(shape.elements()));
    std::vector<kernel::Plane> planes;
    for (std::size_t k = 0; k < filter.features.size(); ++k)
        planes.push_back(
            {all.data() + k * static_cast<std::size_t>(shape.elements()), shape.width});
    distributed::bank_of(filter).apply(view_of(bytes, element, shape),
                                       {0, 0, shape.width, shape.height}, planes);
    return all;
}

inline bool same_bits(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// What the tests filter with: some reach over small tiles, one reaches over the image.
inline std::vector<distributed::Filter> filters() {
    using kernel::Border;
    return {{1, {"x", "y", "xx", "xy", "yy"}, {}},
            {.7, {"smooth", "gradient-magnitude", "x"}, {Border::mirror, 0}},
            {2, {"laplacian", "hessian-larger", "hessian-smaller"}, {Border::constant, .5F}},
            {6, {"y"}, {}},
            {3, {"xx", "smooth"}, {}, kernel::p3pc_kernel},
            {1, {"smooth"}, {}, {kernel::GaussianKernel::Weights::truncated, .4}}};
}

/// Scattered, filtered and gathered: the same bits as from the whole image.
inline void filters_to_the_same_bits(const Communicator& communicator, const Grid& grid,
                                     const ElementFormat& element,
                                     const distributed::Filter& filter) {
    const ImageShape shape{grid.width, grid.height};
    const std::vector<std::byte> whole = samples_of(element, shape);
    const bool root = communicator.rank() == 0;
    const auto image = distributed::scatter(communicator, grid, element,
                                            root ? std::span<const std::byte>(whole)
                                                 : std::span<const std::byte>());
    const std::vector<distributed::Image> planes = gaussian_derivatives(image, filter);
    ASSERT_EQ(planes.size(), filter.features.size());
    const std::vector<float> expected = filtered(whole, element, shape, filter);
    for (std::size_t k = 0; k < planes.size(); ++k) {
        const sextant::Image plane = distributed::gather(planes[k]);
        if (!root)
            continue;
        const auto pixels = static_cast<std::size_t>(shape.elements());
        EXPECT_TRUE(same_bits(plane.bytes(),
                              std::as_bytes(std::span(expected).subspan(k * pixels, pixels))))
            << fmt::format("{} of {} at sigma {}, {}x{} on {}x{} tiles", filter.features[k],
                           element.name, filter.sigma, grid.width, grid.height, grid.columns,
                           grid.rows);
    }
}

/// On every grid of the communicator's ranks.
inline void filters_to_the_same_bits_on_every_grid(const Communicator& communicator) {
    const int ranks = communicator.size();
    for (int columns = 1; columns <= ranks; ++columns) {
        if (ranks % columns != 0)
            continue;
        for (const distributed::Filter& filter : filters()) {
            const Grid uneven{53, 47, columns, ranks / columns};
            for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16})
                filters_to_the_same_bits(communicator, uneven, element, filter);
            filters_to_the_same_bits(communicator, {3, 5, columns, ranks / columns}, gray_f32,
                                     filter);
        }
    }
}

} // namespace sextant::test
