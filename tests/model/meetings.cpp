// SPDX-License-Identifier: BSD-3-Clause
// Messages that meet on links: which are under way at once, and what each then takes.
#include "sextant/model/meetings.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/p3pc_extended.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::model {
namespace {

Schedule schedule(const char* algorithm, int ranks, const compositing::Tuning& tuning) {
    const auto task = compositing::one_image_each(ranks, 1 << 12);
    return make_schedule(ranks, [&](int rank) {
        return compositing::program(compositing::find(algorithm), task, tuning, rank);
    });
}

/// Two halves of a machine, each a switch that all its nodes reach; one cable between the two.
machine::Wires two_switches(int nodes) {
    const auto out = [](int node) { return 2 * node; };
    const auto in = [](int node) { return 2 * node + 1; };
    const int first_cable = 2 * nodes;
    return {2 * nodes + 2,
            [=](int from, int to, std::vector<int>& path) {
                path.push_back(out(from));
                if ((from < nodes / 2) != (to < nodes / 2))
                    path.push_back(first_cable + (from < nodes / 2 ? 0 : 1));
                path.push_back(in(to));
            },
            [](int, double bytes, int) { return bytes * 1e-9; }};
}

machine::Profile profile() {
    return machine::parse_profile(R"({"version": 1, "name": "t", "date": "2026", "method": "none",
        "links": [{"link": "other node", "curves": [
          {"path": "send", "layout": "cc", "strategy": "contiguous", "points": [[0, 0, 0], [1000000000, 1000000000, 1]]},
          {"path": "receive", "layout": "cc", "strategy": "contiguous", "points": [[0, 0, 0], [1000000000, 1000000000, 1]]},
          {"path": "full", "layout": "cc", "strategy": "contiguous", "points": [[0, 0, 0], [1000000000, 1000000000, 1]]}]}]})",
                                  "t");
}

Seconds predicted(const Schedule& schedule, const machine::Wires* wires) {
    const machine::Profile machine = profile();
    Question question{.schedule = schedule, .machine = machine};
    question.element_size = 16;
    question.wires = wires;
    return p3pc_extended(question).seconds;
}

TEST(Waves, count_what_had_to_be_received_before) {
    const Schedule swap = schedule("binary-swap", 8, {});
    std::vector<int> of_sends;
    const std::vector<int> waves = waves_of(swap[3], Dependences(swap[3]));
    for (std::size_t s = 0; s < waves.size(); ++s) {
        if (swap[3].steps[s].verb == Verb::send)
            of_sends.push_back(waves[s]);
    }
    EXPECT_EQ(of_sends, (std::vector{0, 1, 2}));
}

TEST(Waves, of_direct_send_are_one_and_under_a_window_one_each) {
    const Schedule open = schedule("direct-send", 5, {}),
                   shift = schedule("shift-based", 5, {{}, 1});
    std::vector<int> last;
    for (const Schedule* each : {&open, &shift}) {
        const Program& program = (*each)[0];
        const std::vector<int> waves = waves_of(program, Dependences(program));
        int most = 0;
        for (std::size_t s = 0; s < waves.size(); ++s) {
            if (program.steps[s].verb == Verb::send)
                most = std::max(most, waves[s]);
        }
        last.push_back(most);
    }
    EXPECT_EQ(last, (std::vector{0, 3}));
}

TEST(Meetings, share_a_cable_among_all_that_cross_it_in_one_wave) {
    constexpr int ranks = 8;
    const machine::Wires wires = two_switches(ranks);
    const Schedule swap = schedule("binary-swap", ranks, {});
    const machine::Profile machine = profile();
    Question question{.schedule = swap, .machine = machine};
    question.element_size = 16;
    question.wires = &wires;
    std::vector<Dependences> dependences;
    for (const Program& program : swap)
        dependences.emplace_back(program);
    const Meetings meetings(question, match_messages(swap), dependences);
    std::vector<double> stretches; // of rank 1, wave after wave
    for (std::size_t s = 0; s < swap[1].steps.size(); ++s) {
        const Step& step = swap[1].steps[s];
        if (step.verb != Verb::send)
            continue;
        const double alone = 16e-9 * static_cast<double>(swap[1].elements_of(step));
        stretches.push_back(meetings.of({1, static_cast<int>(s)}) / alone);
    }
    // Partners at distance 1 and 2 share a switch; those at 4 are four pairs on one cable.
    std::sort(stretches.begin(), stretches.end());
    EXPECT_THAT(stretches, testing::ElementsAre(testing::DoubleEq(1), testing::DoubleEq(1),
                                                testing::DoubleEq(4)));
}

TEST(Meetings, do_not_happen_where_messages_start_at_different_times) {
    constexpr int ranks = 8;
    const machine::Wires wires = two_switches(ranks);
    const machine::Profile machine = profile();
    const Schedule swap = schedule("binary-swap", ranks, {});
    Question question{.schedule = swap, .machine = machine};
    question.element_size = 16;
    question.wires = &wires;
    std::vector<Dependences> dependences;
    Trace played; // every message long after the one before
    for (int rank = 0; rank < ranks; ++rank) {
        const Program& program = swap[static_cast<std::size_t>(rank)];
        dependences.emplace_back(program);
        for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
            Event event{.rank = rank, .step = s, .activity = Activity::send};
            event.begin = event.end = static_cast<double>(played.events.size());
            if (program.steps[static_cast<std::size_t>(s)].verb == Verb::send)
                played.events.push_back(event);
        }
    }
    Meetings meetings(question, match_messages(swap), dependences);
    meetings.start_as(played);
    for (const Event& event : played.events) {
        const Program& program = swap[static_cast<std::size_t>(event.rank)];
        const Step& step = program.steps[static_cast<std::size_t>(event.step)];
        EXPECT_NEAR(meetings.of({event.rank, event.step}),
                    16e-9 * static_cast<double>(program.elements_of(step)), 1e-12);
    }
}

TEST(Meetings, make_a_prediction_longer_where_a_cable_is_shared_and_only_there) {
    constexpr int ranks = 8;
    const machine::Wires narrow = two_switches(ranks);
    machine::Wires wide = narrow;
    wide.busy = [](int link, double bytes, int) {
        return bytes * (link < 2 * ranks ? 1e-9 : 1e-12);
    };
    const Schedule swap = schedule("binary-swap", ranks, {});
    EXPECT_NEAR(predicted(swap, &wide), predicted(swap, nullptr), 1e-9);
    EXPECT_GT(predicted(swap, &narrow), 1.3 * predicted(swap, &wide));
}

TEST(Meetings, need_a_node_for_each_rank) {
    const Schedule swap = schedule("binary-swap", 4, {});
    const machine::Profile machine = profile();
    const machine::Wires wires = two_switches(4);
    const std::vector<int> nodes{0, 1};
    Question question{.schedule = swap, .machine = machine};
    question.element_size = 16;
    question.nodes = nodes;
    question.wires = &wires;
    EXPECT_THROW(p3pc_extended(question), CannotExpress);
}

} // namespace
} // namespace sextant::model
