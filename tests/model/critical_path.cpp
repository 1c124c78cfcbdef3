// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/critical_path.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include <cmath>
#include <map>
#include <stdexcept>

#include "tests/model/machines.hpp"
#include <gmock/gmock.h>

namespace sextant::model {
namespace {

using machine::exactly;

Schedule composite(const char* name, int ranks, Elements pixels,
                   const compositing::Tuning& tuning) {
    const auto task = compositing::one_image_each(ranks, pixels);
    const auto& algorithm = compositing::find(name);
    return make_schedule(
        ranks, [&](int rank) { return compositing::program(algorithm, task, tuning, rank); });
}

/// A machine with one link class, a latency of 1 s and 1 s per byte, where folding takes
/// `per_element` per pixel and operand.
machine::Profile plain_machine(double per_element = 0) {
    machine::Profile profile;
    profile.name = "plain";
    machine::LinkCosts link;
    link.hockney = machine::Hockney{exactly(1), exactly(1), {}};
    profile.links = {link};
    profile.operators = {{.name = "over",
                          .element = "f32",
                          .seconds_per_element = exactly(per_element),
                          .passes = {},
                          .alone = {},
                          .origin = {}}};
    profile.copies = {{0, exactly(0), {}}};
    return profile;
}

/// Prices that are the same for all messages.
Prices flat(double send, double receive, double full) {
    return {[=](const Message&) {
        return MessageCost{Span(send), Span(receive), Span(full), {}, {}};
    }};
}

Question question(const Schedule& schedule, const machine::Profile& machine) {
    return {.schedule = schedule, .machine = machine, .element_size = 1, .operator_name = "over"};
}

/// Rank 0 sends `messages` messages of one element to rank 1.
Schedule stream(int messages) {
    return make_schedule(2, [&](int rank) {
        ProgramBuilder builder;
        const Region all = rank == 0 ? builder.input(messages) : builder.scratch(messages);
        for (int i = 0; i < messages; ++i) {
            if (rank == 0)
                builder.send(1, block(all.buffer, i, 1));
            else
                builder.receive(0, block(all.buffer, i, 1));
        }
        return builder.finish(rank == 0 ? Region{} : all);
    });
}

TEST(CriticalPath, predicts_the_times_of_shift_based_and_binary_swap_in_table_1) {
    const machine::Profile infiniband = test::shipped_machine("ddr-infiniband");
    const double alpha = 1e-6, beta = 16 * .53e-9; // s per message, s per pixel
    for (int p : {2, 8, 16, 64}) {
        const Elements n = 64 * 1000;
        const double data = beta * n * (p - 1) / p;
        EXPECT_NEAR(
            test::predicted("hockney", composite("shift-based", p, n, {{}, 1}), infiniband, 16),
            alpha * (p - 1) + data, 1e-12);
        EXPECT_NEAR(test::predicted("hockney", composite("binary-swap", p, n, {}), infiniband, 16),
                    alpha * std::log2(p) + data, 1e-12);
    }
}

TEST(CriticalPath, of_direct_send_nearly_doubles_if_all_ranks_send_to_one_rank_first) {
    const machine::Profile infiniband = test::shipped_machine("ddr-infiniband");
    const Elements n = 64 * 1000;
    for (int p : {2, 8, 16, 64}) {
        const double message = 1e-6 + 16 * .53e-9 * n / p;
        EXPECT_NEAR(test::predicted("hockney", composite("direct-send", p, n, {}), infiniband, 16),
                    (2 * (p - 1) - 1) * message, 1e-12)
            << "the last rank receives nothing before the others";
    }
}

TEST(CriticalPath, of_binary_swap_without_overlap_equals_the_radix_k_paper) {
    const machine::Profile machine = test::shipped_machine("blue-gene-p");
    const Elements n = 64 * 1000;
    for (int p : {2, 8, 64}) {
        const Schedule schedule = composite("binary-swap", p, n, {});
        const double seconds = find("hockney")
                                   .predict({.schedule = schedule,
                                             .machine = machine,
                                             .element_size = 16,
                                             .operator_name = "over"})
                                   .seconds;
        const double share = static_cast<double>(n) * (p - 1) / p;
        EXPECT_NEAR(seconds, 1.5e-6 * std::log2(p) + share * (16 / 374e6 + 4e-8), 1e-10);
    }
}

TEST(CriticalPath, sends_the_messages_of_a_rank_one_after_another) {
    const auto machine = plain_machine();
    EXPECT_DOUBLE_EQ(critical_path(question(stream(1), machine), flat(3, 2, 10)).seconds, 10);
    EXPECT_DOUBLE_EQ(critical_path(question(stream(5), machine), flat(3, 2, 10)).seconds,
                     4 * 3 + 10);
}

TEST(CriticalPath, receives_the_messages_of_a_rank_one_after_another) {
    const auto machine = plain_machine();
    EXPECT_DOUBLE_EQ(critical_path(question(stream(5), machine), flat(1, 4, 10)).seconds,
                     10 + 4 * 4);
}

TEST(CriticalPath,
     delays_only_the_next_message_if_transfer_takes_less_time_than_sending_or_receiving) {
    const auto machine = plain_machine();
    // Rank 1 forwards a message from rank 0 to rank 2; so the times of both messages are added.
    const Schedule chain = make_schedule(3, [](int rank) {
        ProgramBuilder builder;
        const Region value = rank == 0 ? builder.input(1) : builder.scratch(1);
        if (rank > 0)
            builder.receive(rank - 1, value);
        if (rank < 2)
            builder.send(rank + 1, value);
        return builder.finish(value);
    });
    EXPECT_DOUBLE_EQ(critical_path(question(chain, machine), flat(1, 4, 10)).seconds, 20);
    EXPECT_DOUBLE_EQ(critical_path(question(chain, machine), flat(1, 4, 3)).seconds, 6);
    EXPECT_DOUBLE_EQ(critical_path(question(stream(3), machine), flat(1, 4, 3)).seconds, 12);
}

/// Rank 0 folds its own element with those of ranks 1 ... p − 1.
Schedule reduction(int ranks) {
    return make_schedule(ranks, [&](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(1);
        if (rank > 0) {
            builder.send(0, own);
            return builder.finish({});
        }
        std::vector<Region> operands = {own};
        for (int from = 1; from < ranks; ++from) {
            operands.push_back(builder.scratch(1));
            builder.receive(from, operands.back());
        }
        const Region sum = builder.output(1);
        builder.fold(sum, operands);
        return builder.finish(sum);
    });
}

TEST(CriticalPath, combines_operands_as_they_arrive) {
    const auto machine = plain_machine(5);
    Prices prices = flat(1, 10, 10);
    prices.blocking = false;
    // Messages end at 10, 20 and 30 s; each is combined in 5 s while the next one is received.
    EXPECT_DOUBLE_EQ(critical_path(question(reduction(4), machine), prices).seconds, 35);
    // With blocking calls, each message starts after the previous one has been combined.
    EXPECT_DOUBLE_EQ(critical_path(question(reduction(4), machine), flat(1, 10, 10)).seconds, 45);
}

TEST(CriticalPath, combines_operands_that_are_available_together_in_one_pass) {
    auto machine = plain_machine();
    machine.operators = {{"over", "f32", {}, {{1, 2, exactly(20)}, {1, 3, exactly(22)}}, {}, {}}};
    const Schedule own = make_schedule(1, [](int) {
        ProgramBuilder builder;
        const std::vector<Region> operands = {builder.input(1), builder.input(1), builder.input(1)};
        const Region sum = builder.output(1);
        builder.fold(sum, operands);
        return builder.finish(sum);
    });
    EXPECT_DOUBLE_EQ(critical_path(question(own, machine), flat(0, 4, 10)).seconds, 22);
    // Messages arrive at 10, 14 and 18 s: the first is combined in a pass of two operands, the
    // other two together in a pass of three.
    Prices prices = flat(0, 4, 10);
    prices.blocking = false;
    EXPECT_DOUBLE_EQ(critical_path(question(reduction(4), machine), prices).seconds, 30 + 22);
}

TEST(CriticalPath, uses_the_operator_cost_of_the_element_format) {
    auto machine = plain_machine(5);
    machine.operators.push_back({"over", "u8", exactly(1), {}, {}, {}});
    const Schedule schedule = reduction(2);
    Question bytes = question(schedule, machine);
    bytes.element_name = "u8";
    EXPECT_DOUBLE_EQ(critical_path(bytes, flat(1, 10, 10)).seconds, 11);
}

TEST(CriticalPath, waits_for_all_operands_of_folds_that_round_only_once) {
    auto machine = plain_machine();
    machine.operators = {{"over", "u8", {}, {{1, 2, exactly(5)}, {1, 4, exactly(7)}}, {}, {}}};
    Prices prices = flat(1, 10, 10);
    prices.blocking = false;
    const Schedule schedule = reduction(4);
    Question bytes = question(schedule, machine);
    bytes.element_name = "u8";
    // Messages end at 10, 20 and 30 s and are combined one by one as they arrive, or all in one
    // pass.
    EXPECT_DOUBLE_EQ(critical_path(bytes, prices).seconds, 30 + 5);
    bytes.folds_at_once = true;
    EXPECT_DOUBLE_EQ(critical_path(bytes, prices).seconds, 30 + 7);
}

TEST(CriticalPath, does_not_fold_while_the_processor_moves_messages) {
    const auto machine = plain_machine(5);
    Prices prices{[](const Message&) {
                      return MessageCost{Span(1.), Span(10.), Span(10.), Span(), Span(3.)};
                  },
                  false};
    // The processor is busy during the last 3 s of a message, which takes 10 s.
    const double seconds = critical_path(question(reduction(4), machine), prices).seconds;
    // The processor folds until 15 s and 23 s, so messages end at 10, 18 and 26 s.
    EXPECT_DOUBLE_EQ(seconds, 31);
}

TEST(CriticalPath, waits_for_the_receive_in_a_rendezvous) {
    // Rank 1 can receive only after its own send.
    const Schedule schedule = make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(1 + rank), other = builder.scratch(2 - rank);
        builder.window(1);
        builder.round(rank == 0 ? 1 : 0);
        if (rank == 0) {
            builder.send(1, own);
            builder.receive(1, other);
        } else {
            builder.send(0, own);
            builder.round(1);
            builder.receive(0, other);
        }
        return builder.finish(other);
    });
    const auto machine = plain_machine();
    const auto priced = [&](bool rendezvous) {
        Prices prices{[=](const Message& m) {
            const bool quick = m.bytes == 1; // the message from rank 0
            return MessageCost{
                Span(quick ? 1. : 20.), Span(1.), Span(quick ? 5. : 20.), {}, {}, rendezvous};
        }};
        return critical_path(question(schedule, machine), prices).seconds;
    };
    // The message has arrived before rank 1 receives it, so only the receive time is added.
    EXPECT_DOUBLE_EQ(priced(false), 21);
    EXPECT_DOUBLE_EQ(priced(true), 25); // the transfer starts when the receive is posted
}

