// SPDX-License-Identifier: BSD-3-Clause
// The areas that registered frames cover, and images of other areas than that of the reference.
#include "sextant/registration/transform/canvas.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <bit>
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::area_of;
using registration::covered_by_all;
using registration::covered_by_any;
using registration::DisplacementField;
using registration::PixelArea;
using registration::predicted_overlap;
using registration::RigidMotion;
using registration::Transform;

TEST(Canvas, common_to_all_frames_is_the_largest_rectangle_that_they_cover) {
    const std::vector<std::int64_t> frames{0, 1, 2};
    const auto area = [&](std::vector<Transform> transforms) {
        return covered_by_all(
            frames, [=](std::int64_t frame) { return transforms[static_cast<std::size_t>(frame)]; },
            {40, 30});
    };
    EXPECT_EQ(area({RigidMotion{}, RigidMotion{}, RigidMotion{}}), (PixelArea{0, 0, {40, 30}}));
    // The reference's pixel x is at x + t in the frame.
    EXPECT_EQ(area({RigidMotion{}, RigidMotion{0, 3.5, 0}, RigidMotion{0, -2, 5}}),
              (PixelArea{2, 0, {34, 25}}));
    EXPECT_EQ(area({RigidMotion{}, RigidMotion{0, 30, 0}, RigidMotion{0, -30, 0}}).shape,
              (ImageShape{0, 0}));
    const PixelArea turned = area({RigidMotion{}, RigidMotion{.2, 0, 0}, RigidMotion{}});
    EXPECT_GT(turned.shape.elements(), 400);
    EXPECT_LT(turned.shape.elements(), 1000);
    for (const std::int64_t x : {turned.x, turned.x + turned.shape.width - 1}) {
        for (const std::int64_t y : {turned.y, turned.y + turned.shape.height - 1}) {
            const auto at =
                apply(RigidMotion{.2, 0, 0}, {static_cast<double>(x), static_cast<double>(y)},
                      registration::centre({40, 30}));
            EXPECT_TRUE(at.x >= 0 && at.x <= 39 && at.y >= 0 && at.y <= 29) << x << " " << y;
        }
    }
    DisplacementField field{{40, 30}, 8, {6, 5}, {}, {}, {}, {}};
    field.x.assign(field.count(), 0);
    field.y.assign(field.count(), -4);
    EXPECT_EQ(area({RigidMotion{}, field, RigidMotion{}}), (PixelArea{0, 4, {40, 26}}));
}

TEST(Canvas, of_all_frames_contains_every_pixel_that_a_frame_covers) {
    const ImageShape shape{40, 30};
    const std::vector<Transform> transforms{RigidMotion{}, RigidMotion{0, 3.5, 0},
                                            RigidMotion{0, -20, 50}};
    const auto of = [&](std::int64_t frame) { return transforms[static_cast<std::size_t>(frame)]; };
    EXPECT_EQ(covered_by_any(std::vector<std::int64_t>{0}, of, shape), area_of(shape));
    // The frame's pixel 0 is at -3.5 in the reference, so the first whole pixel is -3.
    EXPECT_EQ(covered_by_any(std::vector<std::int64_t>{1}, of, shape),
              (PixelArea{-3, 0, {39, 30}}));
    EXPECT_EQ(covered_by_any(std::vector<std::int64_t>{0, 1, 2}, of, shape),
              (PixelArea{-3, -50, {63, 80}}));
    EXPECT_THROW(area_of_frame(registration::no_displacement(shape, 8), shape), std::logic_error);
}

TEST(Canvas, areas_have_an_intersection_and_a_hull) {
    const PixelArea one{-5, 2, {10, 10}}, other{3, 7, {10, 10}};
    EXPECT_EQ(common_area(one, other), (PixelArea{3, 7, {2, 5}}));
    EXPECT_EQ(enclosing_area(one, other), (PixelArea{-5, 2, {18, 15}}));
    EXPECT_EQ(common_area(one, {5, 2, {1, 1}}).shape, ImageShape());
    EXPECT_EQ(enclosing_area({}, other), other);
    EXPECT_TRUE(contains(one, common_area(one, other)));
    EXPECT_FALSE(contains(one, other));
}

