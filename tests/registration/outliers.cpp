// SPDX-License-Identifier: BSD-3-Clause
// Outliers: clean frames have none, and hot pixels and cosmic rays are found.
// Rows and columns without signal are recognised, and dark parts of a specimen are not.
#include "sextant/registration/correct/outliers.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/registration/made_series.hpp"
#include "tests/registration/trials.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::find_outliers;
using registration::SeriesPlan;
using registration::SyntheticSeries;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr ImageShape shape{256, 256};

std::vector<float> values_of(const kernel::FloatPlane& plane) {
    std::vector<float> values;
    for (Elements y = 0; y < plane.shape().height; ++y)
        values.insert(values.end(), plane.image().row(y),
                      plane.image().row(y) + plane.shape().width);
    return values;
}

SyntheticSeries series_of(std::string_view kind, double dose, int frames, std::uint64_t seed = 1,
                          ImageShape of_frames = shape) {
    SeriesPlan plan;
    plan.shape = of_frames;
    plan.frames = frames;
    plan.dose = dose;
    plan.drift = {0, 1.3, -.7};
    plan.seed = seed;
    return SyntheticSeries(plan, specimen_of(plan, kind, seed));
}

std::vector<float> clean_frame(double dose, std::uint64_t seed = 1) {
    return values_of(series_of("carbon", dose, 1, seed).counted(0));
}

/// A field of a value with normally distributed noise.
std::vector<float> noisy_field(double value, double deviation, std::uint64_t seed = 1) {
    registration::NoiseSource noise(seed, 1);
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()));
    for (float& sample : samples)
        sample = static_cast<float>(value + deviation * noise.normal());
    return samples;
}

float& pixel(std::vector<float>& samples, Elements x, Elements y) {
    return samples[static_cast<std::size_t>(y * shape.width + x)];
}

Elements index_of(Elements x, Elements y) {
    return y * shape.width + x;
}

/// Adds a spot whose profile is a Gaussian, as of a point in the specimen.
void add_spot(std::vector<float>& samples, double x, double y, double sigma, double height) {
    for (Elements row = 0; row < shape.height; ++row) {
        for (Elements column = 0; column < shape.width; ++column) {
            const double dx = static_cast<double>(column) - x, dy = static_cast<double>(row) - y;
            pixel(samples, column, row) +=
                static_cast<float>(height * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)));
        }
    }
}

std::vector<Elements> outliers(const std::vector<float>& samples,
                               double threshold = registration::automatic_threshold) {
    return find_outliers(samples, shape, threshold).pixels;
}

TEST(Outliers, are_not_found_in_clean_frames_of_any_dose) {
    for (const char* kind : {"lattice", "carbon", "particles"}) {
        std::size_t found = 0;
        for (const double dose : {.005, .02, .05, .1, .5, 1., 2., 5., 10., 20.}) {
            const SyntheticSeries series = series_of(kind, dose, 2);
            for (int frame = 0; frame < 2; ++frame)
                found += outliers(values_of(series.counted(frame))).size();
        }
        EXPECT_LE(found, 1U) << kind; // one in a million of 20 frames' samples
    }
}

TEST(Outliers, are_not_found_at_steps_in_saturated_areas_or_at_corners) {
    std::vector<float> samples = noisy_field(20, 4);
    for (Elements y = 0; y < shape.height; ++y)
        for (Elements x = 120; x < shape.width; ++x)
            pixel(samples, x, y) += 5000;
    EXPECT_THAT(outliers(samples), IsEmpty()) << "a step";
    samples = noisy_field(20, 4);
    for (Elements y = 40; y < 50; ++y)
        for (Elements x = 60; x < 68; ++x)
            pixel(samples, x, y) = 65535;
    EXPECT_THAT(outliers(samples), IsEmpty()) << "a small saturated area";
    samples.assign(samples.size(), 7);
    EXPECT_THAT(outliers(samples), IsEmpty()) << "a constant frame";
}

TEST(Outliers, are_not_found_in_sharp_detail_however_bright_it_is) {
    registration::NoiseSource places(3, 1);
    for (const double sigma : {.8, 1., 1.5, 3.}) {
        for (const double height : {100., 1000., 1e5}) {
            std::vector<float> samples = noisy_field(20, 4);
            for (int spot = 0; spot < 6; ++spot)
                add_spot(samples, 30 + 190 * places.uniform(), 30 + 190 * places.uniform(), sigma,
                         height);
            EXPECT_THAT(outliers(samples), IsEmpty()) << sigma << " " << height;
        }
    }
}

