// SPDX-License-Identifier: BSD-3-Clause
// Resampled frames, compared with interpolation pixel by pixel.
#include "sextant/core/memory_frames.hpp"
#include "sextant/registration/combined.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::Point;
using registration::RigidMotion;

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

TEST(Resampler, HasTheBitsOfInterpolationPixelByPixelForAnyRigidMotion) {
    const std::vector<float> frame = pattern();
    MemoryFrames source({1, shape}, std::as_bytes(std::span(frame)));
    registration::Resampler resampler(source);
    std::vector<float> shown(frame.size());
    for (const RigidMotion& motion :
         {RigidMotion{0, 0, 0}, RigidMotion{0, 3, -2}, RigidMotion{0, .25, .5},
          RigidMotion{0, -7.3, 4}, RigidMotion{0, 4, -7.3}, RigidMotion{.004, 1.2, -.7},
          RigidMotion{-.03, 11.9, 5.1}, RigidMotion{.6, 20, -3}, RigidMotion{3.1, .1, .2},
          RigidMotion{1e-9, 1e-8, 1 - 1e-8}, RigidMotion{0, 300, 0}}) {
        resampler.show(0, motion, registration::area_of(shape), shown);
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

} // namespace
} // namespace sextant::test
