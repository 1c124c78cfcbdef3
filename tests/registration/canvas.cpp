// SPDX-License-Identifier: BSD-3-Clause
// The areas that registered frames cover, and images of other areas than that of the reference.
// Resampled frames, compared with interpolation pixel by pixel, and their averages.
#include "sextant/registration/transform/canvas.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/registration/transform/combined.hpp"
#include "sextant/registration/transform/spectra.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

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

using registration::Point;

constexpr ImageShape shape{203, 67}; // not a multiple of the pixels interpolated at a time
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> pattern() {
    std::vector<float> frame(static_cast<std::size_t>(shape.elements()));
    std::uint32_t state = 1;
    for (float& sample : frame) {
        state = state * 1664525 + 1013904223;
        sample = static_cast<float>(state >> 8) / 1000.F - 3000;
    }
    frame[static_cast<std::size_t>(30 * shape.width + 90)] = nan;
    return frame;
}

/// Bilinear interpolation at φ(x); samples of weight 0 are not used.
float interpolated(const std::vector<float>& frame, const RigidMotion& motion, double x, double y) {
    const Point c = registration::centre(shape);
    const double cosine = std::cos(motion.alpha), sine = std::sin(motion.alpha);
    const double px = cosine * (x - c.x) - sine * (y - c.y) + c.x + motion.tx;
    const double py = sine * (x - c.x) + cosine * (y - c.y) + c.y + motion.ty;
    if (!(px >= 0 && px <= static_cast<double>(shape.width - 1) && py >= 0 &&
          py <= static_cast<double>(shape.height - 1)))
        return nan;
    const double left = std::floor(px), top = std::floor(py), u = px - left, v = py - top;
    const auto at = [&](double column, double row) {
        return static_cast<double>(
            frame[static_cast<std::size_t>(row) * static_cast<std::size_t>(shape.width) +
                  static_cast<std::size_t>(column)]);
    };
    const auto between = [&](double row) {
        return u == 0 ? at(left, row) : (1 - u) * at(left, row) + u * at(left + 1, row);
    };
    return static_cast<float>(v == 0 ? between(top)
                                     : (1 - v) * between(top) + v * between(top + 1));
}

TEST(Resampler, has_the_bits_of_interpolation_pixel_by_pixel_for_any_rigid_motion) {
    const std::vector<float> frame = pattern();
    MemoryFrames source({1, shape}, std::as_bytes(std::span(frame)));
    registration::Resampler resampler(source);
    std::vector<float> shown(frame.size());
    for (const RigidMotion& motion :
         {RigidMotion{0, 0, 0}, RigidMotion{0, 3, -2}, RigidMotion{0, .25, .5},
          RigidMotion{0, -7.3, 4}, RigidMotion{0, 4, -7.3}, RigidMotion{.004, 1.2, -.7},
          RigidMotion{-.03, 11.9, 5.1}, RigidMotion{.6, 20, -3}, RigidMotion{3.1, .1, .2},
          RigidMotion{1e-9, 1e-8, 1 - 1e-8}, RigidMotion{0, 300, 0}}) {
        resampler.resample(0, motion, registration::area_of(shape), shown);
        std::int64_t different = 0;
        for (std::int64_t y = 0; y < shape.height; ++y) {
            for (std::int64_t x = 0; x < shape.width; ++x) {
                const float expected =
                    interpolated(frame, motion, static_cast<double>(x), static_cast<double>(y));
                const float found = shown[static_cast<std::size_t>(y * shape.width + x)];
                different += std::isnan(expected) ? !std::isnan(found)
                                                  : std::bit_cast<std::uint32_t>(expected) !=
                                                        std::bit_cast<std::uint32_t>(found);
            }
        }
        EXPECT_EQ(different, 0) << motion.alpha << " " << motion.tx << " " << motion.ty;
    }
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values)
        bits.push_back(std::isnan(value) ? ~0U : std::bit_cast<std::uint32_t>(value));
    return bits;
}

/// Requires that rows are read one after another, each once.
class ReadInOrder : public FrameSource {
  public:
    ReadInOrder(ImageShape image, std::span<const float> frame)
        : FrameSource("memory", {1, image}, {[this](auto... part) { load(part...); }}),
          frame_({1, image}, std::as_bytes(frame)) {}
    std::int64_t next = 0; ///< the row after those that were read; 0: any

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        EXPECT_TRUE(next == 0 || rows.first == next) << rows.first << " instead of " << next;
        next = rows.last;
        frame_.read_samples(frame, rows, to);
    }

    MemoryFrames frame_;
};

