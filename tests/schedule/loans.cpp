// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/loans.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/lender.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/support/written.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Lender;
using test::written;

TEST(ZeroCopyMessages, require_that_the_sender_does_not_overwrite_the_region) {
    // Step 3 overwrites the region that step 2 sends. Steps 0 and 4 may lend theirs.
    const Lender lender(written("input in 4; scratch s 4; send 1 in; copy s in; send 1 s; "
                                "fold s in s; send 1 s; result s"));
    for (int step = 0; step < 5; ++step) {
        EXPECT_EQ(lender.loans.may_lend(step), step == 0 || step == 4) << step;
        EXPECT_TRUE(lender.loans.uses(step).empty()) << "only messages that are received";
    }
}

TEST(ZeroCopyMessages, list_each_fold_with_its_operand_and_message_offset) {
    const Lender lender(written("input in 2; scratch s 10; scratch sum 2; receive 1 s[6+4] s[0+3]; "
                                "fold sum in s[7+2]; fold sum sum in s[1+2]; result sum"));
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
    const Lender lender(
        written("scratch s 4; scratch sum 2; receive 1 s; fold sum s[0+2] s[2+2]; result sum"));
    ASSERT_EQ(lender.loans.uses(0).size(), 2u);
    EXPECT_EQ(lender.loans.uses(0)[0].offset, 0);
    EXPECT_EQ(lender.loans.uses(0)[1].offset, 2);
}

TEST(ZeroCopyMessages, are_used_by_folds_of_whole_messages_that_nothing_else_reads) {
    struct Row {
        const char *what, *text;
        std::vector<std::uint32_t> users; ///< steps that fold the first message where it is
    };
    const std::string begin = "input in 4; scratch s 4; scratch sum 4; scratch t 4; receive 1 s; ";
    for (const Row& row : {
             Row{"folded", "fold sum in s; result sum", {1}},
             {"forwarded", "send 2 s; fold sum in s; result sum", {}},
             {"copied", "copy t s; fold sum in s; result sum", {}},
             {"partly copied", "copy t[0+1] s[1+1]; fold sum in s; result sum", {}},
             {"in the result", "fold sum in s; result s", {}},
             {"refilled afterwards", "fold sum in s; receive 1 s; fold sum sum s; result sum", {1}},
             {"accumulated in place", "fold s in s; result s", {1}},
             // Through a shared buffer, the last fold would read the sender's elements instead of
             // the new ones.
             {"partly overwritten",
              "fold sum in s; copy s[0+2] in[0+2]; fold sum sum s; result sum",
              {}},
             {"partly overwritten by a fold",
              "fold s[2+2] in[2+2] s[2+2]; fold sum in s; result sum",
              {}},
         }) {
        std::vector<std::uint32_t> users;
        const Lender lender(written(begin + row.text));
        for (const Loans::Use& use : lender.loans.uses(0))
            users.push_back(use.step);
        EXPECT_EQ(users, row.users) << row.what;
    }
}

TEST(ZeroCopyMessages, are_not_used_if_regions_of_messages_or_operands_are_in_pieces) {
    const Lender two(written("input in 4; scratch s 4; scratch sum 4; receive 1 s[0+2] s[2+2]; "
                             "fold sum in s; result sum"));
    EXPECT_TRUE(two.loans.uses(0).empty());
    const Lender strided(written("input in 2; scratch s 4; scratch sum 2; receive 1 s[0,1,2,2]; "
                                 "fold sum in s[0,1,2,2]; receive 1 s; fold sum sum s[0,1,2,2]; "
                                 "result sum"));
    EXPECT_TRUE(strided.loans.uses(0).empty());
    EXPECT_TRUE(strided.loans.uses(2).empty());
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
