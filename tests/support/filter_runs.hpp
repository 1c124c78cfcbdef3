// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/memory_frames.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

// Filters on any communicator, compared with the same filter on the whole image: shared by the
// tests over threads and over MPI.
namespace sextant::test {

/// Pseudo-random samples that use all bits of their type.
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

/// Applies filters to the whole image, or volume of `depth` planes, each to the result of the
/// previous one. Returns the features of the last one, one after another.
inline std::vector<float> filtered(std::vector<std::byte> bytes, ElementFormat element,
                                   ImageShape shape, const distributed::Filters& filters,
                                   Elements depth = 0) {
    std::vector<float> all;
    for (const distributed::Filter& filter : filters) {
        kernel::SampleView view = view_of(bytes, element, shape);
        view.tile.depth = view.depth = std::max<Elements>(1, depth);
        view.next_plane = shape.elements();
        const Elements planes = std::ssize(filter.features) * view.depth;
        all.assign(static_cast<std::size_t>(planes * shape.elements()), 0);
        std::vector<kernel::Plane> outputs;
        for (Elements k = 0; k < planes; ++k)
            outputs.push_back({all.data() + k * shape.elements(), shape.width});
        bank_of(filter, depth > 0 ? kernel::Dimensions::three : kernel::Dimensions::two)
            .apply(view, view.tile, outputs);
        const auto made = std::as_bytes(std::span(all));
        bytes.assign(made.begin(), made.end());
        element = gray_f32;
    }
    return all;
}

inline std::vector<float> filtered(const std::vector<std::byte>& bytes,
                                   const ElementFormat& element, ImageShape shape,
                                   const distributed::Filter& filter) {
    return filtered(bytes, element, shape, distributed::Filters{filter});
}

/// A source of the rows of an image in memory, or of a volume, which must outlive the source.
inline RowSource source_of(const std::vector<std::byte>& bytes, ImageShape shape,
                           const ElementFormat& element, Elements depth = 0) {
    FrameHeader header{.frames = std::max<Elements>(1, depth),
                       .shape = shape,
                       .sample = *sample_named(channels(element))};
    auto frames = std::make_unique<MemoryFrames>(std::move(header), bytes);
    return depth > 0 ? RowSource(std::move(frames)) : RowSource(std::move(frames), 0);
}

inline bool same_bits(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Filters for tests: some reach beyond small tiles, one reaches beyond the whole image.
inline std::vector<distributed::Filter> filters() {
    using kernel::Border;
    return {{1, {"x", "y", "xx", "xy", "yy"}, {}},
            {.7, {"smooth", "gradient-magnitude", "x"}, {Border::mirror, 0}},
            {2, {"laplacian", "hessian-1", "hessian-2"}, {Border::constant, .5F}},
            {6, {"y"}, {}},
            {3, {"xx", "smooth", "structure-2@2"}, {}, kernel::p3pc_kernel},
            {.5, {"structure-1@1", "hessian-2"}, {Border::mirror, 0}},
            {1, {"smooth"}, {}, {kernel::GaussianKernel::Weights::truncated, .4}}};
}

/// Scatters, filters and gathers an image; expects the same bits as from the whole image.
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
                           element.name, text_of(filter.sigma), grid.width, grid.height,
                           grid.columns, grid.rows);
    }
}

/// Tests every grid for the communicator's ranks.
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

/// The planes of a Filtering, collected on rank 0 one after another.
struct CollectedPlanes {
    explicit CollectedPlanes(ImageShape image, std::size_t planes)
        : shape(image), floats(planes * static_cast<std::size_t>(image.elements())) {}

    FilterSink sink() {
        return [this](int derivative, Elements first, std::span<const float> rows) {
            const Elements at = derivative * shape.elements() + first * shape.width;
            std::copy(rows.begin(), rows.end(), floats.begin() + at);
        };
    }

    FilterMemory memory(const kernel::SampleView& samples) {
        FilterMemory memory{samples, {}};
        for (float* plane = floats.data(); plane < floats.data() + floats.size();
             plane += shape.elements())
            memory.planes.push_back({plane, shape.width});
        return memory;
    }

    ImageShape shape;
    std::vector<float> floats;
};

/// Filters an image in memory and in windows, with the image on all ranks or on rank 0 only;
/// expects the same bits as from the whole image.
inline void filtering_gives_the_same_bits(const Communicator& communicator) {
    const ImageShape shape{31, 400};
    std::vector<FilterOptions> all(4);
    all[1] = {.sigma = 2,
              .derivatives = {"gradient-magnitude", "yy"},
              .truncate = 3,
              .before = {{"smooth", 1.5}, {"x", 1}},
              .border = kernel::Border::mirror};
    all[2] = {.sigma = 1.5,
              .derivatives = {"smooth"},
              .kernel = kernel::GaussianKernel::Weights::p3pc,
              .border = kernel::Border::constant,
              .border_value = 7,
              .distribute = "broadcast"};
    all[3] = {.sigma = 1,
              .derivatives = {"y", "laplacian"},
              .before = {{"smooth", .5}},
              .border = kernel::Border::wrap};
    struct Case {
        Bytes memory;
        bool everywhere; // true: the image is on every rank
    };
    for (FilterOptions options : all) {
        options.probing = planner::Probing::off;
        const ElementFormat& element = options.before.empty() ? gray_f32 : gray_u16;
        const std::vector<std::byte> bytes = samples_of(element, shape);
        const std::vector<float> expected = filtered(bytes, element, shape, filters_of(options));
        for (const auto& [memory, everywhere] :
             {Case{Bytes{1} << 30, true}, Case{50'000, true}, Case{50'000, false}}) {
            options.memory = memory;
            options.threads = memory > 1 << 20 ? 3 : 1;
            RowSource source = source_of(bytes, shape, element);
            CollectedPlanes made(shape, options.derivatives.size());
            const FilterMemory in_place = made.memory(view_of(bytes, element, shape));
            Filtering filtering(communicator, options);
            const FilterResult result =
                filtering.run(everywhere || communicator.rank() == 0 ? &source : nullptr,
                              made.sink(), memory > 1 << 20 ? &in_place : nullptr);
            EXPECT_EQ(result.windows > 1, memory < 1 << 20) << result.windows;
            EXPECT_EQ(result.image.height, shape.height);
            EXPECT_LE(result.plan.configuration.ranks(), communicator.size());
            const bool warns = communicator.rank() == 0 && communicator.size() > 1 && !everywhere &&
                               options.distribute == "any";
            EXPECT_EQ(result.warnings.empty(), !warns)
                << fmt::format("{}", fmt::join(result.warnings, "; "));
            if (communicator.rank() == 0) {
                EXPECT_TRUE(same_bits(std::as_bytes(std::span(made.floats)),
                                      std::as_bytes(std::span(expected))))
                    << result.plan.text() << ", " << result.windows << " windows";
            }
        }
    }
}

} // namespace sextant::test