TEST(Resampler, shows_the_same_samples_row_by_row_and_reads_each_row_once) {
    constexpr ImageShape tall{52, 90000}; // of more rows than are shown at a time
    std::vector<float> frame(static_cast<std::size_t>(tall.elements()));
    for (std::size_t i = 0; i < frame.size(); ++i)
        frame[i] = static_cast<float>(i * 2654435761U % 100003);
    registration::RowMotion of_rows{{1e-4, .3, -2.6}, {}, {}};
    for (Elements y = 0; y < tall.height; ++y) {
        of_rows.dx.push_back(static_cast<float>(y % 7) / 7);
        of_rows.dy.push_back(static_cast<float>(y % 5) / 9);
    }
    const registration::PixelArea within{1, 40, {50, tall.height - 60}};
    const registration::PixelArea larger{-5, -3000, {61, tall.height + 6000}};
    for (const registration::Transform& transform :
         {registration::Transform(RigidMotion{0, 3, -2}),
          registration::Transform(RigidMotion{.001, -3, 8}), registration::Transform(of_rows)}) {
        for (const auto& area : {within, larger}) {
            ReadInOrder source(tall, frame);
            std::vector<float> whole(static_cast<std::size_t>(area.shape.elements())), rows, buffer;
            registration::Resampler(source).resample(0, transform, area, whole);
            source.next = 0;
            const auto append = [&rows](std::span<const float> some) {
                rows.insert(rows.end(), some.begin(), some.end());
            };
            registration::Resampler by_rows(source);
            by_rows.resample_rows(0, transform, area, buffer, append); // allocates
            rows.clear();
            source.next = 0;
            by_rows.resample_rows(0, transform, area, buffer, append);
            EXPECT_TRUE(bits_of(rows) == bits_of(whole)) << transform.index();
            EXPECT_LT(buffer.capacity(), whole.size());
        }
    }
}

TEST(Combined, has_the_means_of_every_second_frame_in_the_square_that_is_compared) {
    constexpr std::int64_t count = 5;
    std::vector<float> frames;
    for (std::int64_t frame = 0; frame < count; ++frame) {
        const std::vector<float> pixels = pattern();
        for (std::size_t i = 0; i < pixels.size(); ++i)
            frames.push_back(
                i % 97 == static_cast<std::size_t>(frame)
                    ? nan
                    : pixels[(i + static_cast<std::size_t>(frame) * 31) % pixels.size()]);
    }
    const auto shift = [](std::int64_t frame) {
        return registration::Transform(RigidMotion{0, .4 * static_cast<double>(frame), 9});
    };
    const registration::PixelArea area{-3, -4, {150, 71}};
    const registration::PixelArea square = registration::ring_area(area.shape);
    EXPECT_EQ(square, (registration::PixelArea{43, 3, {64, 64}}));
    const std::vector<registration::Contribution> weighted{
        {1, 2, .5}, {0, 1, 1}, {-3, 1.5, 2}, {2, 1, 1}, {0, .5, 3}};
    for (const bool weights : {false, true}) {
        const auto combined = [&](const std::vector<std::int64_t>& chosen, int ranks, Bytes rows) {
            registration::Combined result;
            run_threads(ranks, [&](const Communicator& communicator) {
                MemoryFrames source({count, shape}, std::as_bytes(std::span(frames)));
                registration::CombineOptions options;
                options.area = area;
                options.halves = true;
                options.threads = 2;
                for (const std::int64_t frame : chosen) {
                    if (weights)
                        options.contributions.push_back(weighted[static_cast<std::size_t>(frame)]);
                }
                options.memory = rows * registration::least_memory(std::ssize(chosen),
                                                                   area.shape.width, options);
                registration::Combined found =
                    registration::combine(communicator, source, chosen, shift, options);
                if (communicator.rank() == 0)
                    result = std::move(found);
            });
            return result;
        };
        const std::vector<float> first = combined({0, 2, 4}, 1, 100).mean;
        const std::vector<float> second = combined({1, 3}, 1, 100).mean;
        for (const auto& [ranks, rows] : {std::pair{1, 100}, std::pair{1, 7}, std::pair{3, 5}}) {
            const auto halves = combined({0, 1, 2, 3, 4}, ranks, rows).halves;
            for (const auto& [half, mean] :
                 {std::pair(&halves[0], &first), {&halves[1], &second}}) {
                ASSERT_EQ(std::ssize(*half), square.shape.elements());
                for (Elements y = 0; y < square.shape.height; ++y) {
                    for (Elements x = 0; x < square.shape.width; ++x) {
                        const auto at = static_cast<std::size_t>(y * square.shape.width + x);
                        const auto of_all = static_cast<std::size_t>(
                            (square.y + y) * area.shape.width + square.x + x);
                        if (!std::isnan((*half)[at])) {
                            ASSERT_NEAR((*half)[at], (*mean)[of_all], 1e-2) << x << " " << y;
                        } else {
                            ASSERT_EQ((*mean)[of_all], 0) << x << " " << y;
                        }
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace sextant::test
