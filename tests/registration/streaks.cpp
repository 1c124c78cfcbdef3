// SPDX-License-Identifier: BSD-3-Clause
// Pixels in which the mean of a series differs from its median by more than noise.
#include "sextant/registration/transform/streaks.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::registration {
namespace {

/// Mean and median of frames of Poisson noise; some samples of one pixel may be replaced.
class NoisyFrames {
  public:
    NoisyFrames(int frames, double dose, std::uint32_t seed, ImageShape size = {150, 130})
        : shape(size), frames_(frames), samples_(static_cast<std::size_t>(shape.elements())) {
        std::mt19937 engine(seed);
        for (std::size_t pixel = 0; pixel < samples_.size(); ++pixel) {
            // A bright half, whose noise is stronger.
            const bool bright = pixel % static_cast<std::size_t>(shape.width) > 75;
            std::poisson_distribution<int> noise(bright ? 5 * dose : dose);
            for (int frame = 0; frame < frames; ++frame)
                samples_[pixel].push_back(static_cast<float>(noise(engine)));
        }
    }

    void set(std::int64_t x, std::int64_t y, int frame, float value) {
        samples_[static_cast<std::size_t>(y * shape.width + x)][static_cast<std::size_t>(frame)] =
            value;
    }
    /// Leaves only this number of frames in a column, as near the border of a series that drifts.
    void cover(std::int64_t column, std::size_t frames) {
        for (std::int64_t y = 0; y < shape.height; ++y)
            samples_[static_cast<std::size_t>(y * shape.width + column)].resize(frames);
    }

    Combined combined() const {
        Combined all;
        for (std::vector<float> values : samples_) {
            double sum = 0;
            for (const float value : values)
                sum += static_cast<double>(value);
            std::sort(values.begin(), values.end());
            const std::size_t n = values.size();
            all.count.push_back(static_cast<float>(n));
            all.mean.push_back(n > 0 ? static_cast<float>(sum / static_cast<double>(n)) : 0);
            all.median.push_back(n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0);
        }
        return all;
    }

    ImageShape shape;

  private:
    int frames_;
    std::vector<std::vector<float>> samples_;
};

TEST(Streaks, are_not_found_in_noise_of_any_dose_and_length) {
    for (const double dose : {.3, 1., 4., 20., 400.}) {
        for (const int frames : {2, 5, 8, 24, 60}) {
            const NoisyFrames noisy(frames, dose, static_cast<std::uint32_t>(frames));
            EXPECT_EQ(find_streaks(noisy.combined(), noisy.shape).pixels, 0)
                << frames << " frames, dose " << dose;
        }
    }
}

TEST(Streaks, are_found_where_a_hot_pixel_passed) {
    NoisyFrames noisy(24, 10, 1);
    for (int frame = 0; frame < 24; ++frame)
        noisy.set(20 + frame, 40, frame, frame == 7 ? 600.F : 400.F); // 40 means
    const Streaks streaks = find_streaks(noisy.combined(), noisy.shape);
    EXPECT_EQ(streaks.pixels, 24);
    EXPECT_EQ(streaks.x, 27);
    EXPECT_EQ(streaks.y, 40);
    EXPECT_GT(streaks.most, 30);
}

TEST(Streaks, are_not_sought_where_few_frames_cover_a_pixel) {
    NoisyFrames noisy(24, 10, 2);
    noisy.cover(0, 11);
    noisy.cover(1, 0);
    noisy.set(0, 60, 3, 4000);
    EXPECT_EQ(find_streaks(noisy.combined(), noisy.shape).pixels, 0);
    noisy.set(2, 60, 3, 4000);
    EXPECT_EQ(find_streaks(noisy.combined(), noisy.shape).pixels, 1);
}

TEST(Streaks, are_not_found_in_an_image_without_noise) {
    NoisyFrames noisy(8, 0, 3);
    EXPECT_EQ(find_streaks(noisy.combined(), noisy.shape).pixels, 0);
}

TEST(Streaks, require_whole_images) {
    const NoisyFrames noisy(8, 1, 4, {40, 30});
    EXPECT_THROW(find_streaks(noisy.combined(), {40, 31}), std::logic_error);
    EXPECT_EQ(find_streaks({}, {0, 0}).pixels, 0);
}

} // namespace
} // namespace sextant::registration
