// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/walk.hpp"

#include "sextant/schedule/builder.hpp"

#include <initializer_list>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/random_programs.hpp"
#include "tests/support/walk_model.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::Random;
using test::WalkModel;
using testing::ElementsAre;
using testing::IsEmpty;

struct WalkedProgram {
    const Program program;
    const Dependences dependences{program};
};

/// A traversal and its program.
struct WalkOf : WalkedProgram, Walk {
    explicit WalkOf(Program walked)
        : WalkedProgram{std::move(walked)}, Walk(program, dependences) {}
};

/// Traverses a program, finishing started steps in random order, and compares with the model.
class Companion {
  public:
    Companion(const Program& program, Walk& walk, Random& random)
        : program_(program), walk_(walk), model_(program), random_(random) {}

    void walk_all() {
        take_out();
        while (!open_.empty() && !testing::Test::HasFatalFailure()) {
            const std::size_t pick = random_.index(open_.size());
            const int step = open_[pick];
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(pick));
            walk_.finish(step);
            model_.finish(step);
            finished_.insert(step);
            take_out();
            compare();
        }
    }

    std::size_t given_out() const { return given_.size(); }

  private:
    void take_out() {
        for (int s = walk_.next_message(); s != Walk::none; s = walk_.next_message()) {
            take(s, true);
        }
        for (int s = walk_.next_work(); s != Walk::none; s = walk_.next_work())
            take(s, false);
    }

    void take(int step, bool message) {
        ASSERT_TRUE(given_.insert(step).second) << "step " << step << " given out twice";
        ASSERT_EQ(is_message(program_.steps[static_cast<std::size_t>(step)].verb), message);
        open_.push_back(step);
    }

    void compare() {
        for (std::size_t i = 0; i < program_.steps.size(); ++i) {
            const int step = static_cast<int>(i);
            ASSERT_EQ(given_.contains(step), model_.may_start(step)) << "step " << step;
            ASSERT_EQ(walk_.finished(step), finished_.contains(step));
            compare_parts(i);
        }
        ASSERT_EQ(walk_.unfinished(), static_cast<int>(program_.steps.size() - finished_.size()));
        ASSERT_EQ(walk_.done(), finished_.size() == program_.steps.size());
    }

    void compare_parts(std::size_t i) {
        const Step& step = program_.steps[i];
        if (is_message(step.verb))
            return;
        for (std::uint32_t r = step.first; r < step.first + step.count; ++r) {
            ASSERT_EQ(walk_.readable(r), model_.readable(i, program_.regions[r])) << "region " << r;
        }
        ASSERT_EQ(walk_.may_commit(static_cast<int>(i)), model_.may_commit(i)) << "step " << i;
    }

    const Program& program_;
    Walk& walk_;
    WalkModel model_;
    Random& random_;
    std::vector<int> open_; // started but not finished
    std::set<int> given_, finished_;
};

TEST(ProgramTraversal, releases_each_step_once_and_as_early_as_possible_for_any_window) {
    Random random(31);
    for (int trial = 0; trial < 6000; ++trial) {
        const int window = random.number(0, 4);
        WalkOf walk(test::RandomProgram(random).make(random.number(1, 14), 5, window));
        Companion companion(walk.program, walk, random);
        companion.walk_all();
        ASSERT_FALSE(HasFatalFailure()) << "trial " << trial << ", window " << window;
        // A window can contradict the dependences; then the traversal ends early.
        ASSERT_EQ(walk.done(), companion.given_out() == walk.program.steps.size());
        ASSERT_TRUE(walk.done() || window > 0) << trial;
    }
}

TEST(ProgramTraversal, releases_the_same_steps_after_a_reset) {
    Random random(32);
    for (int trial = 0; trial < 1000; ++trial) {
        WalkOf walk(test::RandomProgram(random).make(10, 4, random.number(0, 3)));
        for (int again = 0; again < 3; ++again) {
            Companion companion(walk.program, walk, random);
            companion.walk_all();
            ASSERT_FALSE(HasFatalFailure()) << trial << ", walk " << again;
            walk.reset();
            ASSERT_EQ(walk.unfinished(), static_cast<int>(walk.program.steps.size()));
        }
    }
}

TEST(ProgramTraversal, forgets_started_steps_when_reset_in_the_middle) {
    Random random(33);
    for (int trial = 0; trial < 1000; ++trial) {
        WalkOf walk(test::RandomProgram(random).make(10, 4, random.number(0, 3)));
        const int first = walk.next_message();
        if (first != Walk::none && random.chance(50))
            walk.finish(first);
        walk.next_work();
        walk.reset();
        Companion companion(walk.program, walk, random);
        companion.walk_all();
        ASSERT_FALSE(HasFatalFailure()) << trial;
    }
}

/// One message in each of the given rounds, each to a different peer, and a fold labelled with the
/// last round.
Program messages_in_rounds(std::initializer_list<int> rounds, int window) {
    ProgramBuilder builder;
    builder.window(window);
    const Region in = builder.input(2), sum = builder.scratch(2);
    int peer = 0;
    for (int round : rounds) {
        builder.round(round);
        builder.send(peer++, in);
    }
    builder.fold(sum, {in, in});
    return builder.finish(sum);
}

