// SPDX-License-Identifier: BSD-3-Clause
// Results that are used by a single send can be written directly into the receiver's buffer.
#include "sextant/schedule/builder.hpp"

#include <cstdint>
#include <vector>

#include "tests/support/lender.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Lender;

/// The send that takes the result of step 1, a fold into `sum`; `after` adds the steps that follow.
template <class After>
int taker_of_sum(After&& after) {
    ProgramBuilder builder;
    const Region in = builder.input(4), slot = builder.scratch(4), sum = builder.scratch(4);
    builder.receive(1, slot);      // step 0
    builder.fold(sum, {in, slot}); // step 1
    const Region result = after(builder, in, sum);
    return Lender(builder.finish(result)).loans.taker(1);
}

TEST(DirectWrite, is_possible_if_one_message_sends_the_whole_result_of_a_fold) {
    EXPECT_EQ(taker_of_sum([](ProgramBuilder& builder, const Region& in, const Region& sum) {
                  builder.send(0, sum); // step 2
                  builder.copy(sum, in);
                  return in;
              }),
              2);
}

TEST(DirectWrite, is_refused_if_the_result_of_a_fold_has_other_uses) {
    const auto nobody = [](ProgramBuilder&, const Region& in, const Region&) { return in; };
    const auto a_part = [](ProgramBuilder& builder, const Region& in, const Region& sum) {
        builder.send(0, block(sum.buffer, 1, 3));
        return in;
    };
    const auto more = [](ProgramBuilder& builder, const Region& in, const Region& sum) {
        builder.send(0, {{sum, in}});
        return in;
    };
    const auto two = [](ProgramBuilder& builder, const Region& in, const Region& sum) {
        builder.send(0, sum);
        builder.send(2, sum);
        return in;
    };
    const auto a_fold = [](ProgramBuilder& builder, const Region& in, const Region& sum) {
        builder.send(0, sum);
        builder.fold(sum, {sum, in});
        return in;
    };
    const auto the_result = [](ProgramBuilder& builder, const Region&, const Region& sum) {
        builder.send(0, sum);
        return sum;
    };
    const auto changed = [](ProgramBuilder& builder, const Region& in, const Region& sum) {
        builder.copy(block(sum.buffer, 0, 1), block(in.buffer, 0, 1));
        builder.send(0, sum);
        return in;
    };
    EXPECT_EQ(taker_of_sum(nobody), -1);
    EXPECT_EQ(taker_of_sum(a_part), -1);
    EXPECT_EQ(taker_of_sum(more), -1);
    EXPECT_EQ(taker_of_sum(two), -1);
    EXPECT_EQ(taker_of_sum(a_fold), -1);
    EXPECT_EQ(taker_of_sum(the_result), -1);
    EXPECT_EQ(taker_of_sum(changed), -1);
}

/// Steps 0 and 1 compute the halves of `made`; `after` adds the steps that follow. True if step 2
/// takes both halves.
template <class After>
bool made_for_step_2(After&& after) {
    ProgramBuilder builder;
    const Region in = builder.input(8), made = builder.scratch(8);
    for (const Elements first : {0, 4}) // steps 0 and 1
        builder.compute(0, {block(in.buffer, first, 4)}, {block(made.buffer, first, 4)});
    const Region result = after(builder, in, made);
    const Lender lender(builder.finish(result));
    const std::vector<std::uint32_t> halves = lender.loans.made_for(2);
    const bool takes = lender.loans.takes_made(2);
    EXPECT_EQ(halves.size(), takes ? 2u : 0u);
    for (const std::uint32_t half : halves)
        EXPECT_EQ(lender.loans.taker_of_made(half), 2);
    return takes;
}

TEST(DirectWrite, is_possible_if_one_message_sends_all_results_of_kernels) {
    EXPECT_TRUE(made_for_step_2([](ProgramBuilder& builder, const Region& in, const Region& made) {
        builder.send(0, made); // step 2
        builder.copy(made, in);
        return in;
    }));
}

TEST(DirectWrite, is_refused_if_kernel_results_have_other_uses) {
    const auto more_than_is_made = [](ProgramBuilder& builder, const Region& in, const Region&) {
        const Region other = builder.in_out(12);
        builder.send(0, other);
        return in;
    };
    const auto two = [](ProgramBuilder& builder, const Region& in, const Region& made) {
        builder.send(0, made);
        builder.send(1, block(made.buffer, 6, 2));
        return in;
    };
    const auto a_part = [](ProgramBuilder& builder, const Region& in, const Region& made) {
        builder.send(0, block(made.buffer, 2, 6));
        return in;
    };
    const auto in_pieces = [](ProgramBuilder& builder, const Region& in, const Region& made) {
        builder.send(0, {{block(made.buffer, 0, 4), block(made.buffer, 4, 4)}});
        return in;
    };
    const auto the_result = [](ProgramBuilder& builder, const Region&, const Region& made) {
        builder.send(0, made);
        return block(made.buffer, 0, 1);
    };
    const auto a_copy = [](ProgramBuilder& builder, const Region&, const Region& made) {
        const Region kept = builder.scratch(8);
        builder.send(0, made);
        builder.copy(kept, made);
        return kept;
    };
    EXPECT_FALSE(made_for_step_2(more_than_is_made));
    EXPECT_FALSE(made_for_step_2(two));
    EXPECT_FALSE(made_for_step_2(a_part));
    EXPECT_FALSE(made_for_step_2(in_pieces));
    EXPECT_FALSE(made_for_step_2(the_result));
    EXPECT_FALSE(made_for_step_2(a_copy));
}

TEST(DirectWrite, is_refused_if_other_steps_also_write_the_region) {
    ProgramBuilder builder;
    const Region in = builder.input(8), made = builder.scratch(8);
    builder.compute(0, {block(in.buffer, 0, 4)}, {block(made.buffer, 0, 4)}); // step 0
    builder.copy(block(made.buffer, 4, 4), block(in.buffer, 4, 4));           // step 1
    builder.send(0, made);                                                    // step 2
    builder.send(1, block(in.buffer, 0, 4)); // step 3: an input, not a result
    const Lender lender(builder.finish({}));
    EXPECT_FALSE(lender.loans.takes_made(2));
    EXPECT_FALSE(lender.loans.takes_made(3));
}

} // namespace
} // namespace sextant
