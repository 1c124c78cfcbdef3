// SPDX-License-Identifier: BSD-3-Clause
// The data exchanged with the simulator process.
#include "sextant/core/error.hpp"
#include "sextant/simulate/simulator_process.hpp"

#include <memory>
#include <thread>

#include "tests/simulate/cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <sys/socket.h>

namespace sextant::simulate {
namespace {

using testing::HasSubstr;

class Parcel : public testing::Test {
  protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        here = std::make_unique<Channel>(ends[0]);
        there = std::make_unique<Channel>(ends[1]);
    }

    /// Text of an exception that is sent from one process to the other.
    template <class Failure>
    std::string refusal(const std::function<Simulation()>& simulation) {
        put_answer(*there, simulation);
        return test::message_of<Failure>([&] { get_answer(*here); });
    }

    std::unique_ptr<Channel> here, there;
};

TEST_F(Parcel, transfers_a_simulation_request_unchanged) {
    const Schedule schedule = test::star(4, 1000);
    const Question question{.schedule = schedule,
                            .platform = "torus.json",
                            .order = {{"n1", "rows.txt: line 1"}, {"n0", "rows.txt: line 2"}},
                            .element_size = 16,
                            .density = .25,
                            .active_by_round = {1, .5},
                            .costs = {.send_overhead = 1,
                                      .copy_seconds_per_byte = 2,
                                      .seconds_per_computed_element = {3, 4}},
                            .association = Association::by_arrival,
                            .timeline = true};
    std::jthread asks([&] { put_question(*here, question); });
    const ArrivedQuestion arrived = get_question(*there);
    ASSERT_EQ(arrived.question.schedule.ranks(), std::ssize(schedule));
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        const Program &sent = schedule[rank],
                      &got = arrived.question.schedule.of(static_cast<int>(rank));
        ASSERT_EQ(got.steps.size(), sent.steps.size());
        for (std::size_t i = 0; i < sent.steps.size(); ++i) {
            EXPECT_EQ(got.steps[i].verb, sent.steps[i].verb);
            EXPECT_EQ(got.steps[i].peer, sent.steps[i].peer);
            EXPECT_EQ(got.steps[i].to, sent.steps[i].to);
        }
        EXPECT_EQ(got.regions, sent.regions);
        EXPECT_EQ(got.buffers.size(), sent.buffers.size());
        EXPECT_EQ(got.window, sent.window);
        EXPECT_EQ(got.result, sent.result);
    }
    EXPECT_EQ(arrived.question.platform, "torus.json");
    ASSERT_EQ(arrived.question.order.size(), 2u);
    EXPECT_EQ(arrived.question.order[1].name, "n0");
    EXPECT_EQ(arrived.question.order[1].named_by, "rows.txt: line 2");
    EXPECT_EQ(arrived.question.element_size, 16);
    EXPECT_EQ(arrived.question.density, .25);
    EXPECT_EQ(arrived.question.active_by_round, question.active_by_round);
    EXPECT_EQ(arrived.question.costs, question.costs);
    EXPECT_EQ(arrived.question.association, Association::by_arrival);
    EXPECT_TRUE(arrived.question.timeline);
}

TEST_F(Parcel, transfers_a_simulation_result_unchanged) {
    Simulation found;
    found.seconds = 3;
    found.finished = {1, 3};
    found.timeline.duration = 3;
    found.timeline.events = {{.rank = 1, .step = 2, .activity = Activity::send, .end = 3}};
    put_answer(*there, [&] { return found; });
    const Simulation arrived = get_answer(*here);
    EXPECT_EQ(arrived.seconds, 3);
    EXPECT_EQ(arrived.finished, found.finished);
    EXPECT_EQ(arrived.timeline.duration, 3);
    ASSERT_EQ(arrived.timeline.events.size(), 1u);
    EXPECT_EQ(arrived.timeline.events[0].step, 2);
    EXPECT_EQ(arrived.timeline.events[0].end, 3);
}

TEST_F(Parcel, preserves_the_types_of_errors) {
    const auto file = [&]() -> Simulation { throw InvalidFile("a.json", "is empty"); };
    EXPECT_EQ(refusal<InvalidFile>(file), "a.json: is empty");
    const auto task = [&]() -> Simulation { throw InvalidTask("13 ranks"); };
    EXPECT_EQ(refusal<InvalidTask>(task), "13 ranks");
    const auto bug = [&]() -> Simulation { throw std::logic_error("rank 1 waits"); };
    EXPECT_EQ(refusal<std::logic_error>(bug), "rank 1 waits");
    const auto other = [&]() -> Simulation { throw std::runtime_error("no route"); };
    EXPECT_EQ(refusal<Error>(other), "no route");
}

TEST_F(Parcel, of_another_version_is_refused) {
    here->put(std::string("sextant 0.0.1: 1 2 3"));
    EXPECT_THAT(test::message_of<Error>([&] { get_question(*there); }),
                HasSubstr("expected 'sextant 0.0.1: 1 2 3'"));
}

/// The error if `program` is run instead of the simulator.
std::string without_answer(const std::string& program) {
    const Schedule schedule = test::star(2, 1000);
    return test::message_of<Error>(
        [&] { ask(program, {.schedule = schedule, .platform = "any.json"}); });
}

TEST(Simulator, that_ends_without_an_answer_is_reported_with_its_exit_status) {
    EXPECT_EQ(without_answer("/bin/false"), "the simulator ended with exit code 1: ");
    EXPECT_EQ(without_answer("/no/such/program"),
              "the simulator ended with exit code 127: No such file or directory");
}

} // namespace
} // namespace sextant::simulate
