// SPDX-License-Identifier: BSD-3-Clause
// Properties of predictions that hold for any valid schedule.
#include "tests/support/random_schedules.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/schedule/prove.hpp"

#include <algorithm>

#include "tests/model/machines.hpp"
#include <gtest/gtest.h>

namespace sextant::model {
namespace {

using test::Random;

Claim anything() {
    return {[](int rank, int, Elements e) {
                return Symbol{e, rank, rank + 1, 0};
            },
            [](int, const std::vector<Symbol>&) { return std::string(); },
            {}};
}

/// Calls `visit` with random correct schedules and a machine on which folds and copies have costs.
template <class Visit>
void for_each_right_schedule(unsigned seed, Visit&& visit) {
    machine::Profile machine;
    machine.name = "random";
    machine.links = {{}};
    machine.operators = {{.name = "over",
                          .element = "f32",
                          .seconds_per_element = machine::exactly(.25),
                          .passes = {},
                          .alone = {},
                          .origin = {}}};
    machine.copies = {{0, machine::exactly(.125), {}}};
    Random random(seed);
    for (int trial = 0, right = 0; right < 400; ++trial) {
        ASSERT_LT(trial, 4000);
        const Schedule schedule =
            test::RandomSchedule(random, random.number(2, 5)).make(random.number(3, 20));
        if (!prove(schedule, anything()).holds())
            continue;
        ++right;
        visit(Question{.schedule = schedule,
                       .machine = machine,
                       .element_size = 1,
                       .operator_name = "over",
                       .timeline = true});
    }
}

Prices prices(bool blocking, bool rendezvous, Span processor = {}) {
    return {[=](const Message& message) {
                const auto n = static_cast<double>(message.bytes);
                return MessageCost{Span(1 + n), Span(2 + n), Span(1.5 + n),
                                   processor,   processor,   rendezvous};
            },
            blocking};
}

TEST(RandomSchedules, finish_with_or_without_rendezvous_if_they_are_proved) {
    for_each_right_schedule(51, [](const Question& question) {
        for (bool blocking : {false, true}) {
            for (bool rendezvous : {false, true}) {
                for (double processor : {0., .5}) {
                    EXPECT_NO_THROW(
                        critical_path(question, prices(blocking, rendezvous, Span(processor))));
                }
            }
        }
    });
}

TEST(RandomSchedules, take_at_least_the_time_of_the_steps_of_each_rank) {
    for_each_right_schedule(52, [](const Question& question) {
        const Prediction prediction = critical_path(question, prices(false, false));
        for (const Program& program : question.schedule) {
            double sends = 0, receives = 0, work = 0;
            for (const Step& step : program.steps) {
                const auto n = static_cast<double>(program.elements_of(step));
                sends += step.verb == Verb::send ? 1 + n : 0;
                receives += step.verb == Verb::receive ? 2 + n : 0;
                work += step.verb == Verb::fold ? .25 * n * (step.count - 1) : 0;
                work += step.verb == Verb::copy ? .125 * n : 0;
            }
            EXPECT_GE(prediction.seconds, std::max({sends, receives, work}) - 1e-9);
        }
    });
}

TEST(RandomSchedules, take_at_most_the_sum_of_the_times_of_all_steps) {
    for_each_right_schedule(53, [](const Question& question) {
        double all = 0;
        for (const Program& program : question.schedule) {
            for (const Step& step : program.steps) {
                const auto n = static_cast<double>(program.elements_of(step));
                all += is_message(step.verb) ? 2 + n : .25 * n * step.count;
            }
        }
        EXPECT_LE(critical_path(question, prices(true, true)).seconds, all + 1e-9);
    });
}

TEST(RandomSchedules, begin_no_step_before_its_predecessors_have_ended) {
    for_each_right_schedule(54, [](const Question& question) {
        const Trace trace = critical_path(question, prices(false, false)).timeline;
        const PreparedSchedule prepared(question.schedule);
        for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
            const auto& steps = question.schedule[static_cast<std::size_t>(rank)].steps;
            std::vector<Seconds> begin(steps.size(), trace.duration), end(steps.size(), 0);
            for (const Event& event : trace.events) {
                if (event.rank != rank || event.step < 0)
                    continue;
                const auto step = static_cast<std::size_t>(event.step);
                begin[step] = std::min(begin[step], event.begin);
                end[step] = std::max(end[step], event.end);
            }
            for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
                for (const auto& edge :
                     prepared.dependences[static_cast<std::size_t>(rank)].after(i)) {
                    if (steps[edge.step].verb == Verb::fold)
                        continue; // folds begin before all operands have arrived
                    EXPECT_GE(begin[edge.step], end[static_cast<std::size_t>(i)] - 1e-9);
                }
            }
        }
    });
}

} // namespace
} // namespace sextant::model
