// SPDX-License-Identifier: BSD-3-Clause
// Steps of edge detection with each instruction set, and invalid input.
#include "sextant/core/error.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"

#include "tests/kernel/processors.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/label_references.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/shapes.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::EdgeThresholds;

std::vector<std::uint8_t> found_in_tile(const GradientField& field, const Tile& tile,
                                        EdgeThresholds thresholds) {
    std::vector<std::uint8_t> edges(static_cast<std::size_t>(tile.elements()), 9);
    kernel::EdgeRows rows(tile, field.shape, thresholds, {edges.data(), tile.width});
    const Tile& needed = rows.needed();
    for (Elements y = needed.y; y < needed.y + needed.height; ++y) {
        const Elements at = y * field.shape.width + needed.x;
        rows.take(field.x.data() + at, field.y.data() + at);
    }
    return edges;
}

TEST(Canny, finds_the_reference_maxima_on_every_instruction_set) {
    for (const ImageShape shape : {ImageShape{37, 29}, {64, 5}, {1, 9}, {9, 1}, {130, 3}}) {
        for (const GradientField& field : gradient_fields(shape)) {
            for (const EdgeThresholds thresholds : {EdgeThresholds{1, 2}, {0, 1}, {0, 0}}) {
                const kernel::Edges expected = kernel::canny_reference(field.view(), thresholds);
                on_every_processor([&](const char* processor) {
                    EXPECT_EQ(found_in_tile(field, whole_of(shape), thresholds), expected.maxima)
                        << field.name << " of " << shape.width << "x" << shape.height << " from "
                        << thresholds.low << " on, " << processor;
                });
            }
        }
    }
}

TEST(Canny, finds_the_same_edges_in_a_tile_as_in_the_image) {
    const ImageShape shape{37, 29};
    for (const GradientField& field : gradient_fields(shape)) {
        const std::vector<std::uint8_t> all = found_in_tile(field, whole_of(shape), {1, 2});
        const Tile part{5, 7, 20, 11};
        const std::vector<std::uint8_t> found = found_in_tile(field, part, {1, 2});
        for (Elements i = 0; i < part.elements(); ++i) {
            const Elements x = part.x + i % part.width, y = part.y + i / part.width;
            ASSERT_EQ(found[static_cast<std::size_t>(i)],
                      all[static_cast<std::size_t>(y * shape.width + x)])
                << field.name << " at (" << x << ", " << y << ")";
        }
    }
}

/// An image of smooth bumps with some texture.
template <class Sample>
std::vector<Sample> bumps(ImageShape shape) {
    std::vector<Sample> samples;
    for (Elements i = 0; i < shape.elements(); ++i) {
        const auto x = static_cast<float>(i % shape.width), y = static_cast<float>(i / shape.width);
        samples.push_back(static_cast<Sample>(100 + 60 * std::sin(x / 5) * std::cos(y / 7 + x / 9) +
                                              static_cast<float>(i * i % 31)));
    }
    return samples;
}

template <class Sample>
void finds_the_edges_of_derivatives(ImageShape shape, double sigma) {
    const std::vector<Sample> samples = bumps<Sample>(shape);
    const kernel::SampleView view{samples.data(), shape.width, whole_of(shape), shape};
    GradientField field{"derivatives", shape, {}, {}};
    field.x.resize(samples.size());
    field.y.resize(samples.size());
    const kernel::Derivative derivatives[] = {{1, 0}, {0, 1}};
    const kernel::Plane planes[] = {{field.x.data(), shape.width}, {field.y.data(), shape.width}};
    kernel::GaussianDerivatives(sigma, derivatives).apply(view, whole_of(shape), planes);
    kernel::EdgeFinder finder(sigma);
    std::vector<std::uint8_t> found(samples.size(), 9);
    finder.find({&view, 1}, whole_of(shape), {1, 4}, {found.data(), shape.width});
    EXPECT_EQ(found, found_in_tile(field, whole_of(shape), {1, 4}))
        << shape.width << "x" << shape.height << ", sigma " << sigma;
    std::vector<float> lengths(samples.size()), expected(samples.size());
    finder.measure({&view, 1}, whole_of(shape), lengths.data());
    kernel::lengths(field.x.data(), field.y.data(), shape.elements(), expected.data());
    EXPECT_EQ(lengths, expected);
}

