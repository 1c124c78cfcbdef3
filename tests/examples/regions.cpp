// SPDX-License-Identifier: BSD-3-Clause
// Regions of similar brightness: the expected regions are found on any number of ranks.
#include "regions.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::example {
namespace {

/// Four steps of brightness from left to right, and a bright square in the second step.
int brightness_at(Elements x, Elements y) {
    const bool square = x >= 12 && x < 16 && y >= 5 && y < 9;
    return square ? 250 : 10 + 64 * static_cast<int>(x / 10) + static_cast<int>((x + y) % 3);
}

std::vector<Region> regions_on(int columns, int rows, const contour::Pattern& pattern) {
    std::vector<Region> found;
    run_threads(columns * rows, [&](Communicator communicator) {
        distributed::Image image(communicator, {40, 23, columns, rows}, gray_u8);
        const Tile own = image.tile();
        for (Elements i = 0; i < own.elements(); ++i)
            image.bytes()[static_cast<std::size_t>(i)] =
                std::byte(brightness_at(own.x + i % own.width, own.y + i / own.width));
        const std::vector<Region> regions = grow_regions(image, 4, pattern);
        if (communicator.rank() == 0)
            found = regions;
    });
    return found;
}

TEST(Regions, are_the_same_on_any_number_of_ranks) {
    const std::vector<Region> alone = regions_on(1, 1, contour::catalogue()[0]);
    ASSERT_EQ(alone.size(), 5U) << "four steps and a square";
    EXPECT_EQ(alone[1].pixels.voxels, 10 * 23 - 16);
    EXPECT_EQ(alone[4].pixels.voxels, 16);
    EXPECT_EQ(alone[4].brightness, 250);
    EXPECT_EQ(alone[4].pixels.centroid()[2], 13.5);
    EXPECT_NEAR(alone[3].brightness, 203, .1);
    for (const contour::Pattern& pattern : contour::catalogue()) {
        EXPECT_EQ(regions_on(3, 2, pattern), alone) << pattern.name;
        EXPECT_EQ(regions_on(1, 5, pattern), alone) << pattern.name;
    }
}

TEST(Regions, refuse_more_bands_than_a_byte_can_number) {
    run_threads(2, [](Communicator communicator) {
        const distributed::Image image(communicator, {4, 4, 1, 2}, gray_u8);
        EXPECT_THAT(test::message_of<AgreedFailure>(
                        [&] { grow_regions(image, 256, contour::catalogue()[0]); }),
                    testing::HasSubstr("256 bands of gray u8"));
    });
}

} // namespace
} // namespace sextant::example
