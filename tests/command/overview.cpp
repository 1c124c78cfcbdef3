// SPDX-License-Identifier: BSD-3-Clause
// Large images are reduced in size for report pages.
#include "sextant/command/pages/overview.hpp"

#include "sextant/format/png.hpp"
#include "sextant/report/page.hpp"

#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::ElementsAre;

TEST(Overview, contains_block_means_that_ignore_NaNs) {
    Overview overview({5, 3}, 3);
    EXPECT_EQ(overview.scale(), 2);
    EXPECT_EQ(overview.shape(), (ImageShape{3, 2}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // The blocks' means are 2, 4 and 6 in the first row and 10, 0 and 18 in the second. One sample
    // of the second block is NaN.
    const std::vector<float> rows = {1, 2, 4, 4, 6, 3, 2, nan, 4, 6, 10, 10, nan, nan, 18};
    overview.add(2, std::span(rows).subspan(10));
    overview.add(0, std::span(rows).first(10));
    const std::vector<float> shades = overview.shades();
    EXPECT_THAT(shades, ElementsAre(0, .125F, .25F, .5F, 0, 1)); // 2 becomes 0, and 18 becomes 1
}

TEST(Overview, is_black_for_a_constant_or_empty_image) {
    Overview same({2, 1});
    same.add(0, std::vector<float>{7, 7});
    EXPECT_THAT(same.shades(), ElementsAre(0, 0));
    EXPECT_THAT(Overview({2, 1}).shades(), ElementsAre(0, 0));
}

TEST(Overview, accepts_only_whole_rows_within_its_image) {
    Overview overview({4, 2});
    EXPECT_THROW(overview.add(0, std::vector<float>(3)), std::logic_error);
    EXPECT_THROW(overview.add(1, std::vector<float>(8)), std::logic_error);
}

TEST(Overview, never_exceeds_the_requested_size) {
    for (const Elements side : {1, 639, 640, 641, 1280, 1281, 100'000}) {
        const Overview overview({side, 3});
        EXPECT_LE(overview.shape().width, 640) << side;
        EXPECT_GE(overview.shape().width * overview.scale(), side);
        EXPECT_EQ(report::png_size(overview.png()).width, overview.shape().width);
    }
}

TEST(LabelOverview, colours_labelled_pixels_independently_of_strips) {
    const std::vector<std::uint64_t> labels = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 0, 0};
    const Overview below({4, 3}, 2);
    LabelOverview whole(below), stripped(below), none(below);
    whole.add(0, labels, 4);
    for (Elements row = 0; row < 3; ++row)
        stripped.add(row, std::span(labels).subspan(static_cast<std::size_t>(4 * row), 4), 4);
    EXPECT_EQ(whole.png(), stripped.png());
    EXPECT_NE(whole.png(), none.png());
}

} // namespace
} // namespace sextant::command