TEST(Canvas, overlap_is_predicted_from_the_motion) {
    const ImageShape shape{100, 60};
    EXPECT_EQ(predicted_overlap({}, shape), 1);
    EXPECT_NEAR(predicted_overlap({0, 50, 0}, shape), .5, .04);
    EXPECT_NEAR(predicted_overlap({0, 50, -30}, shape), .25, .04);
    EXPECT_NEAR(predicted_overlap({std::numbers::pi / 2, 0, 0}, shape), .6, .04);
    EXPECT_EQ(predicted_overlap({0, 0, 60}, shape), 0);
}

/// Two frames of noise, and their motions: one rotated and the other shifted by half a frame.
struct TwoFrames {
    static constexpr ImageShape shape{70, 50};
    std::vector<float> samples;
    std::vector<Transform> transforms{RigidMotion{.1, -4.25, 3}, RigidMotion{0, 35.5, -20}};
    const std::vector<std::int64_t> numbers{0, 1};

    TwoFrames() {
        std::uint32_t state = 7;
        for (Elements i = 0; i < 2 * shape.elements(); ++i) {
            state = state * 1664525 + 1013904223;
            samples.push_back(static_cast<float>(state >> 8));
        }
    }
    MemoryFrames source() const { return {{2, shape}, std::as_bytes(std::span(samples))}; }
    registration::Combined combined(int ranks, const registration::CombineOptions& options) const {
        std::vector<registration::Combined> results(static_cast<std::size_t>(ranks));
        run_threads(ranks, [&](const Communicator& communicator) {
            MemoryFrames own = source();
            results[static_cast<std::size_t>(communicator.rank())] = combine(
                communicator, own, numbers,
                [&](std::int64_t frame) { return transforms[static_cast<std::size_t>(frame)]; },
                options);
        });
        return results.back();
    }
};

TEST(Canvas, an_image_of_a_larger_area_contains_that_of_the_reference_bit_for_bit) {
    const TwoFrames two;
    const PixelArea canvas{-50, -13, {150, 90}};
    const registration::Combined small = two.combined(1, {});
    for (const int ranks : {1, 2, 3}) {
        registration::CombineOptions options{true, 4000};
        options.area = canvas;
        const registration::Combined large = two.combined(ranks, options);
        ASSERT_EQ(static_cast<Elements>(large.mean.size()), canvas.shape.elements());
        float beyond = 0;
        for (std::int64_t y = 0; y < canvas.shape.height; ++y) {
            for (std::int64_t x = 0; x < canvas.shape.width; ++x) {
                const auto at = static_cast<std::size_t>(y * canvas.shape.width + x);
                const std::int64_t column = x + canvas.x, row = y + canvas.y;
                if (!contains(area_of(two.shape), {column, row, {1, 1}})) {
                    beyond += large.count[at];
                    continue;
                }
                const auto in_small = static_cast<std::size_t>(row * two.shape.width + column);
                ASSERT_EQ(large.count[at], small.count[in_small]) << column << " " << row;
                ASSERT_EQ(std::bit_cast<std::uint32_t>(large.mean[at]),
                          std::bit_cast<std::uint32_t>(small.mean[in_small]));
                ASSERT_EQ(large.median[at], small.median[in_small]);
            }
        }
        EXPECT_GT(beyond, 2000) << "the shifted frame covers the canvas beyond the reference";
    }
}

TEST(Canvas, frames_that_do_not_reach_an_area_are_not_read) {
    const TwoFrames two;
    MemoryFrames source = two.source();
    registration::Resampler resampler(source);
    std::vector<float> shown(200 * 4);
    EXPECT_FALSE(resampler.resample(0, two.transforms[0], {500, 0, {200, 4}}, shown));
    EXPECT_TRUE(std::isnan(shown[0]) && std::isnan(shown.back()));
    EXPECT_TRUE(resampler.resample(0, two.transforms[0], {-60, 20, {200, 4}}, shown));
    EXPECT_THROW(resampler.resample(0, two.transforms[0], {0, 0, {200, 5}}, shown),
                 std::logic_error);
    shown.resize(100);
    EXPECT_THROW(
        resampler.resample(0, registration::no_displacement(two.shape, 8), {60, 0, {20, 5}}, shown),
        std::logic_error);
}

} // namespace
} // namespace sextant::test