TEST(CriticalPath, propagates_confidence_intervals) {
    const auto machine = plain_machine();
    const Prices prices{[](const Message&) {
        const Span t(2, 1, 5);
        return MessageCost{t, t, t, {}, {}};
    }};
    const Prediction prediction = critical_path(question(stream(3), machine), prices);
    EXPECT_DOUBLE_EQ(prediction.low, 3);
    EXPECT_DOUBLE_EQ(prediction.seconds, 6);
    EXPECT_DOUBLE_EQ(prediction.high, 15);
}

TEST(CriticalPath, refuses_unmatched_schedules_and_deadlocks) {
    const auto machine = plain_machine();
    Schedule unmatched = stream(2);
    unmatched[1].steps.pop_back();
    EXPECT_THROW(critical_path(question(unmatched, machine), flat(1, 1, 1)), std::logic_error);
    // Each rank waits in round 0 for the message that the other sends in round 1.
    const Schedule deadlock = make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region own = builder.input(1), other = builder.scratch(1);
        builder.window(1);
        builder.receive(1 - rank, other);
        builder.round(1);
        builder.send(1 - rank, own);
        return builder.finish(other);
    });
    EXPECT_THROW(critical_path(question(deadlock, machine), flat(1, 1, 1)), std::logic_error);
}

