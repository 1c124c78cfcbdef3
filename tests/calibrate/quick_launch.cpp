// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/probe.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace sextant::calibrate {
namespace {

using machine::Link;
using machine::Path;
using machine::Profile;

TEST(QuickLaunch, refuses_a_single_rank) {
    run_threads(1, [](const Communicator& communicator) {
        EXPECT_THROW(measure_quickly(communicator, 1), InvalidTask);
    });
}

/// Whatever is not measured in the time is scaled from the built-in machine.
void check_quick_launch(int ranks, Seconds budget) {
    SCOPED_TRACE(ranks);
    run_threads(ranks, [&](const Communicator& communicator) {
        const std::optional<Profile> profile = measure_quickly(communicator, budget);
        ASSERT_TRUE(profile);
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
        EXPECT_GT(machine::at_size(full->points, Bytes{16} << 20).median,
                  machine::at_size(full->points, 1 << 16).median);
    });
}

TEST(QuickLaunch, gives_every_rank_the_same_profile_for_predictions) {
    for (const int ranks : {2, 3, 5})
        check_quick_launch(ranks, .3);
}

TEST(QuickLaunch, describes_the_whole_machine_without_time_to_measure_it) {
    for (const int ranks : {2, 3, 5})
        check_quick_launch(ranks, 0);
}

} // namespace
} // namespace sextant::calibrate
