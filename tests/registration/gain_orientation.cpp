// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/gain_orientation.hpp"

#include "sextant/registration/synthetic.hpp"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::GainFit;
using registration::GainOrientation;
using registration::Mirror;
using registration::NoiseSource;
using registration::oriented;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr GainOrientation orientations[] = {{0, Mirror::none}, {0, Mirror::x},    {0, Mirror::y},
                                            {2, Mirror::none}, {1, Mirror::none}, {3, Mirror::none},
                                            {1, Mirror::x},    {1, Mirror::y}};

TEST(GainOrientation, turns_clockwise_and_then_mirrors) {
    const std::vector<double> image = {1, 2, 3, //
                                       4, 5, 6};
    const ImageShape shape{3, 2};
    EXPECT_THAT(oriented(image, shape, {1, Mirror::none}), ElementsAre(4, 1, 5, 2, 6, 3));
    EXPECT_THAT(oriented(image, shape, {2, Mirror::none}), ElementsAre(6, 5, 4, 3, 2, 1));
    EXPECT_THAT(oriented(image, shape, {3, Mirror::none}), ElementsAre(3, 6, 2, 5, 1, 4));
    EXPECT_THAT(oriented(image, shape, {0, Mirror::x}), ElementsAre(3, 2, 1, 6, 5, 4));
    EXPECT_THAT(oriented(image, shape, {0, Mirror::y}), ElementsAre(4, 5, 6, 1, 2, 3));
    EXPECT_THAT(oriented(image, shape, {1, Mirror::x}), ElementsAre(1, 4, 2, 5, 3, 6));
}

/// A gain image with a deviation of 5 %.
std::vector<double> made_gain(ImageShape shape, std::uint64_t seed) {
    NoiseSource noise(seed, 1);
    std::vector<double> gain(static_cast<std::size_t>(shape.elements()));
    for (double& value : gain)
        value = 1 + .05 * noise.normal();
    return gain;
}

/// The mean of frames: a smooth specimen times the gain, with noise of 2 %.
std::vector<float> made_mean(const std::vector<double>& gain, ImageShape shape) {
    NoiseSource noise(7, 2);
    std::vector<float> mean;
    for (std::size_t i = 0; i < gain.size(); ++i) {
        const auto x = static_cast<double>(static_cast<Elements>(i) % shape.width);
        const double specimen = 100 * (1 + .3 * std::sin(x / 9));
        mean.push_back(static_cast<float>(specimen * gain[i] * (1 + .02 * noise.normal())));
    }
    return mean;
}

TEST(BetterGain, finds_every_orientation_and_the_reciprocal) {
    for (const ImageShape shape : {ImageShape{64, 64}, ImageShape{80, 48}}) {
        const std::vector<double> right = made_gain(shape, 3);
        const std::vector<float> mean = made_mean(right, shape);
        for (const GainOrientation one : orientations) {
            if (one.turns % 2 != 0 && shape.width != shape.height)
                continue;
            for (const bool reciprocal : {false, true}) {
                // The given gain is such that `one` makes it right.
                std::vector<double> given;
                for (const GainOrientation back : orientations) {
                    given = oriented(right, shape, back);
                    if (oriented(given, shape, one) == right)
                        break;
                }
                ASSERT_EQ(oriented(given, shape, one), right);
                if (reciprocal) {
                    for (double& value : given)
                        value = 1 / value;
                }
                const std::optional<GainFit> better = registration::better_gain(mean, given, shape);
                const bool fits = one == GainOrientation() && !reciprocal;
                ASSERT_EQ(better.has_value(), !fits) << one.turns;
                if (fits)
                    continue;
                EXPECT_EQ(better->orientation, one);
                EXPECT_EQ(better->reciprocal, reciprocal);
                EXPECT_GT(std::abs(better->best), .7);
            }
        }
    }
}

TEST(BetterGain, is_silent_about_an_unrelated_or_empty_gain) {
    const ImageShape shape{96, 96};
    const std::vector<float> mean = made_mean(made_gain(shape, 3), shape);
    for (std::uint64_t seed = 10; seed < 30; ++seed)
        EXPECT_FALSE(registration::better_gain(mean, made_gain(shape, seed), shape)) << seed;
    std::vector<double> flat(mean.size(), 1.), zeros(mean.size(), 0.);
    EXPECT_FALSE(registration::better_gain(mean, flat, shape));
    EXPECT_FALSE(registration::better_gain(mean, zeros, shape));
}

TEST(BetterGain, is_stated_in_words) {
    GainFit fit;
    fit.orientation = {1, Mirror::x};
    fit.best = .41;
    fit.given = .01;
    EXPECT_EQ(fit.text(),
              "rotated clockwise by 90 degrees, then mirrored left to right (correlation "
              "of fine detail 0.41, as given 0.01)");
}

} // namespace
} // namespace sextant::test
