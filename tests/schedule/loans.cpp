// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/loans.hpp"

#include "sextant/schedule/builder.hpp"

#include <map>
#include <utility>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/lender.hpp"
#include "tests/support/random_programs.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Lender;

TEST(ZeroCopyMessages, require_that_the_sender_does_not_overwrite_the_region) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    builder.send(1, in);      // step 0: never overwritten
    builder.copy(s, in);      // step 1
    builder.send(1, s);       // step 2: overwritten by step 3
    builder.fold(s, {in, s}); // step 3
    builder.send(1, s);       // step 4: never overwritten
    const Lender lender(builder.finish(s));
    EXPECT_TRUE(lender.loans.may_lend(0));
    EXPECT_FALSE(lender.loans.may_lend(2));
    EXPECT_TRUE(lender.loans.may_lend(4));
    EXPECT_FALSE(lender.loans.may_lend(1));
    EXPECT_FALSE(lender.loans.may_lend(3));
}

TEST(ZeroCopyMessages, list_uses_only_for_receive_steps) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    builder.send(1, in);
    builder.copy(s, in);
    builder.fold(s, {in, s});
    const Lender lender(builder.finish(s));
    for (int step = 0; step < 3; ++step)
        EXPECT_TRUE(lender.loans.uses(step).empty());
}

TEST(ZeroCopyMessages, list_each_fold_with_its_operand_and_message_offset) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(10), sum = builder.scratch(2);
    builder.receive(1, {{block(slot.buffer, 6, 4), block(slot.buffer, 0, 3)}}); // step 0
    builder.fold(sum, {in, block(slot.buffer, 7, 2)});                          // step 1
    builder.fold(sum, {sum, in, block(slot.buffer, 1, 2)});                     // step 2
    const Lender lender(builder.finish(sum));
    const auto uses = lender.loans.uses(0);
    ASSERT_EQ(uses.size(), 2u);
    EXPECT_EQ(uses[0].step, 1u);
    EXPECT_EQ(uses[0].region, lender.program.steps[1].first + 1);
    EXPECT_EQ(uses[0].offset, 1);
    EXPECT_EQ(uses[1].step, 2u);
    EXPECT_EQ(uses[1].region, lender.program.steps[2].first + 2);
    EXPECT_EQ(uses[1].offset, 5);
}

TEST(ZeroCopyMessages, are_listed_twice_if_a_fold_reads_them_twice) {
    ProgramBuilder builder;
    const Region slot = builder.scratch(4), sum = builder.scratch(2);
    builder.receive(1, slot);
    builder.fold(sum, {block(slot.buffer, 0, 2), block(slot.buffer, 2, 2)});
    const Lender lender(builder.finish(sum));
    ASSERT_EQ(lender.loans.uses(0).size(), 2u);
    EXPECT_EQ(lender.loans.uses(0)[0].offset, 0);
    EXPECT_EQ(lender.loans.uses(0)[1].offset, 2);
}

/// A rank that receives two elements and folds them into a sum; `also` adds a step that uses the
/// receive buffer.
template <class Also>
bool borrows_although(Also also) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(2), sum = builder.scratch(2);
    builder.receive(1, slot);
    also(builder, slot);
    builder.fold(sum, {in, slot});
    return !Lender(builder.finish(sum)).loans.uses(0).empty();
}

TEST(ZeroCopyMessages, are_not_used_if_received_data_is_forwarded_or_copied) {
    EXPECT_TRUE(borrows_although([](ProgramBuilder&, const Region&) {}));
    EXPECT_FALSE(borrows_although([](ProgramBuilder& b, const Region& slot) { b.send(2, slot); }));
    EXPECT_FALSE(borrows_although(
        [](ProgramBuilder& b, const Region& slot) { b.copy(b.scratch(2), slot); }));
    EXPECT_FALSE(borrows_although([](ProgramBuilder& b, const Region& slot) {
        b.copy(b.scratch(1), block(slot.buffer, 1, 1));
    }));
}

TEST(ZeroCopyMessages, are_not_used_if_the_result_contains_received_data) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(2), sum = builder.scratch(2);
    builder.receive(1, slot);
    builder.fold(sum, {in, slot});
    EXPECT_TRUE(Lender(builder.finish(slot)).loans.uses(0).empty());
}

TEST(ZeroCopyMessages, are_not_used_if_an_operand_spans_two_regions) {
    ProgramBuilder builder;
    const Region in = builder.input(4), slot = builder.scratch(4), sum = builder.scratch(4);
    builder.receive(1, {{block(slot.buffer, 0, 2), block(slot.buffer, 2, 2)}});
    builder.fold(sum, {in, slot});
    EXPECT_TRUE(Lender(builder.finish(sum)).loans.uses(0).empty());
}

TEST(ZeroCopyMessages, are_not_used_for_strided_regions_or_operands) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(4), sum = builder.scratch(2);
    const Region apart{slot.buffer, 0, 1, 2, 2};
    builder.receive(1, apart);
    builder.fold(sum, {in, apart});
    builder.receive(1, slot);
    builder.fold(sum, {sum, apart});
    const Lender lender(builder.finish(sum));
    EXPECT_TRUE(lender.loans.uses(0).empty());
    EXPECT_TRUE(lender.loans.uses(2).empty());
}

TEST(ZeroCopyMessages, are_used_if_the_receive_buffer_is_refilled_afterwards) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(2), sum = builder.scratch(2);
    builder.receive(1, slot);       // step 0
    builder.fold(sum, {in, slot});  // step 1
    builder.receive(1, slot);       // step 2
    builder.fold(sum, {sum, slot}); // step 3
    const Lender lender(builder.finish(sum));
    ASSERT_EQ(lender.loans.uses(0).size(), 1u);
    EXPECT_EQ(lender.loans.uses(0)[0].step, 1u);
    ASSERT_EQ(lender.loans.uses(2).size(), 1u);
    EXPECT_EQ(lender.loans.uses(2)[0].step, 3u);
}

