// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::registration {
namespace {

using Samples = std::vector<float>;

Samples noise(ImageShape shape, unsigned seed, double deviation) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(100, deviation);
    Samples samples(static_cast<std::size_t>(shape.elements()));
    for (float& sample : samples)
        sample = static_cast<float>(normal(random));
    return samples;
}

Samples sum(const Samples& a, const Samples& b) {
    Samples samples(a.size());
    std::ranges::transform(a, b, samples.begin(), std::plus{});
    return samples;
}

/// Waves of random directions whose frequencies are up to `highest` cycles per pixel.
Samples waves(ImageShape shape, double highest) {
    std::mt19937 random(17);
    std::uniform_real_distribution<double> uniform;
    Samples samples(static_cast<std::size_t>(shape.elements()));
    for (int wave = 0; wave < 400; ++wave) {
        const double frequency = 2 * std::numbers::pi * highest * std::sqrt(uniform(random));
        const double angle = 2 * std::numbers::pi * uniform(random), phase = 7 * uniform(random);
        for (Elements y = 0; y < shape.height; ++y) {
            for (Elements x = 0; x < shape.width; ++x)
                samples[static_cast<std::size_t>(y * shape.width + x)] += static_cast<float>(
                    std::cos(frequency * (std::cos(angle) * static_cast<double>(x) +
                                          std::sin(angle) * static_cast<double>(y)) +
                             phase));
        }
    }
    return samples;
}

/// The definition, with sums over all pixels for each coefficient.
std::vector<double> reference(const Samples& a, const Samples& b, Elements side) {
    const auto n = static_cast<double>(side);
    const auto mean = [](const Samples& samples) {
        return std::accumulate(samples.begin(), samples.end(), 0.) /
               static_cast<double>(samples.size());
    };
    const double mean_a = mean(a), mean_b = mean(b);
    std::vector<std::complex<double>> products(static_cast<std::size_t>(side / 2 + 1));
    std::vector<double> power_a(products.size()), power_b(products.size());
    for (Elements v = -side / 2; v < side / 2; ++v) {
        for (Elements u = -side / 2; u < side / 2; ++u) {
            const auto ring = static_cast<std::size_t>(
                std::lround(std::hypot(static_cast<double>(u), static_cast<double>(v))));
            if (ring >= products.size())
                continue;
            std::complex<double> of_a, of_b;
            for (Elements y = 0; y < side; ++y) {
                for (Elements x = 0; x < side; ++x) {
                    const auto window = [&](Elements i) {
                        return .5 - .5 * std::cos(2 * std::numbers::pi *
                                                  (static_cast<double>(i) + .5) / n);
                    };
                    const auto wave =
                        std::polar(window(x) * window(y),
                                   -2 * std::numbers::pi * static_cast<double>(u * x + v * y) / n);
                    const auto pixel = static_cast<std::size_t>(y * side + x);
                    of_a += wave * (static_cast<double>(a[pixel]) - mean_a);
                    of_b += wave * (static_cast<double>(b[pixel]) - mean_b);
                }
            }
            products[ring] += of_a * std::conj(of_b);
            power_a[ring] += std::norm(of_a);
            power_b[ring] += std::norm(of_b);
        }
    }
    std::vector<double> values(products.size(), 1);
    for (std::size_t ring = 1; ring < values.size(); ++ring)
        values[ring] = products[ring].real() / std::sqrt(power_a[ring] * power_b[ring]);
    return values;
}

TEST(RingCorrelation, is_that_of_the_definition) {
    const ImageShape shape{16, 16};
    const Samples common = noise(shape, 1, 1);
    const Samples a = sum(common, noise(shape, 2, .7)), b = sum(common, noise(shape, 3, .9));
    const RingCorrelation found = ring_correlation(a, b, shape);
    ASSERT_EQ(found.side, 16);
    const std::vector<double> expected = reference(a, b, 16);
    ASSERT_EQ(found.values.size(), expected.size());
    for (std::size_t ring = 0; ring < expected.size(); ++ring)
        EXPECT_NEAR(found.values[ring], expected[ring], 1e-5) << ring;
}

TEST(RingCorrelation, is_one_for_equal_images_up_to_gain_and_level) {
    const ImageShape shape{200, 140};
    const Samples a = noise(shape, 1, 1);
    Samples b = a;
    for (float& sample : b)
        sample = 3 * sample - 50;
    const RingCorrelation found = ring_correlation(a, b, shape);
    EXPECT_EQ(found.side, 128);
    for (const double value : found.values)
        EXPECT_NEAR(value, 1, 1e-4);
    EXPECT_EQ(found.resolved, .5);
    EXPECT_EQ(found.highest, 0);
}

TEST(RingCorrelation, of_noise_resolves_nothing) {
    const ImageShape shape{256, 256};
    for (unsigned seed = 0; seed < 40; seed += 2) {
        const RingCorrelation found =
            ring_correlation(noise(shape, seed, 1), noise(shape, seed + 1, 1), shape);
        EXPECT_EQ(found.resolved, 0) << seed;
        EXPECT_EQ(found.highest, 0) << seed;
        const double high = std::accumulate(found.values.begin() + 64, found.values.end(), 0.) / 65;
        EXPECT_NEAR(high, 0, .03) << seed;
    }
}

