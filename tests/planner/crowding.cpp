// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/planner.hpp"

#include <gtest/gtest.h>

namespace sextant::planner {
namespace {

/// The predicted time of Direct-Send on four ranks of one node.
Seconds time_on(const machine::Profile& profile, Elements pixels) {
    const auto task = compositing::one_image_each(4, pixels);
    const compositing::Configuration direct{&compositing::find("direct-send"), {}};
    return Planner(profile)
        .seconds(task, direct,
                 {.operator_name = "over",
                  .element_name = "f32",
                  .element_size = 16,
                  .nodes = {0, 0, 0, 0}})
        .value();
}

TEST(Crowding, scales_predictions_for_more_ranks_than_cores) {
    machine::Profile profile = machine::built_in();
    for (const int cores : {2, 4}) {
        profile.cores = cores;
        profile.crowding.clear();
        const Seconds small = time_on(profile, 100), large = time_on(profile, 10000);
        profile.crowding = {{1600, 1600, machine::exactly(3)}, {16000, 16000, machine::exactly(2)}};
        profile = machine::parse_profile(machine::profile_text(profile), "profile.json");
        EXPECT_DOUBLE_EQ(time_on(profile, 100), small * (cores == 2 ? 3 : 1));
        EXPECT_DOUBLE_EQ(time_on(profile, 10000), large * (cores == 2 ? 2 : 1)) << "not beyond";
    }
}

TEST(Start, lengthens_runs_whose_ranks_exchange_messages) {
    machine::Profile profile = machine::built_in();
    profile.cores = 4;
    const Seconds before = time_on(profile, 1000);
    for (machine::LinkCosts& link : profile.links)
        link.start = machine::exactly(link.link == machine::Link::same_node ? 1 : 9);
    profile = machine::parse_profile(machine::profile_text(profile), "profile.json");
    EXPECT_DOUBLE_EQ(time_on(profile, 1000), before + 1) << "the links that are used";
}

TEST(States, scale_all_times_of_a_profile) {
    machine::Profile profile = machine::built_in();
    profile.cores = 4;
    profile.links.front().start = machine::exactly(1);
    const Seconds before = time_on(profile, 1000);
    machine::scale_times(profile, 2, 2);
    EXPECT_NEAR(time_on(profile, 1000), 2 * before, 1e-6 * before);
    machine::scale_times(profile, .5, 1);
    EXPECT_GT(time_on(profile, 1000), before) << "work still takes twice the time";
    EXPECT_LT(time_on(profile, 1000), 2 * before);
    machine::scale_times(profile, 1, .5);
    EXPECT_NEAR(time_on(profile, 1000), before, 1e-6 * before);
}

} // namespace
} // namespace sextant::planner
