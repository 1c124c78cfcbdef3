// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/prove.hpp"

#include <set>
#include <string>
#include <utility>

#include "tests/support/two_ranks.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::anything;
using test::two_ranks;
using test::written;
using test::wrong_with_receiver;
using testing::HasSubstr;
using testing::StartsWith;

const char* const exchange = "in_out all 4; send peer all; receive peer all; result all";

TEST(Prove, refuses_an_in_place_exchange_unless_sends_are_buffered) {
    const Schedule schedule = two_ranks(exchange);
    for (const Delivery delivery : {Delivery::rendezvous, Delivery::shuffled, Delivery::lent})
        EXPECT_THAT(prove(schedule, anything(), delivery).error, HasSubstr("deadlock"));
    EXPECT_EQ(prove(schedule, anything(), Delivery::eager).error, "");
    EXPECT_THAT(prove(schedule, anything()).error,
                StartsWith("rendezvous delivery: rank 0, step 0 (send to rank 1): deadlock"));
}

TEST(Prove, an_eager_message_keeps_its_contents_when_the_send_buffer_is_overwritten) {
    Claim claim = anything();
    claim.wanted = test::exactly([](int rank) { return test::combined(0, 4, 1 - rank, 2 - rank); });
    EXPECT_EQ(prove(two_ranks(exchange), claim, Delivery::eager).error, "");
}

TEST(Prove, refuses_two_ranks_that_each_forward_the_others_message) {
    const Schedule schedule = two_ranks("scratch s 4; receive peer s; send peer s; result s");
    for (const Delivery delivery : deliveries)
        EXPECT_THAT(prove(schedule, anything(), delivery).error, HasSubstr("deadlock"));
}

TEST(Prove, detects_that_a_window_causes_a_deadlock) {
    const auto receive_then_send = [](const std::string& window) {
        return two_ranks("input in 4; scratch s 4; window " + window +
                         "; receive peer s; round 1; send peer in; result s");
    };
    EXPECT_EQ(prove(receive_then_send("0"), anything()).error, "");
    EXPECT_EQ(prove(receive_then_send("2"), anything()).error, "");
    for (const Delivery delivery : deliveries)
        EXPECT_THAT(prove(receive_then_send("1"), anything(), delivery).error,
                    HasSubstr("deadlock"));
}

TEST(Prove, refuses_reads_of_unwritten_elements) {
    const char* const undefined = "reads an element that was never written";
    for (const auto& [messages, text] :
         {std::pair(0, "scratch s 4; scratch t 4; copy s t; result s"),
          {0, "output s 4; fold s s in; result s"},
          {1, "scratch s 5; receive 0 s[0+4]; fold s[1+4] s[1+4] in; result s"}})
        EXPECT_THAT(wrong_with_receiver(messages, text), HasSubstr(undefined)) << text;
    const Schedule sends_nothing = {written("scratch s 4; send 1 s; result s"),
                                    written("scratch s 4; receive 0 s; result s")};
    EXPECT_THAT(prove(sends_nothing, anything()).error,
                HasSubstr(std::string("rank 0, step 0 (send to rank 1): ") + undefined));
}

TEST(Prove, accepts_each_operand_once_in_any_order_only_if_the_claim_allows_it) {
    const Schedule schedule = {
        written("input in 2; scratch a 2; scratch b 2; receive 1 a; receive 2 b; fold a a b; "
                "fold b a b; result b"),
        written("input in 2; send 0 in"), written("input in 2; send 0 in")};
    Claim claim = anything();
    claim.order = Order::any;
    EXPECT_THAT(prove(schedule, claim).error, HasSubstr("step 3 (fold): combines operand 2 twice"));
    claim.order = Order::unchecked;
    EXPECT_EQ(prove(schedule, claim).error, "");
    Schedule once = schedule;
    once[0] =
        written("input in 2; scratch a 2; scratch b 2; receive 1 a; receive 2 b; fold b b in; "
                "fold b b a; result b");
    claim.wanted = [](int, const std::vector<Symbol>& result) -> std::string {
        return result.empty() || result[0].same_value({0, 0, 3}) ? "" : "not all operands";
    };
    claim.order = Order::any;
    EXPECT_EQ(prove(once, claim).error, "");
    claim.order = Order::given;
    EXPECT_THAT(prove(once, claim).error, HasSubstr("operands out of order"));
}

TEST(Prove, refuses_wrong_operands_unmatched_messages_and_accesses_outside_buffers) {
    struct Row {
        int messages;
        const char *text, *error;
    };
    for (const Row& row :
         {Row{1, "scratch s 4; receive 0 s; fold s in s; result s",
              "rank 1, step 1 (fold): operands out of order: [1, 2) then [0, 1)"},
          {1, "scratch s 4; scratch t 3; receive 0 s; fold t s[0+3] in[1+3]; result s",
           "folds element 0 with element 1"},
          {0, "scratch s 4; fold s in in; result s", "operands out of order: [1, 2) then [1, 2)"},
          {1, "result in", "rank 0 sends 1 messages to rank 1, which receives 0"},
          {0, "scratch s 4; copy in[0+4] s; result in",
           "rank 1, step 0 (copy): writes to an input"},
          {0, "result in[0+5]", "rank 1, step 0 (result): a region is outside its buffer"}})
        EXPECT_THAT(wrong_with_receiver(row.messages, row.text), HasSubstr(row.error)) << row.text;
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

TEST(Prove, refuses_a_fold_or_copy_of_inconsistent_sizes_or_another_number_of_operands) {
    const Claim claim{[](int, int buffer, Elements e) {
                          return Symbol{e, buffer, buffer + 1, 0};
                      },
                      {},
                      {}};
    EXPECT_EQ(prove(one_fold(), claim).error, "");
    Schedule nothing = one_fold(), two = one_fold();
    nothing[0].steps[0].count = 0;
    two[0].steps[0].verb = Verb::copy;
    EXPECT_FALSE(prove(nothing, claim).holds());
    EXPECT_FALSE(prove(two, claim).holds());
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

TEST(Prove, checks_each_result_and_all_results_together) {
    const Schedule schedule = two_ranks("input in 3; result in");
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
    const Schedule schedule = {
        written("input in 5; send 1 in; send 1 in[0+2]; result in"),
        written("input in 5; scratch s 5; scratch sum 5; receive 0 s; fold sum s in; "
                "receive 0 s[0+2]; fold s[0+2] s[0+2] in[0+2]; result s[0+2]")};
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
