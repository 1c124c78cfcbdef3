// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives have the same bits for any tiles and memory layout, and for each instruction
// set.
#include "sextant/kernel/pixel_fold.hpp"

#include "tests/kernel/kinds.hpp"
#include "tests/kernel/pictures.hpp"
#include "tests/kernel/processors.hpp"

namespace sextant::test {
namespace {

/// Derivatives computed tile by tile, each from a copy of exactly the samples that it needs.
Planes derivatives_by_tiles(const Picture<float>& picture, double sigma,
                            const std::vector<Derivative>& wanted, BorderRule rule,
                            const std::vector<Tile>& tiles) {
    Planes planes(wanted.size(), picture.image());
    for (const Tile& tile : tiles) {
        GaussianDerivatives derivatives(sigma, wanted, rule);
        const auto part = picture.cut(derivatives.reads(tile, picture.image()));
        derivatives.apply(part.view(), tile, planes.of(tile));
    }
    return planes;
}

std::vector<Tile> tiles_of(const Grid& grid) {
    std::vector<Tile> tiles;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        if (tile(grid, rank).elements() > 0)
            tiles.push_back(tile(grid, rank));
    }
    return tiles;
}

TEST(GaussianBits, are_the_same_for_every_division_into_tiles) {
    const ImageShape image{97, 41};
    const auto picture = random_picture(image, 1);
    for (const double sigma : {.5, 1., 5.}) {
        for (const BorderRule rule : border_rules) {
            const Planes expected = derivatives_of(picture.view(), sigma, five, rule);
            for (int columns = 1; columns <= 7; ++columns) {
                for (int rows = 1; rows <= 5; ++rows) {
                    const auto tiles = tiles_of({image.width, image.height, columns, rows});
                    ASSERT_TRUE(derivatives_by_tiles(picture, sigma, five, rule, tiles) == expected)
                        << columns << "x" << rows << ", sigma " << sigma;
                }
            }
        }
    }
}

TEST(GaussianBits, are_the_same_for_strips_of_any_height_or_width) {
    const ImageShape image{70, 23};
    const auto picture = random_picture(image, 2);
    const Planes expected = derivatives_of(picture.view(), 1.3, every_derivative());
    for (int rows = 1; rows <= 23; ++rows)
        EXPECT_TRUE(derivatives_by_tiles(picture, 1.3, every_derivative(), {},
                                         tiles_of({70, 23, 1, rows})) == expected);
    for (int columns = 1; columns <= 70; columns += 3)
        EXPECT_TRUE(derivatives_by_tiles(picture, 1.3, every_derivative(), {},
                                         tiles_of({70, 23, columns, 1})) == expected);
}

TEST(GaussianBits, are_the_same_for_results_larger_than_the_caches) {
    const ImageShape image{1531, 1411};
    const auto picture = random_picture(image, 3);
    ASSERT_TRUE(kernel::exceeds_caches(6 * image.elements() * 4) ||
                !kernel::exceeds_caches(Bytes{50} << 20));
    // Aligned rows are written with streaming stores; the rows of Planes are not aligned.
    std::vector<Memory> memory;
    std::vector<Plane> aligned;
    const Elements stride = 1536;
    for (std::size_t k = 0; k < five.size(); ++k) {
        memory.emplace_back(stride * image.height * 4);
        aligned.push_back({reinterpret_cast<float*>(memory[k].data()), stride});
    }
    GaussianDerivatives(1, five).apply(picture.view(), whole(image), aligned);
    const Planes expected =
        derivatives_by_tiles(picture, 1, five, {}, tiles_of({image.width, image.height, 3, 5}));
    for (std::size_t k = 0; k < five.size(); ++k) {
        for (Elements y = 0; y < image.height; ++y) {
            for (Elements x = 0; x < image.width; ++x)
                ASSERT_EQ(aligned[k].first[y * stride + x], expected.at(k, x, y)) << x << ", " << y;
            for (Elements x = image.width; x < stride; ++x)
                ASSERT_EQ(aligned[k].first[y * stride + x], 0) << "written beyond the row";
        }
    }
}

TEST(GaussianBits, are_the_same_with_and_without_other_derivatives) {
    const auto picture = random_picture({133, 19}, 4);
    const auto wanted = every_derivative();
    const Planes all = derivatives_of(picture.view(), 2, wanted);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const Planes alone = derivatives_of(picture.view(), 2, {wanted[k]});
        for (Elements y = 0; y < 19; ++y) {
            for (Elements x = 0; x < 133; ++x)
                ASSERT_EQ(alone.at(0, x, y), all.at(k, x, y)) << wanted[k].x << ", " << wanted[k].y;
        }
    }
}

TEST(GaussianBits, are_the_same_for_any_row_stride_including_negative_ones) {
    const ImageShape image{75, 18};
    const auto picture = random_picture(image, 5);
    const Planes expected = derivatives_of(picture.view(), 1, five);
    for (const Elements padding : {1, 13, 64}) {
        Picture<float> padded(image, padding);
        padded.fill([&](Elements x, Elements y) { return picture.at(x, y); });
        EXPECT_TRUE(derivatives_of(padded.view(), 1, five) == expected) << padding;
    }
    Picture<float> upside_down(image);
    upside_down.fill([&](Elements x, Elements y) { return picture.at(x, image.height - 1 - y); });
    SampleView bottom_up = upside_down.view();
    bottom_up.first = &upside_down.at(0, image.height - 1);
    bottom_up.stride = -bottom_up.stride;
    EXPECT_TRUE(derivatives_of(bottom_up, 1, five) == expected);
}

TEST(GaussianBits, are_the_same_on_every_instruction_set) {
    for (const ImageShape image : {ImageShape{1, 1}, {3, 5}, {64, 9}, {201, 17}}) {
        for (const double sigma : {.5, 1., 3.}) {
            const auto picture = random_picture(image, 6);
            const Planes expected = derivatives_of(picture.view(), sigma, every_derivative());
            on_every_processor([&](const char* processor) {
                EXPECT_TRUE(derivatives_of(picture.view(), sigma, every_derivative()) == expected)
                    << processor << ", sigma " << sigma;
            });
        }
    }
}

TEST(GaussianBits, are_the_same_on_every_instruction_set_for_infinities_and_NaNs) {
    Random random(7);
    Picture<float> picture(ImageShape{97, 33});
    picture.fill([&](Elements, Elements) { return random.chance(2) ? random_float(random) : .5f; });
    const Planes expected = derivatives_of(picture.view(), 1, five);
    on_every_processor([&](const char* processor) {
        EXPECT_TRUE(derivatives_of(picture.view(), 1, five) == expected) << processor;
    });
}

} // namespace
} // namespace sextant::test
