// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/prove.hpp"

#include "sextant/schedule/builder.hpp"

#include <set>

#include "tests/support/two_ranks.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::anything;
using test::two_ranks;
using test::wrong_with_receiver;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Prove, refuses_an_in_place_exchange_unless_sends_are_buffered) {
    const Schedule schedule = two_ranks([](ProgramBuilder& builder, int rank) {
        const Region all = builder.in_out(4);
        builder.send(1 - rank, all);
        builder.receive(1 - rank, all);
        return all;
    });
    EXPECT_THAT(prove(schedule, anything(), Delivery::rendezvous).error, HasSubstr("deadlock"));
    EXPECT_THAT(prove(schedule, anything(), Delivery::shuffled).error, HasSubstr("deadlock"));
    EXPECT_THAT(prove(schedule, anything(), Delivery::lent).error, HasSubstr("deadlock"));
    EXPECT_EQ(prove(schedule, anything(), Delivery::eager).error, "");
    EXPECT_THAT(prove(schedule, anything()).error,
                StartsWith("rendezvous delivery: rank 0, step 0 (send to rank 1): deadlock"));
}

TEST(Prove, an_eager_message_keeps_its_contents_when_the_send_buffer_is_overwritten) {
    Schedule schedule = two_ranks([](ProgramBuilder& builder, int rank) {
        const Region all = builder.in_out(4);
        builder.send(1 - rank, all);
        builder.receive(1 - rank, all);
        return all;
    });
    Claim claim = anything();
    claim.wanted = test::exactly([](int rank) { return test::combined(0, 4, 1 - rank, 2 - rank); });
    EXPECT_EQ(prove(schedule, claim, Delivery::eager).error, "");
}

TEST(Prove, refuses_two_ranks_that_each_forward_the_others_message) {
    const Schedule schedule = two_ranks([](ProgramBuilder& builder, int rank) {
        const Region slot = builder.scratch(4);
        builder.receive(1 - rank, slot);
        builder.send(1 - rank, slot);
        return slot;
    });
    for (Delivery delivery : deliveries) {
        EXPECT_THAT(prove(schedule, anything(), delivery).error, HasSubstr("deadlock"));
    }
}

/// Each rank receives in round 0 and sends in round 1.
Schedule receive_then_send(int window) {
    return two_ranks([&](ProgramBuilder& builder, int rank) {
        const Region in = builder.input(4), slot = builder.scratch(4);
        builder.window(window);
        builder.receive(1 - rank, slot);
        builder.round(1);
        builder.send(1 - rank, in);
        return slot;
    });
}

TEST(Prove, detects_that_a_window_causes_a_deadlock) {
    EXPECT_EQ(prove(receive_then_send(0), anything()).error, "");
    EXPECT_EQ(prove(receive_then_send(2), anything()).error, "");
    for (Delivery delivery : deliveries) {
        EXPECT_THAT(prove(receive_then_send(1), anything(), delivery).error, HasSubstr("deadlock"));
    }
}

TEST(Prove, refuses_reads_of_unwritten_elements) {
    const char* undefined = "reads an element that was never written";
    EXPECT_THAT(wrong_with_receiver(0,
                                    [](ProgramBuilder& b, const Region&) {
                                        const Region s = b.scratch(4), t = b.scratch(4);
                                        b.copy(s, t);
                                        return s;
                                    }),
                HasSubstr(undefined));
    EXPECT_THAT(wrong_with_receiver(0,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region s = b.output(4);
                                        b.fold(s, {s, in});
                                        return s;
                                    }),
                HasSubstr(undefined));
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region s = b.scratch(5);
                                        b.receive(0, block(s.buffer, 0,
                                                           4)); // one element fewer than is read
                                        b.fold(block(s.buffer, 1, 4), {block(s.buffer, 1, 4), in});
                                        return s;
                                    }),
                HasSubstr(undefined));
    const Schedule sends_nothing = two_ranks([](ProgramBuilder& b, int rank) {
        const Region s = b.scratch(4);
        if (rank == 0)
            b.send(1, s);
        else
            b.receive(0, s);
        return s;
    });
    EXPECT_THAT(
        prove(sends_nothing, anything()).error,
        HasSubstr("rank 0, step 0 (send to rank 1): reads an element that was never written"));
}

TEST(Prove, refuses_operands_in_the_wrong_order_or_of_different_elements) {
    EXPECT_THAT(wrong_with_receiver(1,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region slot = b.scratch(4);
                                        b.receive(0, slot);
                                        b.fold(slot, {in, slot});
                                        return slot;
                                    }),
                HasSubstr("rank 1, step 1 (fold): operands out of order: [1, 2) then [0, 1)"));
    EXPECT_THAT(
        wrong_with_receiver(1,
                            [](ProgramBuilder& b, const Region& in) {
                                const Region slot = b.scratch(4), sum = b.scratch(3);
                                b.receive(0, slot);
                                b.fold(sum, {block(slot.buffer, 0, 3), block(in.buffer, 1, 3)});
                                return slot;
                            }),
        HasSubstr("folds element 0 with element 1"));
}

TEST(Prove, refuses_an_operand_that_is_combined_twice) {
    EXPECT_THAT(wrong_with_receiver(0,
                                    [](ProgramBuilder& b, const Region& in) {
                                        const Region sum = b.scratch(4);
                                        b.fold(sum, {in, in});
                                        return sum;
                                    }),
                HasSubstr("operands out of order: [1, 2) then [1, 2)"));
}

