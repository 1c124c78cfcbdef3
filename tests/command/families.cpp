// SPDX-License-Identifier: BSD-3-Clause
// Schedules selected by name, for the commands prove and draw.
#include "sextant/command/schedules/families.hpp"

#include "sextant/core/error.hpp"

#include <set>

#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;

std::vector<std::string> titles(const ScheduleRequest& request) {
    std::vector<std::string> all;
    for (const Configuration& configuration : configurations_of(request))
        all.push_back(configuration.make(request).title);
    return all;
}

ScheduleRequest request_for(std::string family, std::string algorithm,
                            compositing::Tuning tuning = {}) {
    ScheduleRequest request;
    request.family = std::move(family);
    request.algorithm = std::move(algorithm);
    request.tuning = std::move(tuning);
    request.ranks = 8;
    request.elements = 19;
    return request;
}

TEST(AlgorithmFamilies, list_and_create_each_algorithm_once) {
    std::set<std::string_view> names;
    for (const FamilyAlgorithm& row : family_algorithms()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        const NamedSchedule made =
            make_schedule(request_for(std::string(row.family), std::string(row.name)));
        EXPECT_EQ(made.algorithm, row.name);
        EXPECT_EQ(made.ranks(), 8);
        EXPECT_EQ(prove(made.schedule(), made.claim).error, "") << row.name;
    }
    EXPECT_TRUE(names.contains("radix-k") && names.contains("kogge-stone"));
}

TEST(AlgorithmFamilies, list_every_tuning_or_only_the_requested_one) {
    EXPECT_EQ(titles(request_for("compositing", "radix-k")),
              (std::vector<std::string>{"radix-k, radices 8", "radix-k, radices 4,2",
                                        "radix-k, radices 2,4", "radix-k, radices 2,2,2"}));
    EXPECT_EQ(titles(request_for("compositing", "", {{2, 4}, 0})),
              (std::vector<std::string>{"radix-k, radices 2,4"}));
    EXPECT_THAT(titles(request_for("compositing", "", {{}, 5})),
                testing::Contains("shift-based, window 5"));
}

TEST(AlgorithmFamilies, list_nothing_if_an_algorithm_does_not_support_the_number_of_ranks) {
    ScheduleRequest request = request_for("compositing", "binary-swap");
    request.ranks = 6;
    EXPECT_TRUE(titles(request).empty());
    EXPECT_THROW(make_schedule(request), InvalidTask);
}

void expect_refused(const ScheduleRequest& request, const std::string& why) {
    const auto refused = testing::ThrowsMessage<InvalidTask>(HasSubstr(why));
    EXPECT_THAT([&] { titles(request); }, refused);
    EXPECT_THAT([&] { make_schedule(request); }, refused);
}

TEST(AlgorithmFamilies, refuse_parameters_that_they_do_not_use) {
    expect_refused(request_for("scans", ""), "unknown family 'scans'; did you mean scan");
    expect_refused(request_for("scan", "radix-k"), "unknown scan algorithm 'radix-k'");
    expect_refused(request_for("halo", "", {{4, 2}, 0}), "halo has no parameters");
    ScheduleRequest collected = request_for("collective", "");
    collected.root = 0;
    expect_refused(collected, "collective has no image to collect");
    ScheduleRequest uneven = request_for("collective", "2-lev-rec-scatter");
    uneven.gamma = .6;
    expect_refused(uneven,
                   "--gamma is a parameter of the collective algorithms "
                   "logp-lev-rec-scatter and logp-lev-rec-gather, not of 2-lev-rec-scatter");
    uneven = request_for("compositing", "");
    uneven.alpha = .5;
    expect_refused(uneven, "--alpha is a parameter of the collective algorithms");
}

TEST(AlgorithmFamilies, create_collectives_with_the_requested_parameter) {
    ScheduleRequest request = request_for("collective", "logp-lev-rec-scatter");
    request.gamma = .5;
    const NamedSchedule halves = make_schedule(request);
    EXPECT_THAT(halves.title, HasSubstr("logp-lev-rec-scatter, gamma 0.5"));
    EXPECT_EQ(prove(halves.schedule(), halves.claim).error, "");
    const auto first_message = [](const NamedSchedule& made) {
        const Program root = made.programs.of(0);
        for (const Step& step : root.steps) {
            if (step.verb == Verb::send)
                return root.elements_of(step);
        }
        return Elements{0};
    };
    request.gamma = .75;
    const Elements quarter = first_message(make_schedule(request));
    EXPECT_LT(quarter, first_message(halves));
    request.gamma.reset();
    EXPECT_EQ(first_message(make_schedule(request)), quarter);
}

} // namespace
} // namespace sextant::command