TEST(Canny, finds_edges_from_derivatives_of_every_sample_type_in_one_call) {
    for (const ImageShape shape : {ImageShape{37, 29}, {1, 9}, {9, 1}, {2101, 5}}) {
        finds_the_edges_of_derivatives<std::uint8_t>(shape, 1);
        finds_the_edges_of_derivatives<float>(shape, 3);
        finds_the_edges_of_derivatives<std::uint16_t>(shape, .7);
    }
}

/// Edges after thinning until nothing changes.
std::vector<std::uint8_t> thinned(std::vector<std::uint8_t> edges, ImageShape shape) {
    kernel::Thinning thinning(edges.data(), whole_of(shape), whole_of(shape), shape);
    while (thinning.round() > 0)
        ;
    return edges;
}

TEST(Canny, thins_edges_and_assigns_directions_like_the_reference) {
    const ImageShape shape{37, 29};
    for (const GradientField& field : gradient_fields(shape)) {
        const kernel::Edges expected = kernel::canny_reference(field.view(), {.2, .8});
        EXPECT_EQ(thinned(expected.kept, shape), expected.thinned) << field.name;
        std::vector<kernel::Direction> directions(expected.directions.size(), 99);
        kernel::find_directions({expected.thinned.data(), shape.width, whole_of(shape), shape},
                                whole_of(shape), directions.data());
        EXPECT_EQ(directions, expected.directions) << field.name;
    }
}

TEST(Canny, assigns_directions_in_a_tile_in_place_using_only_its_margin) {
    const ImageShape shape{37, 29};
    for (const GradientField& field : gradient_fields(shape)) {
        const kernel::Edges expected = kernel::canny_reference(field.view(), {.2, .8});
        for (const Tile& tile :
             {Tile{5, 7, 20, 11}, {0, 0, 37, 12}, {1, 3, 36, 25}, {9, 9, 1, 1}}) {
            std::vector<std::uint8_t> codes = expected.thinned;
            auto* const directions = reinterpret_cast<kernel::Direction*>(codes.data());
            kernel::find_directions({codes.data(), shape.width, whole_of(shape), shape}, tile,
                                    directions);
            for (Elements i = 0; i < tile.elements(); ++i) {
                const Elements x = tile.x + i % tile.width, y = tile.y + i / tile.width;
                ASSERT_EQ(directions[i],
                          expected.directions[static_cast<std::size_t>(y * shape.width + x)])
                    << field.name << " at (" << x << ", " << y << ")";
            }
        }
    }
}

TEST(Canny, follows_the_boundary_of_a_bright_disc_with_the_disc_on_the_left) {
    const GradientField disc = disc_gradient({41, 41}, 20, 20, 12);
    const kernel::Edges edges = kernel::canny_reference(disc.view(), {.5, .9});
    Elements points = 0, ends = 0;
    for (Elements y = 0; y < 41; ++y) {
        for (Elements x = 0; x < 41; ++x) {
            const kernel::Direction code = edges.directions[static_cast<std::size_t>(y * 41 + x)];
            if (code == kernel::no_edge)
                continue;
            ++points;
            ends += code == kernel::edge_end ? 1 : 0;
            EXPECT_NEAR(std::hypot(static_cast<double>(x - 20), static_cast<double>(y - 20)), 12,
                        1);
            if (code >= 0) { // the disc must be to the left; y increases downward
                const kernel::Step step = kernel::steps[code];
                EXPECT_LT(step.x * (20 - y) - step.y * (20 - x), 0) << x << ", " << y;
            }
        }
    }
    EXPECT_EQ(ends, 0) << "the rim is closed";
    EXPECT_NEAR(static_cast<double>(points), 68, 6) << "one pixel wide: 4 √2 · 12";
}