TEST(Prove, refuses_unmatched_messages_and_accesses_outside_buffers) {
    EXPECT_THAT(wrong_with_receiver(1, [](ProgramBuilder&, const Region& in) { return in; }),
                HasSubstr("rank 0 sends 1 messages to rank 1, which receives 0"));
    EXPECT_THAT(wrong_with_receiver(0,
                                    [](ProgramBuilder& b, const Region& in) {
                                        b.copy(block(in.buffer, 0, 4), b.scratch(4));
                                        return in;
                                    }),
                HasSubstr("rank 1, step 0 (copy): writes to an input"));
    EXPECT_THAT(wrong_with_receiver(
                    0, [](ProgramBuilder&, const Region& in) { return block(in.buffer, 0, 5); }),
                HasSubstr("rank 1, step 0 (result): a region is outside its buffer"));
}

/// A single fold of two operands of four elements.
Schedule one_fold() {
    Program program;
    program.buffers = {{Role::input, 8}, {Role::input, 8}, {Role::scratch, 8}};
    program.regions = {block(0, 0, 4), block(1, 0, 4)};
    program.steps = {{Verb::fold, 0, 0, -1, 0, 2, block(2, 0, 4)}};
    program.result = block(2, 0, 4);
    return {program};
}

TEST(Prove, refuses_a_fold_or_copy_with_inconsistent_sizes) {
    const Claim claim{[](int, int buffer, Elements e) {
                          return Symbol{e, buffer, buffer + 1, 0};
                      },
                      {},
                      {}};
    EXPECT_EQ(prove(one_fold(), claim).error, "");
    for (Elements length : {3, 5}) {
        Schedule first = one_fold(), second = one_fold(), to = one_fold(), copy = one_fold();
        first[0].regions[0] = block(0, 0, length);
        second[0].regions[1] = block(1, 0, length);
        to[0].steps[0].to = block(2, 0, length);
        copy[0].regions[0] = block(0, 0, length);
        copy[0].steps[0].verb = Verb::copy;
        copy[0].steps[0].count = 1;
        for (const Schedule& wrong : {first, second, to, copy}) {
            EXPECT_FALSE(prove(wrong, claim).holds()) << length;
        }
    }
}

TEST(Prove, refuses_a_fold_without_and_a_copy_with_two_operands) {
    const Claim claim{[](int, int buffer, Elements e) {
                          return Symbol{e, buffer, buffer + 1, 0};
                      },
                      {},
                      {}};
    Schedule nothing = one_fold(), two = one_fold();
    nothing[0].steps[0].count = 0;
    two[0].steps[0].verb = Verb::copy;
    EXPECT_FALSE(prove(nothing, claim).holds());
    EXPECT_FALSE(prove(two, claim).holds());
}

TEST(Prove, checks_each_result_and_all_results_together) {
    const Schedule schedule = two_ranks([](ProgramBuilder& b, int) { return b.input(3); });
    std::set<int> judged;
    Claim claim = anything();
    claim.wanted = [&](int rank, const std::vector<Symbol>& result) {
        judged.insert(rank);
        EXPECT_EQ(result.size(), 3u);
        EXPECT_EQ(result[2].element, 2);
        return rank == 1 ? std::string("too blue") : std::string();
    };
    EXPECT_THAT(prove(schedule, claim, Delivery::eager).error, "rank 1, result: too blue");
    EXPECT_EQ(judged, (std::set<int>{0, 1}));
    claim.wanted = {};
    claim.wanted_together = [](const std::vector<std::vector<Symbol>>& results) {
        return "of " + std::to_string(results.size());
    };
    EXPECT_THAT(prove(schedule, claim, Delivery::lent).error, "results: of 2");
}

TEST(Prove, computes_the_costs_of_the_schedule) {
    const Schedule schedule = two_ranks([](ProgramBuilder& b, int rank) {
        const Region in = b.input(5), slot = b.scratch(5), sum = b.scratch(5);
        if (rank == 0) {
            b.send(1, in);
            b.send(1, block(in.buffer, 0, 2));
            return in;
        }
        b.receive(0, slot);
        b.fold(sum, {slot, in});
        b.receive(0, block(slot.buffer, 0, 2));
        b.fold(block(slot.buffer, 0, 2), {block(slot.buffer, 0, 2), block(in.buffer, 0, 2)});
        return block(slot.buffer, 0, 2);
    });
    const Proof proof = prove(schedule, anything());
    ASSERT_EQ(proof.error, "");
    EXPECT_EQ(proof.messages, 2);
    EXPECT_EQ(proof.most_messages, 2);
    EXPECT_EQ(proof.moved, 7);
    EXPECT_EQ(proof.most_moved, 7);
    EXPECT_EQ(proof.applications, 7);
    EXPECT_EQ(proof.most_applications, 7);
    EXPECT_EQ(proof.depth, 1);
    EXPECT_GE(proof.edges, 4);
}

TEST(Prove, accepts_empty_schedules_and_idle_ranks) {
    EXPECT_EQ(prove({}, {}).error, "");
    EXPECT_EQ(prove(Schedule(3), {}).error, "");
}

TEST(Prove, delivery_modes_have_names) {
    EXPECT_EQ(name(Delivery::rendezvous), "rendezvous");
    EXPECT_EQ(name(Delivery::shuffled), "shuffled");
    EXPECT_EQ(name(Delivery::eager), "eager");
    EXPECT_EQ(name(Delivery::lent), "lent");
}

} // namespace
} // namespace sextant
