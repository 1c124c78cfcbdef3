// SPDX-License-Identifier: BSD-3-Clause
// Data volume of merging contours, counted on the schedules with the lists of real tiles.
#include "tests/support/sent_lists.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(BytesSent, grow_with_the_tile_borders_rather_than_the_area) {
    for (const contour::Pattern& pattern : contour::catalogue()) {
        const auto of = [&](Elements side) {
            const DirectionMap map = directed(diagonal_lines({side, side}, 4), 1);
            return static_cast<double>(sent_lists(map, {side, side, 4, 4}, pattern).bytes);
        };
        EXPECT_NEAR(of(2048) / of(256), 8, .4) << pattern.name << ": a border 8 times as long";
    }
}

TEST(BytesSent, grow_with_the_density_of_edges) {
    for (const contour::Pattern& pattern : contour::catalogue()) {
        const auto of = [&](int every) {
            const DirectionMap map = directed(diagonal_lines({512, 512}, every), 1);
            return static_cast<double>(sent_lists(map, {512, 512, 4, 4}, pattern).bytes);
        };
        EXPECT_NEAR(of(1) / of(16), 16, 4) << pattern.name;
    }
}

TEST(BytesSent, are_fewer_with_quads_than_with_the_direct_pattern) {
    const DirectionMap map = directed(diagonal_lines({512, 512}, 2), 1);
    const Grid grid{512, 512, 4, 4};
    const auto of = [&](std::string_view name) {
        return sent_lists(map, grid, contour::find(name)).bytes;
    };
    EXPECT_LT(of("logp-lev-quad"), of("2-lev-rc"));
    EXPECT_LT(of("2-lev-rc"), of("1-lev-dir"));
}

TEST(BytesSent, consist_of_headers_only_for_an_image_without_edges) {
    const DirectionMap map = no_directions("none", {64, 64});
    for (const contour::Pattern& pattern : contour::catalogue()) {
        const Sent all = sent_lists(map, {64, 64, 4, 4}, pattern);
        EXPECT_EQ(all.bytes, all.messages * contour::bytes_for<contour::Crossing>(0));
    }
}

} // namespace
} // namespace sextant::test
