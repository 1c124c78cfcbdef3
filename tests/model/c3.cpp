// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/c3.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include <utility>
#include <vector>

#include "tests/model/machines.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::model {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(C3, cannot_express_rounds_with_dependent_messages) {
    const machine::Profile delta = test::shipped_machine("delta256");
    const Schedule relay = make_schedule(3, [](int rank) {
        ProgramBuilder builder;
        const Region value = rank == 0 ? builder.input(1) : builder.scratch(1);
        if (rank > 0)
            builder.receive(rank - 1, value);
        if (rank < 2)
            builder.send(rank + 1, value);
        return builder.finish(value);
    });
    EXPECT_THAT(test::message_of<CannotExpress>([&] { test::predicted("c3", relay, delta, 4); }),
                HasSubstr("rank 1 sends data in round 0 that depends on a message"));
}

TEST(C3, converts_the_units_of_all_rounds_to_seconds) {
    const machine::Profile delta = test::shipped_machine("delta256");
    const auto task = compositing::one_image_each(256, 256 * 32);
    const Schedule schedule = make_schedule(256, [&](int rank) {
        return compositing::program(compositing::find("binary-swap"), task, {}, rank);
    });
    Question requested{.schedule = schedule, .machine = delta, .element_size = 16};
    const auto rounds = charges(requested);
    ASSERT_EQ(rounds.size(), 8u);
    double units = 0;
    for (const RoundCharge& round : rounds)
        units += round.communication.total(8) + round.computation;
    requested.timeline = true;
    const Prediction prediction = find("c3").predict(requested);
    EXPECT_NEAR(prediction.seconds, units * 40.96e-6, 1e-12);
    EXPECT_DOUBLE_EQ(prediction.timeline.duration, prediction.seconds);
    EXPECT_FALSE(prediction.timeline.events.empty());
}

/// The units charged on the Delta for one round of messages of one packet each; every message is in
/// a group of its own if `grouped`. The latency equals h.
Units charge_of(const std::vector<std::pair<int, int>>& messages, bool grouped) {
    const Schedule schedule = make_schedule(256, [&](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(512);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            builder.group(grouped ? 1 + static_cast<int>(i) : 0);
            if (messages[i].first == rank)
                builder.send(messages[i].second, own);
            if (messages[i].second == rank)
                builder.receive(messages[i].first, builder.scratch(512));
        }
        return builder.finish({});
    });
    const machine::Profile delta = test::shipped_machine("delta256");
    return charges({.schedule = schedule, .machine = delta, .element_size = 1})
        .front()
        .communication;
}

TEST(C3, charges_groups_by_the_submachines_that_contain_them) {
    // Neighbours in a row are submachines of two processors: h = 1/2. Without groups the whole mesh
    // has h = 10.625.
    EXPECT_DOUBLE_EQ(charge_of({{0, 1}, {18, 19}}, true).latency, .5);
    EXPECT_DOUBLE_EQ(charge_of({{0, 1}, {18, 19}}, false).latency, 10.625);
    // Processors 1 and 2 are neighbours, but belong to different aligned pairs, so they need an
    // aligned row of four: h = 1.25.
    EXPECT_DOUBLE_EQ(charge_of({{1, 2}}, true).latency, 1.25);
    // Groups that overlap are charged as one submachine of 2 x 2, with both messages on its links.
    const Units shared = charge_of({{0, 17}, {1, 16}}, true);
    EXPECT_DOUBLE_EQ(shared.latency, 1);
    EXPECT_DOUBLE_EQ(shared.packets, 1 + 1 + 1);
    // Two messages between the same pair count as one of twice the size, even in two groups.
    EXPECT_DOUBLE_EQ(charge_of({{0, 1}, {0, 1}}, true).packets, 2 + 2 + 2 * .5);
}

TEST(C3, predicts_other_machine_sizes_with_a_remark) {
    const machine::Profile delta = test::shipped_machine("delta256");
    const auto task = compositing::one_image_each(12, 120);
    const Schedule schedule = make_schedule(12, [&](int rank) {
        return compositing::program(compositing::find("direct-send"), task, {}, rank);
    });
    const Question requested{.schedule = schedule, .machine = delta, .element_size = 16};
    // Mean distance on 4 x 3 processors: (16 - 1) / 12 + (9 - 1) / 9.
    EXPECT_NEAR(charges(requested)[0].communication.latency, 15 / 12.0 + 8 / 9.0, 1e-12);
    EXPECT_THAT(find("c3").predict(requested).remarks,
                Contains(HasSubstr("the prediction is for a machine of this kind with 12")));
}

} // namespace
} // namespace sextant::model
