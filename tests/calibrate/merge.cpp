// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include <fstream>

#include "tests/calibrate/synthetic.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::calibrate {
namespace {

using machine::Profile;
using testing::HasSubstr;
using testing::IsEmpty;

Profile launch(unsigned seed, double state = 1, double distance = 1) {
    test::SyntheticMachine machine(seed);
    machine.state = state, machine.distance = distance;
    CampaignOptions options;
    options.budget = 8;
    Profile profile = costs_of(measure(machine, make_cells({}), options), machine::Link::same_node);
    profile.name = "synthetic", profile.host = "here", profile.transport = "mpi";
    profile.origin = {"2026-01-0" + std::to_string(1 + seed % 9), "one launch"};
    return profile;
}

const machine::Value& value_of(const Profile& profile, std::size_t point) {
    return machine::find(profile.links.at(0), machine::Path::full, machine::Layout::cc,
                         machine::Strategy::contiguous)
        ->points.at(point)
        .seconds;
}

TEST(ProfileMerging, takes_the_median_and_interval_of_the_launch_medians) {
    std::vector<Profile> launches;
    for (const double state : {1.0, 1.1, .95, 1.05, .9})
        launches.push_back(launch(static_cast<unsigned>(launches.size()), state));
    const std::vector<Profile> profiles = merged(launches);
    ASSERT_EQ(profiles.size(), 1u);
    EXPECT_EQ(value_of(profiles[0], 0),
              (machine::Value{value_of(launches[0], 0).median, value_of(launches[4], 0).median,
                              value_of(launches[1], 0).median, value_of(profiles[0], 0).samples}));
    EXPECT_GT(value_of(profiles[0], 0).samples, 4 * value_of(launches[0], 0).samples / 2);
    EXPECT_THAT(profiles[0].origin.method, HasSubstr("5 of 5 launches"));
    EXPECT_EQ(profiles[0].state, "");
    EXPECT_FALSE(profiles[0].links[0].switches.empty());
}

TEST(ProfileMerging, keeps_one_profile_per_state) {
    const std::vector<Profile> launches = {launch(1), launch(2, 3), launch(3), launch(4, 3.1),
                                           launch(5)};
    const std::vector<Profile> profiles = merged(launches);
    ASSERT_EQ(profiles.size(), 2u);
    const Seconds trip = test::SyntheticMachine::truth(probe());
    EXPECT_NEAR(profiles[0].state_probe.median, trip, .1 * trip);
    EXPECT_NEAR(profiles[1].state_probe.median, 3 * trip, .3 * trip);
    EXPECT_EQ(profiles[0].state, "1 of 2");
    EXPECT_THAT(profiles[1].origin.method, HasSubstr("2 of 5 launches"));
}

TEST(ProfileMerging, distinguishes_states_that_differ_only_in_the_cost_of_bytes) {
    const std::vector<Profile> profiles = merged(
        std::vector{launch(1), launch(2, 1, 3), launch(3), launch(4, 1, 3), launch(5, 1, 3)});
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_THAT(profiles[0].origin.method, HasSubstr("3 of 5 launches"));
    EXPECT_LT(value_of(profiles[1], 0).median, 1.2 * value_of(profiles[0], 0).median);
}

TEST(ProfileMerging, omits_and_reports_launches_whose_state_is_unique_or_changed) {
    std::vector<Profile> launches = {launch(1), launch(2), launch(3), launch(4, 9), launch(5)};
    launches[4].state = unsteady;
    const std::vector<Profile> profiles = merged(launches);
    ASSERT_EQ(profiles.size(), 1u);
    EXPECT_THAT(profiles[0].origin.method, HasSubstr("3 of 5 launches used, 2 excluded"));
    EXPECT_THROW(merged({}), std::invalid_argument);
    EXPECT_EQ(merged(std::vector{launches[3]}).size(), 1u)
        << "a unique state is kept if it is the only one";
}

TEST(LaunchFile, can_be_read_as_launches_and_as_their_merged_profile) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("machine.json");
    const std::vector<Profile> launches = {launch(1), launch(2)};
    const Profile profile = merged(launches).front();
    std::ofstream(path) << machine::text_with_launches(profile, launches);
    EXPECT_EQ(machine::read_profile(path), profile);
    EXPECT_EQ(machine::read_launches(path), launches);
}

TEST(LaunchFile, rejects_damaged_newer_and_unrelated_files_with_the_reason) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("machine.json");
    const std::vector<Profile> launches = {launch(1)};
    const std::string text = machine::text_with_launches(launches[0], launches);
    const auto refused = [&](const std::string& content) -> std::string {
        std::ofstream(path) << content;
        return test::message_of<InvalidFile>([&] { machine::read_launches(path); });
    };
    EXPECT_THAT(refused(text.substr(0, text.size() / 2)), HasSubstr(path + ": is not JSON"));
    EXPECT_THAT(refused(machine::profile_text(launches[0])), HasSubstr("has no launches"));
    std::string newer = text;
    EXPECT_THAT(refused(newer.replace(text.find("\"version\": 1"), 12, "\"version\": 9")),
                HasSubstr("written by a newer version of Sextant"));
    std::string inner = text;
    EXPECT_THAT(refused(inner.replace(text.rfind("\"version\": 1"), 12, "\"version\": 9")),
                HasSubstr("launches[0].version is 9"));
}

TEST(Staleness, lists_only_the_properties_that_differ) {
    Profile then = launch(1), now = then;
    then.cores = now.cores = 2;
    EXPECT_THAT(differences(then, now), IsEmpty());
    now.host = "there", now.mpi_version = "5", then.mpi_version = "4", now.cores = 4;
    EXPECT_THAT(differences(then, now),
                testing::ElementsAre("host: here in the profile, there on this machine",
                                     "cores: 2 in the profile, 4 on this machine",
                                     "version of MPI: 4 in the profile, 5 on this machine"));
    now = then;
    now.origin.date = "2026-12-31T00:00:00Z";
    EXPECT_THAT(differences(then, now), testing::ElementsAre(HasSubstr("age: the profile is 36")));
    EXPECT_EQ(difference_of_state(then, then.state_probe.median * 1.2), "");
    EXPECT_THAT(difference_of_state(then, then.state_probe.median * 3), HasSubstr("state: "));
}

} // namespace
} // namespace sextant::calibrate
