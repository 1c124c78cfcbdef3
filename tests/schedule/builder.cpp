// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/builder.hpp"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sextant {
namespace {

std::vector<Region> regions_of(const Program& program, int step) {
    const auto regions = program.regions_of(program.steps[static_cast<std::size_t>(step)]);
    return {regions.begin(), regions.end()};
}

TEST(ProgramBuilder, numbers_buffers_in_order_with_their_roles_and_sizes) {
    ProgramBuilder builder;
    EXPECT_EQ(builder.input(5), block(0, 0, 5));
    EXPECT_EQ(builder.scratch(0), block(1, 0, 0));
    EXPECT_EQ(builder.in_out(7), block(2, 0, 7));
    EXPECT_EQ(builder.output(9), block(3, 0, 9));
    const Program program = builder.finish(block(3, 0, 9));
    ASSERT_EQ(program.buffers.size(), 4u);
    EXPECT_EQ(program.buffers[0].role, Role::input);
    EXPECT_EQ(program.buffers[1].role, Role::scratch);
    EXPECT_EQ(program.buffers[2].role, Role::in_out);
    EXPECT_EQ(program.buffers[3].role, Role::output);
    EXPECT_EQ(program.buffers[2].size, 7);
    EXPECT_EQ(program.result, block(3, 0, 9));
    EXPECT_EQ(program.window, 0);
}

TEST(ProgramBuilder, writes_steps_in_order_with_their_labels) {
    ProgramBuilder builder;
    const Region in = builder.input(6), s = builder.scratch(6);
    builder.window(2);
    builder.send(3, in);
    builder.round(1);
    builder.group(4);
    builder.receive(5, {{block(s.buffer, 0, 2), block(s.buffer, 2, 4)}});
    builder.fold(s, {in, s});
    const Program program = builder.finish(s);
    EXPECT_EQ(program.window, 2);
    ASSERT_EQ(program.steps.size(), 3u);
    EXPECT_EQ(program.steps[0].verb, Verb::send);
    EXPECT_EQ(program.steps[0].peer, 3);
    EXPECT_EQ(program.steps[0].round, 0);
    EXPECT_EQ(program.steps[1].verb, Verb::receive);
    EXPECT_EQ(program.steps[1].round, 1);
    EXPECT_EQ(program.steps[1].group, 4);
    EXPECT_EQ(program.steps[2].verb, Verb::fold);
    EXPECT_EQ(program.steps[2].to, s);
    EXPECT_EQ(regions_of(program, 2), (std::vector<Region>{in, s}));
    EXPECT_EQ(program.elements_of(program.steps[1]), 6);
    EXPECT_EQ(program.elements_of(program.steps[2]), 6);
}

TEST(ProgramBuilder, omits_steps_and_regions_without_elements) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    const Region none = block(0, 2, 0), no_runs{0, 0, 2, 3, 0};
    builder.send(1, none);
    builder.receive(1, no_runs);
    builder.copy(block(s.buffer, 1, 0), none);
    builder.fold(block(s.buffer, 1, 0), {none, none});
    builder.send(1, {{none, in, no_runs}});
    const Program program = builder.finish(s);
    ASSERT_EQ(program.steps.size(), 1u);
    EXPECT_EQ(regions_of(program, 0), std::vector<Region>{in});
}

TEST(ProgramBuilder, a_fold_of_one_operand_is_a_copy_and_a_copy_onto_itself_is_omitted) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    builder.fold(s, {in});
    builder.fold(s, {s});
    builder.copy(s, s);
    const Program program = builder.finish(s);
    ASSERT_EQ(program.steps.size(), 1u);
    EXPECT_EQ(program.steps[0].verb, Verb::copy);
}

TEST(ProgramBuilder, refuses_steps_with_inconsistent_sizes) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    EXPECT_THROW(builder.copy(s, block(in.buffer, 0, 3)), std::logic_error);
    EXPECT_THROW(builder.fold(s, {in, block(in.buffer, 0, 3)}), std::logic_error);
    EXPECT_THROW(builder.fold(s, {block(in.buffer, 0, 3)}), std::logic_error);
    EXPECT_THROW(builder.fold(s, {}), std::logic_error);
    EXPECT_TRUE(builder.finish(s).steps.empty());
}

TEST(ProgramBuilder, refuses_a_destination_that_partly_overlaps_an_operand) {
    ProgramBuilder builder;
    const Region all = builder.in_out(12);
    const Region low = block(all.buffer, 0, 4), middle = block(all.buffer, 2, 4);
    EXPECT_THROW(builder.fold(low, {low, middle}), std::logic_error);
    const Region even{all.buffer, 0, 1, 2, 4}, odd{all.buffer, 1, 1, 2, 4};
    builder.fold(even, {odd, even}); // interleaved, but disjoint
    EXPECT_EQ(builder.finish(even).steps.size(), 1u);
}

TEST(Program, with_peers_changes_only_the_ranks_of_messages) {
    ProgramBuilder builder;
    const Region in = builder.input(4), s = builder.scratch(4);
    builder.send(0, in);
    builder.receive(2, s);
    builder.fold(s, {in, s});
    const std::vector<int> ranks = {7, 8, 9};
    const Program program = with_peers(builder.finish(s), ranks);
    EXPECT_EQ(program.steps[0].peer, 7);
    EXPECT_EQ(program.steps[1].peer, 9);
    EXPECT_EQ(program.steps[2].peer, -1);
}

TEST(Program, schedules_are_created_rank_by_rank) {
    const Schedule schedule = make_schedule(3, [](int rank) {
        ProgramBuilder builder;
        return builder.finish(builder.input(rank));
    });
    ASSERT_EQ(schedule.size(), 3u);
    EXPECT_EQ(schedule[2].result.length, 2);
}

TEST(Program, verbs_have_names_and_only_send_and_receive_are_messages) {
    EXPECT_EQ(name(Verb::send), "send");
    EXPECT_EQ(name(Verb::receive), "receive");
    EXPECT_EQ(name(Verb::fold), "fold");
    EXPECT_EQ(name(Verb::copy), "copy");
    EXPECT_EQ(name(Verb::compute), "compute");
    EXPECT_TRUE(is_message(Verb::send) && is_message(Verb::receive));
    EXPECT_FALSE(is_message(Verb::fold) || is_message(Verb::copy));
}

} // namespace
} // namespace sextant
