// SPDX-License-Identifier: BSD-3-Clause
// Rows and columns without signal are recognised, and dark parts of a specimen are not.
#include "sextant/registration/correct/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/registration/made_series.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::find_blank_lines;
using registration::LineBand;

constexpr ImageShape shape{128, 96};

std::vector<float> counted(const char* kind, double dose, std::uint64_t seed) {
    SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 1;
    plan.dose = dose;
    plan.seed = seed;
    registration::SpecimenPlan of_specimen;
    of_specimen.field = registration::field_for(plan);
    of_specimen.seed = seed;
    const SyntheticSeries series(plan, registration::find_specimen(kind).make(of_specimen));
    kernel::FloatPlane frame = series.counted(0);
    std::vector<float> samples;
    for (Elements y = 0; y < shape.height; ++y)
        samples.insert(samples.end(), frame.row(y), frame.row(y) + shape.width);
    return samples;
}

/// Replaces some lines by what is counted without beam.
void darken(std::vector<float>& samples, const LineBand& band, double counts, double level = 0) {
    registration::NoiseSource noise(7, 0);
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            const Elements line = band.columns ? x : y;
            if (line >= band.first && line < band.last)
                samples[static_cast<std::size_t>(y * shape.width + x)] =
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
                EXPECT_THAT(find_blank_lines(samples, shape).bands, testing::IsEmpty());
                std::vector<float> lower = samples, left = samples;
                darken(lower, {false, 48, 96}, .02 * dose, level);
                EXPECT_THAT(find_blank_lines(lower, shape).bands,
                            testing::ElementsAre(IsBand(false, 48, 96)))
                    << kind << " " << dose;
                darken(left, {true, 0, 20}, .02 * dose, level);
                EXPECT_THAT(find_blank_lines(left, shape).bands,
                            testing::ElementsAre(IsBand(true, 0, 20)))
                    << kind << " " << dose;
                EXPECT_EQ(samples_in(find_blank_lines(left, shape).bands, shape), 20 * 96);
            }
        }
    }
}

TEST(BlankLines, are_not_those_of_few_electrons_or_of_a_specimen_that_fades_out) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_THAT(find_blank_lines(counted("carbon", .01, seed), shape).bands,
                    testing::IsEmpty());
    std::vector<float> vacuum = counted("carbon", 100, 1);
    for (Elements y = 0; y < shape.height; ++y) {
        // the edge of the specimen is not parallel to the rows
        for (Elements x = 0; x < shape.width; ++x) {
            const double lit =
                1 / (1 + std::exp((static_cast<double>(y) - 50 + .1 * static_cast<double>(x)) / 2));
            vacuum[static_cast<std::size_t>(y * shape.width + x)] *= static_cast<float>(lit);
        }
    }
    EXPECT_THAT(find_blank_lines(vacuum, shape).bands, testing::IsEmpty());
}

TEST(BlankLines, may_have_gaps_beside_them) {
    std::vector<float> samples = counted("carbon", 10, 1);
    darken(samples, {false, 80, 96}, 0);
    std::fill_n(samples.begin(), 20 * shape.width, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(find_blank_lines(samples, shape).bands,
                testing::ElementsAre(IsBand(false, 80, 96)));
    std::fill(samples.begin(), samples.end(), 5.F);
    EXPECT_THAT(find_blank_lines(samples, shape).bands, testing::IsEmpty());
}

} // namespace
} // namespace sextant::test
