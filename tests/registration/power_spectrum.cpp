// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::registration {
namespace {

/// A wave of this many periods along 64 pixels, in the centre of an image.
Combined wave(ImageShape shape, double along_x, double along_y) {
    Combined image;
    const Elements left = (shape.width - 64) / 2, top = (shape.height - 64) / 2;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            image.mean.push_back(
                static_cast<float>(100 + 5 * std::cos(2 * std::numbers::pi *
                                                      (along_x * static_cast<double>(x - left) +
                                                       along_y * static_cast<double>(y - top)) /
                                                      64)));
    }
    image.count.assign(image.mean.size(), 1);
    return image;
}

TEST(PowerSpectrum, HasPeaksAtTheFrequencyOfAWave) {
    const PowerSpectrum spectrum = log_power_spectrum(wave({100, 70}, 9, -4), {100, 70});
    ASSERT_EQ(spectrum.side, 64);
    const auto at = [&](Elements x, Elements y) {
        return spectrum.values[static_cast<std::size_t>(y * 64 + x)];
    };
    const float peak = *std::max_element(spectrum.values.begin(), spectrum.values.end());
    EXPECT_FLOAT_EQ(at(32 + 9, 32 - 4), peak);
    EXPECT_NEAR(at(32 - 9, 32 + 4), peak, 1e-3);
    // The transform of 5 cos under a Hann window, of average 1/4, over 64² pixels.
    EXPECT_NEAR(peak, 2 * std::log(5. / 2 / 4 * 64 * 64), .01);
    EXPECT_LT(at(32, 32), 1e-3) << "the average is subtracted";
    EXPECT_LT(at(10, 10), 1);
}

TEST(PowerSpectrum, IgnoresPixelsThatNoFrameCovers) {
    Combined image = wave({64, 64}, 9, 0);
    const PowerSpectrum whole = log_power_spectrum(image, {64, 64});
    for (Elements y = 0; y < 64; ++y) { // where the window is largest
        image.mean[static_cast<std::size_t>(y * 64 + 32)] = 0;
        image.count[static_cast<std::size_t>(y * 64 + 32)] = 0;
    }
    const PowerSpectrum gap = log_power_spectrum(image, {64, 64});
    EXPECT_NEAR(gap.values[32 * 64 + 41], whole.values[32 * 64 + 41], .3);
    // Zeros instead of the average would cause a power of 2 ln(100 * 32) = 16 here.
    EXPECT_LT(gap.values[32 * 64 + 32], 12);
}

TEST(PowerSpectrum, IsOfALimitedSquareAndRequiresAnImage) {
    EXPECT_EQ(log_power_spectrum(wave({100, 300}, 1, 0), {100, 300}, 32).side, 32);
    EXPECT_THROW(log_power_spectrum({}, {64, 64}), std::logic_error);
    EXPECT_THROW(log_power_spectrum({}, {0, 0}), std::logic_error);
}

} // namespace
} // namespace sextant::registration