TEST(ZeroCopyMessages, are_used_if_the_sum_is_accumulated_in_the_receive_buffer) {
    ProgramBuilder builder;
    const Region in = builder.input(2), slot = builder.scratch(2);
    builder.receive(1, slot);
    builder.fold(slot, {in, slot});
    EXPECT_EQ(Lender(builder.finish(slot)).loans.uses(0).size(), 1u);
}

// An operand that was received may be partly overwritten before the fold reads it: through a shared
// buffer, the fold would read the sender's elements instead of the new ones.
TEST(ZeroCopyMessages, are_not_used_if_an_operand_was_partly_overwritten) {
    ProgramBuilder builder;
    const Region in = builder.input(4), slot = builder.scratch(4), sum = builder.scratch(4);
    builder.receive(1, slot);                                       // step 0
    builder.fold(sum, {in, slot});                                  // step 1: reads the message
    builder.copy(block(slot.buffer, 0, 2), block(in.buffer, 0, 2)); // step 2: replaces half of it
    builder.fold(sum, {sum, slot});                                 // step 3: reads old and new
    const Lender lender(builder.finish(sum));
    for (const Loans::Use& use : lender.loans.uses(0))
        EXPECT_NE(use.step, 3u);
}

TEST(ZeroCopyMessages, are_not_used_if_an_earlier_fold_overwrites_part_of_the_receive_buffer) {
    ProgramBuilder builder;
    const Region in = builder.input(4), slot = builder.scratch(4), sum = builder.scratch(4);
    const Region half = block(slot.buffer, 2, 2);
    builder.receive(1, slot);                           // step 0
    builder.fold(half, {block(in.buffer, 2, 2), half}); // step 1: in place
    builder.fold(sum, {in, slot});                      // step 2
    const Lender lender(builder.finish(sum));
    for (const Loans::Use& use : lender.loans.uses(0))
        EXPECT_NE(use.step, 2u);
}

/// The last writer of an element: a step and an index within its output, derived from program
/// order.
struct Origin {
    int step = -1;
    Elements element = 0;
    bool operator==(const Origin&) const = default;
};

class Origins {
  public:
    explicit Origins(const Program& program) : program_(program) {}

    Origin of(int buffer, Elements e) const {
        const auto found = last_.find({buffer, e});
        return found == last_.end() ? Origin{} : found->second;
    }

    void pass(int i) {
        const Step& step = program_.steps[static_cast<std::size_t>(i)];
        Elements count = 0;
        if (step.verb == Verb::fold || step.verb == Verb::copy)
            wrote(i, step.to, count);
        if (step.verb != Verb::receive)
            return;
        for (const Region& region : program_.regions_of(step))
            wrote(i, region, count);
    }

  private:
    void wrote(int step, const Region& region, Elements& count) {
        for (Elements e : test::elements_in_order(region))
            last_[{region.buffer, e}] = {step, count++};
    }

    const Program& program_;
    std::map<std::pair<int, Elements>, Origin> last_;
};

/// Checks one operand or message region: elements of a message in a shared buffer must be read from
/// that buffer, all other elements must not.
void check_read(const Lender& lender, const Origins& origins, int step, std::uint32_t region) {
    const Region& read = lender.program.regions[region];
    std::map<int, Elements> loans; // offset of the operand in the message, by receive step
    for (int i = 0; i < step; ++i) {
        for (const Loans::Use& use : lender.loans.uses(i)) {
            if (static_cast<int>(use.step) == step && use.region == region)
                loans[i] = use.offset;
        }
    }
    ASSERT_LE(loans.size(), 1u) << "shares the buffers of two messages";
    const std::vector<Elements> elements = test::elements_in_order(read);
    for (std::size_t e = 0; e < elements.size(); ++e) {
        const Origin origin = origins.of(read.buffer, elements[e]);
        if (!loans.empty()) {
            const Origin lent{loans.begin()->first,
                              loans.begin()->second + static_cast<Elements>(e)};
            ASSERT_EQ(origin, lent) << "step " << step << " would read another element";
        } else if (origin.step >= 0) {
            ASSERT_TRUE(lender.loans.uses(origin.step).empty()) << "step " << step << " reads what "
                                                                << "was never brought here";
        }
    }
}

void check_loans(const Lender& lender) {
    const Program& program = lender.program;
    Origins origins(program);
    for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
        const Step& step = program.steps[static_cast<std::size_t>(i)];
        for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
            if (step.verb != Verb::receive)
                check_read(lender, origins, i, r);
        }
        origins.pass(i);
    }
    for (Elements e : test::elements_in_order(program.result)) {
        const Origin origin = origins.of(program.result.buffer, e);
        ASSERT_TRUE(origin.step < 0 || lender.loans.uses(origin.step).empty());
    }
}

TEST(ZeroCopyMessages, give_every_step_of_random_programs_the_right_elements) {
    test::Random random(51);
    int borrowed = 0;
    for (int trial = 0; trial < 30000; ++trial) {
        const Lender lender(test::RandomProgram(random).make(random.number(2, 12), 1, 0));
        check_loans(lender);
        ASSERT_FALSE(HasFatalFailure()) << trial;
        for (int i = 0; i < static_cast<int>(lender.program.steps.size()); ++i) {
            borrowed += !lender.loans.uses(i).empty();
        }
    }
    EXPECT_GT(borrowed, 300);
}

} // namespace
} // namespace sextant