TEST(Outliers, include_hot_pixels_anywhere_also_at_borders_and_beside_gaps) {
    for (const double dose : {.5, 2., 10., 20.}) {
        std::vector<float> samples = clean_frame(dose);
        const auto hot = static_cast<float>(40 * dose);
        std::vector<Elements> expected = {index_of(0, 0), index_of(255, 30), index_of(90, 77),
                                          index_of(91, 77), index_of(12, 255)};
        for (const Elements index : expected)
            samples[static_cast<std::size_t>(index)] = hot;
        for (const Elements x : {88, 89, 92})
            pixel(samples, x, 77) = std::numeric_limits<float>::quiet_NaN();
        EXPECT_THAT(outliers(samples), ElementsAreArray(expected)) << dose;
    }
}

TEST(Outliers, are_found_whatever_their_size_and_beside_much_larger_ones) {
    for (const float huge : {1e4F, 1e10F, 1e25F, 3e38F}) {
        std::vector<float> samples = clean_frame(10);
        pixel(samples, 30, 40) = huge;
        pixel(samples, 130, 140) = 400;
        pixel(samples, 200, 10) = -huge;
        EXPECT_THAT(outliers(samples),
                    ElementsAre(index_of(200, 10), index_of(30, 40), index_of(130, 140)))
            << static_cast<double>(huge);
    }
}

TEST(Outliers, do_not_depend_on_an_offset) {
    std::vector<float> samples = clean_frame(10);
    pixel(samples, 130, 140) = 400;
    for (float& sample : samples)
        sample += 60000;
    EXPECT_THAT(outliers(samples), ElementsAre(index_of(130, 140)));
    for (float& sample : samples)
        sample -= 120000;
    EXPECT_THAT(outliers(samples), ElementsAre(index_of(130, 140)));
}

TEST(Outliers, include_streaks_of_cosmic_rays_in_any_direction) {
    for (const double width : {.2, .35, .5}) {
        for (const double angle : {0., .3, .78, 1.2}) {
            std::vector<float> samples = clean_frame(10);
            const std::vector<float> before = samples;
            for (Elements y = 0; y < shape.height; ++y) {
                for (Elements x = 0; x < shape.width; ++x) {
                    const double dx = static_cast<double>(x) - 100,
                                 dy = static_cast<double>(y) - 120;
                    const double along = dx * std::cos(angle) + dy * std::sin(angle);
                    const double across = dy * std::cos(angle) - dx * std::sin(angle);
                    if (std::abs(along) > 9)
                        continue;
                    pixel(samples, x, y) += static_cast<float>(
                        (2000 + 100 * along) * std::exp(-across * across / (2 * width * width)));
                }
            }
            double left = 0;
            const std::vector<Elements> found = outliers(samples);
            for (std::size_t i = 0; i < samples.size(); ++i) {
                if (!std::binary_search(found.begin(), found.end(), static_cast<Elements>(i)))
                    left = std::max(left, static_cast<double>(samples[i] - before[i]));
            }
            EXPECT_LT(left, 80) << width << " " << angle;
            EXPECT_GE(found.size(), 12U) << width << " " << angle;
            EXPECT_LE(found.size(), 100U) << width << " " << angle;
        }
    }
}

TEST(Outliers, follow_the_threshold_that_is_chosen) {
    std::vector<float> samples = noisy_field(100, 2);
    pixel(samples, 50, 60) = 115;
    EXPECT_THAT(outliers(samples), IsEmpty());
    EXPECT_THAT(outliers(samples, 5), ElementsAre(index_of(50, 60)));
    pixel(samples, 50, 60) = 150;
    EXPECT_THAT(outliers(samples), ElementsAre(index_of(50, 60)));
    EXPECT_THAT(outliers(samples, 50), IsEmpty());
}

TEST(Outliers, are_described_by_their_number_and_the_largest) {
    EXPECT_EQ(describe(registration::OutlierSummary{}), "");
    EXPECT_EQ(describe(registration::OutlierSummary{1, 3012, 251, 90}),
              "a hot pixel of 3012 at (251, 90)");
    EXPECT_EQ(describe(registration::OutlierSummary{14, 3012, 251, 90}),
              "14 outliers, the largest 3012 at (251, 90)");
}

