// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/pair_reader.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::fault_of;
using registration::FrameStatistics;
using registration::statistics_of;
using testing::HasSubstr;

constexpr float gap = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, ... 99, times a factor.
std::vector<float> ramp(float factor = 1) {
    std::vector<float> samples;
    for (int i = 0; i < 100; ++i)
        samples.push_back(factor * static_cast<float>(i));
    return samples;
}

std::string fault_among_ramps(const std::vector<float>& samples) {
    const FrameStatistics odd = statistics_of(samples);
    const std::vector<FrameStatistics> all = {statistics_of(ramp()), odd, statistics_of(ramp()),
                                              statistics_of(ramp())};
    return fault_of(odd, usual_mean(all), {});
}

TEST(FrameStatistics, report_why_a_frame_is_unusable) {
    EXPECT_EQ(fault_among_ramps(ramp()), "");
    EXPECT_THAT(fault_among_ramps(std::vector<float>(100, 7)), HasSubstr("every sample is 7"));
    EXPECT_THAT(fault_among_ramps(ramp(.04F)),
                HasSubstr("the mean is 1.98, but 49.5 in the other frames"));
    std::vector<float> holes = ramp();
    std::fill(holes.begin(), holes.begin() + 76, gap);
    EXPECT_THAT(fault_among_ramps(holes), HasSubstr("76 of 100 samples are gaps"));
    holes[75] = 50;
    EXPECT_EQ(fault_among_ramps(holes), "");
}

TEST(FrameStatistics, accept_frames_that_are_saturated_or_of_a_lower_dose) {
    std::vector<float> clipped = ramp(3);
    for (float& sample : clipped)
        sample = std::min(sample, 150.F);
    EXPECT_EQ(fault_among_ramps(clipped), "");
    EXPECT_EQ(fault_among_ramps(ramp(.1F)), "");
}

TEST(FrameStatistics, accept_frames_of_any_mean_if_samples_are_differences) {
    std::vector<float> filtered = ramp(), other = ramp();
    for (std::size_t i = 0; i < filtered.size(); ++i) {
        filtered[i] -= 49.4F;
        other[i] -= 49.6F;
    }
    const std::vector<FrameStatistics> all = {statistics_of(filtered), statistics_of(filtered),
                                              statistics_of(other)};
    EXPECT_EQ(fault_of(all[2], usual_mean(all), {}), "");
}

TEST(FrameStatistics, report_a_frame_of_NaNs_as_unusable) {
    const std::vector<FrameStatistics> all = {statistics_of(std::vector<float>(4, gap))};
    EXPECT_THAT(fault_of(all[0], usual_mean(all), {}), HasSubstr("4 of 4 samples"));
}

} // namespace
} // namespace sextant::test
