// SPDX-License-Identifier: BSD-3-Clause
// Contention: messages that share links, and their durations.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/lab/evaluate_simulated.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/p3pc_extended.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace sextant::model {
namespace {

Schedule schedule(const char* algorithm, int ranks, const compositing::Tuning& tuning) {
    const auto task = compositing::one_image_each(ranks, 1 << 12);
    return make_schedule(ranks, [&](int rank) {
        return compositing::program(compositing::find(algorithm), task, tuning, rank);
    });
}

/// Two switches with half of the nodes each, connected by one cable.
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

TEST(MessageWaves, count_previously_received_messages) {
    const Schedule swap = schedule("binary-swap", 8, {});
    std::vector<int> of_sends;
    const std::vector<int> waves = lab::waves_of(swap[3], Dependences(swap[3]));
    for (std::size_t s = 0; s < waves.size(); ++s) {
        if (swap[3].steps[s].verb == Verb::send)
            of_sends.push_back(waves[s]);
    }
    EXPECT_EQ(of_sends, (std::vector{0, 1, 2}));
}

TEST(MessageWaves, of_direct_send_number_one_without_a_window_and_several_with_a_window) {
    const Schedule open = schedule("direct-send", 5, {}),
                   shift = schedule("shift-based", 5, {{}, 1});
    std::vector<int> last;
    for (const Schedule* each : {&open, &shift}) {
        const Program& program = (*each)[0];
        const std::vector<int> waves = lab::waves_of(program, Dependences(program));
        int most = 0;
        for (std::size_t s = 0; s < waves.size(); ++s) {
            if (program.steps[s].verb == Verb::send)
                most = std::max(most, waves[s]);
        }
        last.push_back(most);
    }
    EXPECT_EQ(last, (std::vector{0, 3}));
}

/// Time of Binary-Swap on 8 ranks, relative to one message of each round without contention.
TEST(LinkContention, divides_the_bandwidth_of_a_link_among_all_messages_that_cross_it) {
    constexpr int ranks = 8;
    const machine::Wires wires = two_switches(ranks);
    // Partners at distances 1 and 2 are on the same switch; the four pairs at distance 4 share the
    // cable.
    const double alone = 16e-9 * (1 << 12);
    EXPECT_NEAR(predicted(schedule("binary-swap", ranks, {}), &wires),
                alone * (1. / 2 + 1. / 4 + 4. / 8), 1e-3 * alone);
}

TEST(LinkContention, does_not_occur_between_rounds_with_a_window) {
    constexpr int ranks = 8;
    const machine::Wires wires = two_switches(ranks);
    const double alone = 16e-9 * (1 << 12) / ranks;
    // Messages that cross the cable in each direction for shifts by 1 ... 7; messages within a
    // switch end earlier.
    constexpr double crossings = 1 + 2 + 3 + 4 + 3 + 2 + 1;
    EXPECT_NEAR(predicted(schedule("shift-based", ranks, {{}, 1}), &wires), alone * crossings,
                .1 * alone * crossings);
}

TEST(LinkContention, lengthens_a_prediction_only_on_shared_links) {
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

/// A machine that does not buffer messages and needs this time to hand over a message.
machine::Profile unbuffered(Seconds handing_over) {
    machine::Profile machine = profile();
    machine::LinkCosts& link = machine.links.front();
    link.switches = {0};
    for (machine::Curve& curve : link.curves) {
        for (machine::Point& point : curve.points) {
            if (curve.path != machine::Path::receive)
                point.seconds = machine::exactly(point.seconds.median + handing_over);
        }
    }
    return machine;
}

/// A rank receives from one rank, and then from another, which was ready long before.
TEST(LinkContention, of_waiting_messages_begins_when_the_receiver_is_ready) {
    constexpr Elements elements = 1 << 12;
    constexpr Seconds handing_over = 1e-5, on_the_way = 16e-9 * elements;
    const Schedule late = make_schedule(3, [](int rank) {
        ProgramBuilder builder;
        builder.window(1);
        if (rank < 2) {
            const Region own = builder.input(elements);
            builder.round(rank);
            builder.send(2, own);
            return builder.finish(own);
        }
        const Region all = builder.output(2 * elements);
        for (const int peer : {0, 1}) {
            builder.round(peer);
            builder.receive(peer, block(all.buffer, peer * elements, elements));
        }
        return builder.finish(all);
    });
    const machine::Wires wires = two_switches(3);
    const machine::Profile machine = unbuffered(handing_over);
    Question question{.schedule = late, .machine = machine};
    question.element_size = 16;
    question.wires = &wires;
    EXPECT_NEAR(p3pc_extended(question).seconds, handing_over + 2 * on_the_way, .01 * handing_over);
}

TEST(LinkContention, requires_a_node_for_each_rank) {
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