TEST(Outliers, have_a_threshold_of_auto_off_or_a_number_from_4_to_1000) {
    registration::Despike despike;
    Record record;
    const Field& field = record.add("despike", codec_of(despike), "SIGMA", "");
    EXPECT_EQ(field.text(), "auto");
    field.set("off");
    EXPECT_FALSE(despike.enabled);
    EXPECT_EQ(field.text(), "off");
    field.set("6.5");
    EXPECT_TRUE(despike.enabled);
    EXPECT_EQ(despike.sigma, 6.5);
    field.set("auto");
    EXPECT_EQ(despike.sigma, std::nullopt);
    for (const char* wrong : {"", "sigma", "0", "-5", "3.9", "nan", "1e9", "8 "}) {
        EXPECT_THAT([&] { field.set(wrong); },
                    testing::ThrowsMessage<InvalidTask>(
                        testing::HasSubstr("expected auto, off, or a number from 4 to 1000")))
            << wrong;
    }
    despike.sigma = -1;
    EXPECT_THROW(despike.check(), InvalidTask);
}

using registration::find_blank_lines;
using registration::LineBand;

constexpr ImageShape wide{128, 96};

std::vector<float> counted(const char* kind, double dose, std::uint64_t seed) {
    return values_of(series_of(kind, dose, 1, seed, wide).counted(0));
}

/// Replaces some lines by what is counted without beam.
void darken(std::vector<float>& samples, const LineBand& band, double counts, double level = 0) {
    registration::NoiseSource noise(7, 0);
    for (Elements y = 0; y < wide.height; ++y) {
        for (Elements x = 0; x < wide.width; ++x) {
            const Elements line = band.columns ? x : y;
            if (line >= band.first && line < band.last)
                samples[static_cast<std::size_t>(y * wide.width + x)] =
                    static_cast<float>(level + noise.poisson(counts));
        }
    }
}

MATCHER_P3(IsBand, columns, first, last, "") {
    return arg.columns == columns && arg.first == first && arg.last == last;
}

TEST(BlankLines, are_found_in_every_specimen_at_every_dose) {
    for (const char* kind : {"lattice", "particles", "carbon"}) {
        for (const double dose : {1., 10., 100.}) {
            for (const double level : {0., 100.}) {
                std::vector<float> samples = counted(kind, dose, 3);
                for (float& sample : samples)
                    sample += static_cast<float>(level);
                EXPECT_THAT(find_blank_lines(samples, wide).bands, testing::IsEmpty());
                std::vector<float> lower = samples, left = samples;
                darken(lower, {false, 48, 96}, .02 * dose, level);
                EXPECT_THAT(find_blank_lines(lower, wide).bands,
                            testing::ElementsAre(IsBand(false, 48, 96)))
                    << kind << " " << dose;
                darken(left, {true, 0, 20}, .02 * dose, level);
                EXPECT_THAT(find_blank_lines(left, wide).bands,
                            testing::ElementsAre(IsBand(true, 0, 20)))
                    << kind << " " << dose;
                EXPECT_EQ(samples_in(find_blank_lines(left, wide).bands, wide), 20 * 96);
            }
        }
    }
}

TEST(BlankLines, are_not_those_of_few_electrons_or_of_a_specimen_that_fades_out) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_THAT(find_blank_lines(counted("carbon", .01, seed), wide).bands, testing::IsEmpty());
    std::vector<float> vacuum = counted("carbon", 100, 1);
    for (Elements y = 0; y < wide.height; ++y) {
        // the edge of the specimen is not parallel to the rows
        for (Elements x = 0; x < wide.width; ++x) {
            const double lit =
                1 / (1 + std::exp((static_cast<double>(y) - 50 + .1 * static_cast<double>(x)) / 2));
            vacuum[static_cast<std::size_t>(y * wide.width + x)] *= static_cast<float>(lit);
        }
    }
    EXPECT_THAT(find_blank_lines(vacuum, wide).bands, testing::IsEmpty());
}

TEST(BlankLines, may_have_gaps_beside_them) {
    std::vector<float> samples = counted("carbon", 10, 1);
    darken(samples, {false, 80, 96}, 0);
    std::fill_n(samples.begin(), 20 * wide.width, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(find_blank_lines(samples, wide).bands, testing::ElementsAre(IsBand(false, 80, 96)));
    std::fill(samples.begin(), samples.end(), 5.F);
    EXPECT_THAT(find_blank_lines(samples, wide).bands, testing::IsEmpty());
}

} // namespace
} // namespace sextant::test