TEST(CriticalPath, has_a_timeline_of_every_step_without_overlapping_sends_or_folds) {
    const auto machine = plain_machine(.25);
    const Schedule schedule = composite("radix-k", 12, 120, {{4, 3}});
    Question requested = question(schedule, machine);
    requested.timeline = true;
    const Prediction prediction = find("hockney").predict(requested);
    const Trace& trace = prediction.timeline;
    EXPECT_DOUBLE_EQ(trace.duration, prediction.seconds);
    std::map<std::pair<int, Activity>, Seconds> until;
    std::size_t messages = 0, wanted = 0;
    double last = 0;
    for (const Event& event : trace.events) {
        EXPECT_LE(event.begin, event.end);
        EXPECT_LE(event.end, trace.duration + 1e-12);
        last = std::max(last, event.end);
        const bool message =
            event.activity == Activity::send || event.activity == Activity::receive;
        messages += message;
        if (event.activity == Activity::receive)
            continue; // receives are posted early, so they overlap
        Seconds& before = until[{event.rank, event.activity}];
        EXPECT_GE(event.begin, before - 1e-12);
        before = event.end;
    }
    for (const Program& program : schedule) {
        for (const Step& step : program.steps)
            wanted += is_message(step.verb);
    }
    EXPECT_EQ(messages, wanted);
    EXPECT_DOUBLE_EQ(last, trace.duration);
    EXPECT_TRUE(find("hockney").predict(question(schedule, machine)).timeline.events.empty());
}

TEST(CriticalPath, predicts_the_same_time_with_and_without_a_timeline) {
    const auto machine = plain_machine(.25);
    for (const char* name :
         {"direct-send", "radix-k", "two-three-swap", "parallel-pipeline", "binary-tree"}) {
        const auto& algorithm = compositing::find(name);
        const Schedule schedule = composite(name, 12, 120, algorithm.tunings(12).front());
        Question requested = question(schedule, machine);
        const Seconds without = find("hockney").predict(requested).seconds;
        requested.timeline = true;
        EXPECT_EQ(find("hockney").predict(requested).seconds, without) << name;
        EXPECT_GT(without, 0);
    }
}

} // namespace
} // namespace sextant::model
