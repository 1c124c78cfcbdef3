// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/probe.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace sextant::calibrate {
namespace {

using machine::Link;
using machine::Path;
using machine::Profile;

TEST(QuickLaunch, with_zero_time_budget_measures_nothing_on_any_rank) {
    for (const int ranks : {2, 3, 5}) {
        run_threads(ranks, [](const Communicator& communicator) {
            EXPECT_EQ(measure_quickly(communicator, 0), std::nullopt);
        });
    }
}

TEST(QuickLaunch, refuses_a_single_rank) {
    run_threads(1, [](const Communicator& communicator) {
        EXPECT_THROW(measure_quickly(communicator, 1), InvalidTask);
    });
}

/// On a busy processor, a probe may not finish in the usual time, so a longer one is tried.
TEST(QuickLaunch, gives_every_rank_the_same_profile_for_predictions) {
    for (const int ranks : {2, 3, 5}) {
        run_threads(ranks, [&](const Communicator& communicator) {
            std::optional<Profile> profile;
            for (Seconds budget = .3; !profile && budget < 100; budget *= 2)
                profile = measure_quickly(communicator, budget);
            ASSERT_TRUE(profile) << ranks << " ranks";
            const std::string text = machine::profile_text(*profile);
            EXPECT_THAT(all_gather_texts(communicator, text), testing::Each(text));
            ASSERT_EQ(profile->links.size(), 1);
            EXPECT_EQ(profile->links[0].link, Link::same_process);
            EXPECT_GE(profile->cores, 1);
            EXPECT_NE(profile->find_operator("over", "f32"), nullptr);
            for (const machine::Work& work : machine::built_in().kernels)
                EXPECT_NE(profile->find_kernel(work.name, work.element), nullptr) << work.name;
            for (const Path path : {Path::send, Path::receive, Path::full}) {
                EXPECT_NE(machine::find(profile->links[0], path, machine::Layout::cc,
                                        machine::Strategy::contiguous),
                          nullptr);
            }
            const machine::Curve* const full = machine::find(
                profile->links[0], Path::full, machine::Layout::cc, machine::Strategy::contiguous);
            EXPECT_TRUE(std::is_sorted(full->points.begin(), full->points.end(),
                                       [](const machine::Point& a, const machine::Point& b) {
                                           return a.seconds.median < b.seconds.median;
                                       }))
                << "some message takes longer than a larger one";
            EXPECT_NE(machine::find(profile->links[0], Path::full, machine::Layout::cc,
                                    machine::Strategy::lending),
                      nullptr);
        });
    }
}

} // namespace
} // namespace sextant::calibrate
