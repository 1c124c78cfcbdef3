// SPDX-License-Identifier: BSD-3-Clause
// What the steps of edge detection are, on every kind of processor; and what is refused.
#include "sextant/kernel/canny.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/canny_reference.hpp"
#include "sextant/kernel/labels_reference.hpp"

#include "tests/kernel/processors.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/shapes.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::EdgeThresholds;

std::vector<std::uint8_t> found_in_tile(const GradientField& field, const Tile& tile,
                                        EdgeThresholds thresholds) {
    std::vector<std::uint8_t> edges(static_cast<std::size_t>(tile.elements()), 9);
    kernel::find_edges(field.view(), tile, thresholds, edges.data());
    return edges;
}

TEST(Canny, finds_the_maxima_of_the_reference_on_every_processor) {
    for (const ImageShape shape : {ImageShape{37, 29}, {64, 5}, {1, 9}, {9, 1}, {130, 3}}) {
        for (const GradientField& field : gradient_fields(shape)) {
            const kernel::Edges expected = kernel::canny_reference(field.view(), {1, 2});
            on_every_processor([&](const char* processor) {
                EXPECT_EQ(found_in_tile(field, whole_of(shape), {1, 2}), expected.maxima)
                    << field.name << " of " << shape.width << "x" << shape.height << ", "
                    << processor;
            });
        }
    }
}

TEST(Canny, finds_in_a_tile_what_it_finds_in_the_image) {
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

/// Thinned until nothing changes.
std::vector<std::uint8_t> thinned(std::vector<std::uint8_t> edges, ImageShape shape) {
    while (kernel::thin(edges.data(), whole_of(shape), whole_of(shape), shape) > 0)
        ;
    return edges;
}

TEST(Canny, thins_and_directs_as_the_reference) {
    const ImageShape shape{37, 29};
    for (const GradientField& field : gradient_fields(shape)) {
        const kernel::Edges expected = kernel::canny_reference(field.view(), {.2, .8});
        EXPECT_EQ(thinned(expected.kept, shape), expected.thinned) << field.name;
        std::vector<kernel::Direction> directions(expected.directions.size(), 99);
        kernel::find_directions({expected.thinned.data(), shape.width, whole_of(shape), shape},
                                field.view(), whole_of(shape), directions.data());
        EXPECT_EQ(directions, expected.directions) << field.name;
    }
}

TEST(Canny, follows_the_rim_of_a_bright_disc_once_round_with_the_disc_to_the_left) {
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
            if (code >= 0) { // rows run downward: the middle lies to the left
                const kernel::Step step = kernel::steps[code];
                EXPECT_LT(step.x * (20 - y) - step.y * (20 - x), 0) << x << ", " << y;
            }
        }
    }
    EXPECT_EQ(ends, 0) << "the rim is closed";
    EXPECT_NEAR(static_cast<double>(points), 68, 6) << "one pixel wide: 4 √2 · 12";
}

/// Components of what is there, or, by four neighbours, of what is not.
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

TEST(Canny, thins_to_lines_of_one_pixel_and_leaves_pieces_and_holes_as_they_are) {
    for (Shape shape : shapes({31, 23})) {
        for (Elements x = 0; x < 31; ++x) // what lies beyond the image is one piece with its rim
            shape.at(x, 0) = shape.at(x, 22) = 0;
        for (Elements y = 0; y < 23; ++y)
            shape.at(0, y) = shape.at(30, y) = 0;
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

TEST(Canny, takes_what_is_no_number_for_no_edge) {
    GradientField field = disc_gradient({21, 21}, 10, 10, 6);
    field.x[6 * 21 + 10] = std::numeric_limits<float>::quiet_NaN();
    field.y[4 * 21 + 10] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(found_in_tile(field, whole_of({21, 21}), {.5, .9})[4 * 21 + 10], kernel::not_edge);
    EXPECT_EQ(found_in_tile(field, whole_of({21, 21}), {.5, .9}),
              kernel::canny_reference(field.view(), {.5, .9}).maxima);
}

TEST(Canny, refuses_thresholds_that_are_reversed_and_a_gradient_that_is_too_small) {
    const GradientField field = disc_gradient({9, 9}, 4, 4, 2);
    std::vector<std::uint8_t> edges(81);
    const auto refusal = [&](EdgeThresholds thresholds, kernel::GradientView view) -> std::string {
        try {
            kernel::find_edges(view, whole_of({9, 9}), thresholds, edges.data());
        } catch (const InvalidTask& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal({2, 1}, field.view()), testing::HasSubstr("are 2 and 1"));
    EXPECT_THAT(refusal({-1, 1}, field.view()), testing::HasSubstr("are -1 and 1"));
    EXPECT_THAT(refusal({std::nan(""), 1}, field.view()), testing::HasSubstr("nan"));
    kernel::GradientView narrow = field.view();
    narrow.tile.width = 8;
    EXPECT_THAT(refusal({1, 2}, narrow), testing::HasSubstr("9x9 pixels at (0, 0)"));
}

} // namespace
} // namespace sextant::test