std::vector<int> messages_now(Walk& walk) {
    std::vector<int> steps;
    for (int s = walk.next_message(); s != Walk::none; s = walk.next_message())
        steps.push_back(s);
    return steps;
}

TEST(ProgramTraversal, releases_work_for_messages_first_and_other_work_in_order) {
    ProgramBuilder builder;
    const Region input = builder.input(4), own = builder.output(2), given = builder.scratch(2);
    const auto part = [](const Region& of, Elements i) { return block(of.buffer, i, 1); };
    builder.copy(part(own, 0), part(input, 0));                     // step 0: writes the result
    builder.copy(part(given, 0), part(input, 1));                   // step 1: needed by step 2
    builder.fold(part(given, 1), {part(given, 0), part(input, 2)}); // step 2: needed by step 4
    builder.copy(part(own, 1), part(input, 3));                     // step 3: writes the result
    builder.send(1, part(given, 1));                                // step 4
    WalkOf walk(builder.finish(own));
    EXPECT_TRUE(walk.dependences.before_message(1) && walk.dependences.before_message(2));
    EXPECT_FALSE(walk.dependences.before_message(0) || walk.dependences.before_message(4));
    EXPECT_EQ(walk.next_work(), 1);
    walk.finish(1);
    EXPECT_EQ(walk.next_work(), 2);
    EXPECT_EQ(walk.next_work(), 0);
    EXPECT_EQ(walk.next_work(), 3);
    EXPECT_EQ(walk.next_work(), Walk::none);
}

TEST(ProgramTraversal, a_window_of_w_opens_round_r_after_round_r_minus_w_has_finished) {
    WalkOf walk(messages_in_rounds({0, 1, 2, 3, 4}, 2));
    EXPECT_THAT(messages_now(walk), ElementsAre(0, 1));
    walk.finish(1); // round 0 is still incomplete
    EXPECT_THAT(messages_now(walk), IsEmpty());
    walk.finish(0);
    EXPECT_THAT(messages_now(walk), ElementsAre(2, 3));
    walk.finish(2);
    EXPECT_THAT(messages_now(walk), ElementsAre(4));
}

TEST(ProgramTraversal, a_window_never_delays_a_fold) {
    WalkOf walk(messages_in_rounds({0, 1, 2, 3, 4}, 1));
    EXPECT_EQ(walk.next_work(), 5);
    EXPECT_EQ(walk.next_work(), Walk::none);
    EXPECT_THAT(messages_now(walk), ElementsAre(0));
}

TEST(ProgramTraversal, is_not_delayed_by_rounds_without_messages) {
    WalkOf walk(messages_in_rounds({3, 9}, 1));
    EXPECT_THAT(messages_now(walk), ElementsAre(0));
    walk.finish(0);
    EXPECT_THAT(messages_now(walk), ElementsAre(1));
}

TEST(ProgramTraversal, rounds_may_differ_from_program_order) {
    WalkOf walk(messages_in_rounds({2, 0, 1}, 1));
    for (int expected : {1, 2, 0}) {
        EXPECT_THAT(messages_now(walk), ElementsAre(expected));
        walk.finish(expected);
    }
    walk.finish(walk.next_work());
    EXPECT_TRUE(walk.done());
}

TEST(ProgramTraversal, a_large_window_does_not_restrict_messages) {
    for (int window : {5, 1000, std::numeric_limits<int>::max()}) {
        WalkOf walk(messages_in_rounds({0, 1, 2, 3, 4}, window));
        EXPECT_THAT(messages_now(walk), ElementsAre(0, 1, 2, 3, 4)) << window;
    }
}

TEST(ProgramTraversal, is_not_delayed_by_the_largest_window) {
    ProgramBuilder builder;
    builder.window(std::numeric_limits<int>::max());
    const Region slot = builder.scratch(2);
    builder.receive(1, slot);
    builder.round(1);
    builder.send(2, slot);
    WalkOf walk(builder.finish(slot));
    EXPECT_THAT(messages_now(walk), ElementsAre(0));
    walk.finish(0);
    EXPECT_THAT(messages_now(walk), ElementsAre(1));
}

TEST(ProgramTraversal, of_an_empty_program_is_complete_immediately) {
    WalkOf walk(Program{});
    EXPECT_TRUE(walk.done());
    EXPECT_EQ(walk.next_message(), Walk::none);
    EXPECT_EQ(walk.next_work(), Walk::none);
}

TEST(ProgramTraversal, reports_each_operand_of_a_fold_when_it_arrives) {
    ProgramBuilder builder;
    const Region in = builder.input(2), a = builder.scratch(2), b = builder.scratch(2);
    builder.send(3, in);         // step 0
    builder.receive(1, a);       // step 1
    builder.receive(2, b);       // step 2
    builder.fold(a, {in, a, b}); // step 3
    WalkOf walk(builder.finish(a));
    messages_now(walk);
    const std::uint32_t first = walk.program.steps[3].first;
    EXPECT_TRUE(walk.readable(first));
    EXPECT_FALSE(walk.readable(first + 1) || walk.readable(first + 2));
    walk.finish(2);
    EXPECT_TRUE(walk.readable(first + 2));
    EXPECT_FALSE(walk.may_commit(3));
    walk.finish(1);
    EXPECT_TRUE(walk.readable(first + 1) && walk.may_commit(3));
    EXPECT_EQ(walk.next_work(), 3);
}

} // namespace
} // namespace sextant
