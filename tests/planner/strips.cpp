// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/strips.hpp"

#include <gmock/gmock.h>

namespace sextant::planner {
namespace {

machine::Profile profile_of(const machine::Work& work, int cores) {
    machine::Profile profile;
    profile.cores = cores;
    profile.kernels = {work};
    return profile;
}

const StripWork thousand{"mean", "f32", 1000};

TEST(Strips, threads_divide_the_work_and_more_threads_than_cores_take_turns) {
    const auto profile = profile_of({"mean", "f32", machine::exactly(1e-6), {}, {}, {}}, 4);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 1, 1, profile)->median, 1e-3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 4, 4, profile)->median, .25e-3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 8, 8, profile)->median, .25e-3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 1, 8, profile)->median, 2e-3);
    EXPECT_FALSE(strip_time({"median", "f32", 1000}, 1, 1, profile));
}

TEST(Strips, a_thread_alone_has_the_memory_bandwidth_of_all) {
    const auto pass = [](double seconds) {
        return machine::Pass{1000, 1, machine::exactly(seconds)};
    };
    const auto profile = profile_of({"mean", "f32", {}, {pass(3e-3)}, {pass(1e-3)}, {}}, 3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 1, 1, profile)->median, 1e-3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 1, 2, profile)->median, 2e-3);
    EXPECT_DOUBLE_EQ(strip_time(thousand, 1, 3, profile)->median, 3e-3);
}

TEST(Strips, the_interval_covers_the_range_of_the_work) {
    const auto profile =
        profile_of({"mean",
                    "f32",
                    {},
                    {{1000, 1, machine::exactly(1)}, {1000, 9, machine::exactly(9)}},
                    {},
                    {}},
                   0);
    const auto time = strip_time({"mean", "f32", 1000, 3, 1, 9}, 1, 1, profile);
    EXPECT_DOUBLE_EQ(time->median, 3);
    EXPECT_DOUBLE_EQ(time->low, 1);
    EXPECT_DOUBLE_EQ(time->high, 9);
}

} // namespace
} // namespace sextant::planner