/// Number of components of the edges (8 neighbours) or of the background (4 neighbours).
std::size_t pieces(std::vector<std::uint8_t> edges, ImageShape shape, bool of_background) {
    if (of_background)
        std::transform(edges.begin(), edges.end(), edges.begin(),
                       [](std::uint8_t edge) { return edge == 0 ? 1 : 0; });
    return kernel::labels_reference(
               {edges.data(), shape.width, whole_of(shape), shape},
               {of_background ? kernel::Neighbours::four : kernel::Neighbours::eight,
                kernel::Sameness::foreground})
        .components.size();
}

TEST(Canny, thins_to_one_pixel_and_preserves_components_and_holes) {
    for (Shape shape : shapes({31, 23})) {
        for (Elements x = 0; x < 31; ++x) // the background must surround all shapes
            shape.at(x, 0) = shape.at(x, 22) = 0;
        for (Elements y = 0; y < 23; ++y)
            shape.at(0, y) = shape.at(30, y) = 0;
        for (std::uint8_t& sample : shape.samples)
            sample = sample != 0 ? kernel::weak_edge : kernel::not_edge;
        std::vector<std::uint8_t> thin = thinned(shape.samples, shape.image);
        for (const bool background : {false, true})
            EXPECT_EQ(pieces(thin, shape.image, background),
                      pieces(shape.samples, shape.image, background))
                << shape.name;
        const auto at = [&](Elements x, Elements y) {
            return thin[static_cast<std::size_t>(y * 31 + x)] != 0;
        };
        int blocks = 0;
        for (Elements y = 0; y + 2 < 23; ++y) {
            for (Elements x = 0; x + 2 < 31; ++x) {
                bool full = true;
                for (int k = 0; k < 9; ++k)
                    full = full && at(x + k % 3, y + k / 3);
                blocks += full ? 1 : 0;
            }
        }
        EXPECT_EQ(blocks, 0) << shape.name;
    }
}

TEST(Canny, finds_no_edge_at_NaNs) {
    GradientField field = disc_gradient({21, 21}, 10, 10, 6);
    field.x[6 * 21 + 10] = std::numeric_limits<float>::quiet_NaN();
    field.y[4 * 21 + 10] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(found_in_tile(field, whole_of({21, 21}), {.5, .9})[4 * 21 + 10], kernel::not_edge);
    EXPECT_EQ(found_in_tile(field, whole_of({21, 21}), {.5, .9}),
              kernel::canny_reference(field.view(), {.5, .9}).maxima);
}

TEST(Canny, refuses_tiles_outside_the_image_and_reversed_thresholds) {
    const std::vector<std::uint8_t> samples = bumps<std::uint8_t>({9, 9});
    const kernel::SampleView whole{samples.data(), 9, whole_of({9, 9}), {9, 9}};
    std::vector<std::uint8_t> codes(81);
    const auto refusal = [&](const kernel::SampleView& view, const Tile& tile,
                             EdgeThresholds thresholds) -> std::string {
        return test::message_of<InvalidTask>([&] {
            kernel::EdgeFinder(1).find({&view, 1}, tile, thresholds, {codes.data(), 9});
        });
    };
    EXPECT_THAT(refusal(whole, {0, 1, 9, 9}, {1, 2}), testing::HasSubstr("within 9x9"));
    EXPECT_THAT(refusal(whole, whole_of({9, 9}), {2, 1}), testing::HasSubstr("are 2 and 1"));
    EXPECT_THAT(refusal(whole, whole_of({9, 9}), {-1, 1}), testing::HasSubstr("are -1 and 1"));
    EXPECT_THAT(refusal(whole, whole_of({9, 9}), {std::nan(""), 1}), testing::HasSubstr("nan"));
    kernel::SampleView narrow = whole;
    narrow.tile.width = 8;
    EXPECT_THAT(refusal(narrow, whole_of({9, 9}), {1, 2}), testing::HasSubstr("got 8x9"));
}

} // namespace
} // namespace sextant::test