TEST(RingCorrelation, follows_from_the_ratio_of_signal_and_noise) {
    const ImageShape shape{512, 512};
    const Samples signal = noise(shape, 1, 1);
    const RingCorrelation found = ring_correlation(sum(signal, noise(shape, 2, 1.2)),
                                                   sum(signal, noise(shape, 3, 1.2)), shape);
    const double mean = std::accumulate(found.values.begin() + 30, found.values.end(), 0.) /
                        static_cast<double>(found.values.size() - 30);
    EXPECT_NEAR(mean, 1 / (1 + 1.2 * 1.2), .01);
    EXPECT_EQ(found.resolved, .5);
}

TEST(RingCorrelation, falls_where_the_signal_ends) {
    const ImageShape shape{256, 256};
    for (const double highest : {.05, .12, .3}) {
        const Samples signal = waves(shape, highest);
        const RingCorrelation found = ring_correlation(sum(signal, noise(shape, 2, 4)),
                                                       sum(signal, noise(shape, 3, 4)), shape);
        EXPECT_NEAR(found.resolved, highest, .02);
        EXPECT_EQ(found.highest, 0);
    }
}

TEST(RingCorrelation, shows_the_spots_of_a_lattice_beyond) {
    const ImageShape shape{256, 256};
    Samples lattice = waves(shape, .12);
    for (std::size_t i = 0; i < lattice.size(); ++i)
        lattice[i] += static_cast<float>(
            5 * std::cos(2 * std::numbers::pi * .35 * static_cast<double>(i % 256)));
    const RingCorrelation found =
        ring_correlation(sum(lattice, noise(shape, 2, 4)), sum(lattice, noise(shape, 3, 4)), shape);
    EXPECT_NEAR(found.resolved, .12, .015);
    EXPECT_NEAR(found.highest, .35, .015);
}

TEST(RingCorrelation, leaves_out_what_an_image_lacks) {
    const ImageShape shape{256, 256};
    const Samples signal = noise(shape, 1, 1);
    Samples a = sum(signal, noise(shape, 2, .2)), b = sum(signal, noise(shape, 3, .2));
    for (Elements y = 0; y < 256; ++y) {
        for (Elements x = 0; x < 40; ++x)
            a[static_cast<std::size_t>(y * 256 + x)] = std::numeric_limits<float>::quiet_NaN();
    }
    EXPECT_EQ(ring_correlation(a, b, shape).resolved, .5);
    std::ranges::fill(a, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(ring_correlation(a, b, shape).resolved, 0);
}

TEST(RingCorrelation, of_small_images_is_empty) {
    EXPECT_TRUE(ring_correlation(Samples(15 * 40), Samples(15 * 40), {15, 40}).values.empty());
    EXPECT_THROW(ring_correlation(Samples(10), Samples(40), {5, 8}), std::logic_error);
    const ImageShape shape{32, 32};
    EXPECT_EQ(ring_correlation(Samples(32 * 32, 1), Samples(32 * 32, 1), shape).resolved, 0);
}

struct PlaneWave {
    Samples mean, count;
};

PowerSpectrum spectrum_of(const PlaneWave& image, ImageShape shape, Elements most = 512) {
    return log_power_spectrum(image.mean, image.count, shape, most);
}

/// A wave of this many periods along 64 pixels, in the centre of an image.
PlaneWave wave(ImageShape shape, double along_x, double along_y) {
    PlaneWave image;
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

TEST(PowerSpectrum, has_peaks_at_the_frequency_of_a_wave) {
    const PowerSpectrum spectrum = spectrum_of(wave({100, 70}, 9, -4), {100, 70});
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

TEST(PowerSpectrum, ignores_pixels_that_no_frame_covers) {
    PlaneWave image = wave({64, 64}, 9, 0);
    const PowerSpectrum whole = spectrum_of(image, {64, 64});
    for (Elements y = 0; y < 64; ++y) { // where the window is largest
        image.mean[static_cast<std::size_t>(y * 64 + 32)] = 0;
        image.count[static_cast<std::size_t>(y * 64 + 32)] = 0;
    }
    const PowerSpectrum gap = spectrum_of(image, {64, 64});
    EXPECT_NEAR(gap.values[32 * 64 + 41], whole.values[32 * 64 + 41], .3);
    // Zeros instead of the average would cause a power of 2 ln(100 * 32) = 16 here.
    EXPECT_LT(gap.values[32 * 64 + 32], 12);
}

TEST(PowerSpectrum, is_of_a_limited_square_and_requires_an_image) {
    EXPECT_EQ(spectrum_of(wave({100, 300}, 1, 0), {100, 300}, 32).side, 32);
    EXPECT_THROW(spectrum_of({}, {64, 64}), std::logic_error);
    EXPECT_THROW(spectrum_of({}, {0, 0}), std::logic_error);
}

} // namespace
} // namespace sextant::registration
