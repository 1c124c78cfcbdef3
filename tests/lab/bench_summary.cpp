// SPDX-License-Identifier: BSD-3-Clause
// Summaries of all cases on benchmark pages.
#include "sextant/lab/contest.hpp"

#include <gmock/gmock.h>

namespace sextant::lab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const SizeOfCases pixels{"pixels", [](double size) { return std::to_string(size); }};

/// A median with an interval of ±10 %.
Estimate about(Seconds median) {
    return {median, {.9 * median, 1.1 * median}};
}

std::vector<TimedConfiguration> two_cases() {
    return {{"small", "a", 1e-3, about(2e-3), 100},  {"small", "b", 2e-3, about(1e-3), 100},
            {"small", "mpi", {}, about(5e-4), 100},  {"large", "a", 1e-2, about(1e-2), 1000},
            {"large", "b", 3e-2, about(2e-2), 1000}, {"large", "mpi", {}, about(4e-2), 1000}};
}

TEST(Regrets, compare_the_predicted_choice_with_the_fastest_configuration) {
    const std::vector<CaseRegret> all = regrets(two_cases());
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].followed, "a");
    EXPECT_EQ(all[0].best, "b"); // mpi is not a candidate, because it has no prediction
    EXPECT_DOUBLE_EQ(all[0].ratio.median, 2);
    EXPECT_EQ(all[1].best, "a");
    EXPECT_DOUBLE_EQ(all[1].ratio.median, 1);
}

TEST(Regrets, are_as_uncertain_as_the_compared_times) {
    const std::vector<CaseRegret> all = regrets(two_cases());
    EXPECT_DOUBLE_EQ(all[0].ratio.interval.low, 1.8 / 1.1);
    EXPECT_DOUBLE_EQ(all[0].ratio.interval.high, 2.2 / .9);
    EXPECT_FALSE(all[0].within_noise());
    EXPECT_DOUBLE_EQ(all[1].ratio.interval.high, 1); // ratio of a time to itself
    // After a disturbed round, the ratio may be 50 or less than 1.
    const std::vector<CaseRegret> noisy = regrets(
        {{"case", "a", 1e-3, Estimate{.5, {.009, .6}}, 1}, {"case", "b", 2e-3, about(.01), 1}});
    EXPECT_DOUBLE_EQ(noisy[0].ratio.median, 50);
    EXPECT_TRUE(noisy[0].within_noise());
}

TEST(Regrets, require_two_configurations_with_predictions_and_measurements) {
    EXPECT_THAT(regrets({}), IsEmpty());
    EXPECT_THAT(regrets({{"case", "a", 1e-3, about(2e-3), 1}, {"case", "b", {}, about(1e-3), 1}}),
                IsEmpty());
    EXPECT_THAT(regrets({{"case", "a", 1e-3, {}, 1}, {"case", "b", 1e-3, {}, 1}}), IsEmpty());
}

TEST(BenchSummary, plots_predictions_regret_and_scaling) {
    const std::vector<report::Section> sections = summary_sections(two_cases(), pixels);
    ASSERT_EQ(sections.size(), 3u);
    // The ratios are 2, 2, 1 and 1.5; the upper median is shown.
    EXPECT_THAT(sections[0].html, HasSubstr("2.00 times"));
    EXPECT_THAT(sections[0].html, HasSubstr("small: a\npredicted 1.00 ms, measured 2.00 ms"));
    EXPECT_THAT(sections[0].html, Not(HasSubstr("mpi")));
    EXPECT_THAT(sections[1].html, HasSubstr("100.0 %"));
    EXPECT_THAT(sections[1].html, HasSubstr("highest regret; 95 % interval 63.6 % to 144.4 %"));
    EXPECT_THAT(sections[1].html, HasSubstr("1 of 2"));
    EXPECT_THAT(sections[1].html, HasSubstr("<td class=\"number\">2.000 [1.636, 2.444]</td>"));
    EXPECT_THAT(sections[2].html, HasSubstr("mpi: 40.0 ms"));
}

} // namespace
} // namespace sextant::lab
