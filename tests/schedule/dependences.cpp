// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/dependences.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/random_programs.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::Random;

using Closure = std::vector<std::vector<bool>>; // [earlier step][later step]

/// The transitive closure of the dependences: for each step, the later steps that must wait for it.
Closure closure_of(std::vector<std::vector<int>> earlier) {
    const std::size_t n = earlier.size();
    Closure reaches(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i) {
        for (int j : earlier[i]) {
            reaches[static_cast<std::size_t>(j)][i] = true;
            for (std::size_t k = 0; k < n; ++k) {
                if (reaches[k][static_cast<std::size_t>(j)])
                    reaches[k][i] = true;
            }
        }
    }
    return reaches;
}

std::vector<std::vector<int>> earlier_by_edges(const Program& program, const Dependences& found) {
    std::vector<std::vector<int>> earlier(program.steps.size());
    for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
        for (const Dependences::Edge& edge : found.after(i))
            earlier[edge.step].push_back(i);
    }
    return earlier;
}

Program random_program(Random& random) {
    return test::RandomProgram(random).make(random.number(2, 16), 1, 0);
}

TEST(Dependences, order_two_steps_exactly_if_a_chain_of_conflicts_connects_them) {
    Random random(21);
    std::size_t ordered = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const Program program = random_program(random);
        const Dependences dependences(program);
        const Closure expected = closure_of(test::earlier_conflicts(program));
        ASSERT_EQ(closure_of(earlier_by_edges(program, dependences)), expected) << trial;
        for (const auto& row : expected)
            ordered += static_cast<std::size_t>(std::count(row.begin(), row.end(), true));
    }
    EXPECT_GT(ordered, 100000u);
}

TEST(Dependences, lead_only_forward_between_conflicting_steps) {
    Random random(22);
    for (int trial = 0; trial < 3000; ++trial) {
        const Program program = random_program(random);
        const Dependences dependences(program);
        const auto steps = test::footprints(program);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            for (const Dependences::Edge& edge : dependences.after(static_cast<int>(i))) {
                ASSERT_LT(i, edge.step);
                ASSERT_TRUE(test::conflict(steps[i], steps[edge.step]));
                if (edge.region == Dependences::commit)
                    continue;
                const Step& later = program.steps[edge.step];
                ASSERT_NE(later.verb, Verb::receive);
                const auto region = static_cast<std::uint32_t>(edge.region);
                ASSERT_TRUE(region >= later.first && region < later.first + later.count);
                const auto read = test::element_set(program, program.regions[region]);
                ASSERT_TRUE(steps[i].writes.meets(read));
            }
        }
    }
}

TEST(Dependences, count_their_edges_by_step_region_and_commit) {
    Random random(23);
    for (int trial = 0; trial < 3000; ++trial) {
        const Program program = random_program(random);
        const Dependences dependences(program);
        std::vector<std::uint32_t> needs(program.steps.size()), commits(program.steps.size()),
            regions(program.regions.size());
        std::size_t edges = 0;
        for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
            for (const Dependences::Edge& edge : dependences.after(i)) {
                ++edges, ++needs[edge.step];
                if (edge.region == Dependences::commit)
                    ++commits[edge.step];
                else
                    ++regions[static_cast<std::size_t>(edge.region)];
            }
        }
        ASSERT_EQ(dependences.edges(), edges);
        ASSERT_THAT(dependences.needs(), testing::ElementsAreArray(needs));
        ASSERT_THAT(dependences.commit_needs(), testing::ElementsAreArray(commits));
        ASSERT_THAT(dependences.region_needs(), testing::ElementsAreArray(regions));
    }
}

/// The last writer of each element of the result, derived from program order.
std::set<std::uint32_t> last_writers(const Program& program) {
    std::set<std::uint32_t> writers;
    const auto steps = test::footprints(program);
    for (Elements e : test::elements_in_order(program.result)) {
        const auto element = test::element_set(program, block(program.result.buffer, e, 1));
        for (std::size_t i = steps.size(); i-- > 0;) {
            if (!steps[i].writes.meets(element))
                continue;
            writers.insert(static_cast<std::uint32_t>(i));
            break;
        }
    }
    return writers;
}

TEST(Dependences, list_every_step_that_writes_to_the_result) {
    Random random(24);
    for (int trial = 0; trial < 5000; ++trial) {
        const Program program = random_program(random);
        const Dependences dependences(program);
        const auto& named = dependences.result_writers();
        const std::set<std::uint32_t> unique(named.begin(), named.end());
        ASSERT_EQ(unique.size(), named.size()) << "named twice";
        const auto result = test::element_set(program, program.result);
        for (std::uint32_t writer : last_writers(program))
            ASSERT_TRUE(unique.contains(writer));
        for (std::uint32_t writer : unique) {
            ASSERT_TRUE(test::footprint(program, program.steps[writer]).writes.meets(result));
        }
    }
}

TEST(Dependences, grow_linearly_if_a_buffer_is_reused) {
    ProgramBuilder builder;
    const Region in = builder.input(10), slot = builder.scratch(10), sum = builder.scratch(10);
    const int times = 1000;
    for (int i = 0; i < times; ++i) {
        builder.receive(1, slot);
        builder.fold(sum, {i == 0 ? in : sum, slot});
        builder.send(2, sum);
    }
    EXPECT_LE(Dependences(builder.finish(sum)).edges(), 8u * times);
}

TEST(Dependences, in_place_folds_wait_for_operands_and_commit_after_pending_sends) {
    ProgramBuilder builder;
    const Region slot = builder.scratch(4), other = builder.scratch(4);
    builder.receive(1, slot);          // step 0
    builder.send(2, slot);             // step 1
    builder.receive(3, other);         // step 2
    builder.fold(slot, {slot, other}); // step 3
    const Program program = builder.finish(slot);
    const Dependences dependences(program);
    const std::uint32_t operands = program.steps[3].first;
    EXPECT_EQ(dependences.region_needs()[operands], 1u);     // the receive
    EXPECT_EQ(dependences.region_needs()[operands + 1], 1u); // the other receive
    EXPECT_GE(dependences.commit_needs()[3], 1u);            // the send
    EXPECT_EQ(dependences.result_writers(), std::vector<std::uint32_t>{3});
}

TEST(Dependences, adjacent_columns_are_independent) {
    ProgramBuilder builder;
    const Region image = builder.in_out(100);
    builder.send(1, Region{image.buffer, 0, 3, 10, 10});
    builder.receive(1, Region{image.buffer, 3, 3, 10, 10});
    EXPECT_EQ(Dependences(builder.finish(image)).edges(), 0u);
}

std::string refusal(const Program& program) {
    return test::message_of<std::logic_error>([&] { Dependences dependences(program); });
}

/// A program of one step on an input and a scratch buffer of 10 elements each.
Program one_step(Verb verb, const Region& region, const Region& to = {}) {
    Program program;
    program.buffers = {{Role::input, 10}, {Role::scratch, 10}};
    program.regions = {region};
    program.steps = {{verb, 0, 0, 1, 0, 1, to}};
    return program;
}

TEST(Dependences, refuse_regions_outside_their_buffer) {
    const char* outside = "step 0 (send): a region is outside its buffer";
    EXPECT_EQ(refusal(one_step(Verb::send, block(0, 1, 10))), outside);
    EXPECT_EQ(refusal(one_step(Verb::send, block(0, -1, 3))), outside);
    const char* lacking = "step 0 (send): a region is in a buffer that does not exist";
    EXPECT_EQ(refusal(one_step(Verb::send, block(2, 0, 3))), lacking);
    EXPECT_EQ(refusal(one_step(Verb::send, block(-1, 0, 3))), lacking);
    EXPECT_EQ(refusal(one_step(Verb::send, Region{0, 0, 2, 3, 4})), outside);
    EXPECT_EQ(refusal(one_step(Verb::send, Region{0, 0, 1, 3, 4})), "");
    Program program;
    program.buffers = {{Role::input, 10}};
    program.result = block(0, 5, 6);
    EXPECT_EQ(refusal(program), "step 0 (result): a region is outside its buffer");
}

TEST(Dependences, refuse_negative_strides_that_leave_the_buffer) {
    EXPECT_NE(refusal(one_step(Verb::send, Region{0, 5, 1, -3, 3})), "");
    EXPECT_NE(refusal(one_step(Verb::receive, Region{1, 2, 2, -2, 4})), "");
}

TEST(Dependences, refuse_writes_to_an_input) {
    EXPECT_EQ(refusal(one_step(Verb::receive, block(0, 0, 3))),
              "step 0 (receive): writes to an input");
    EXPECT_EQ(refusal(one_step(Verb::copy, block(1, 0, 3), block(0, 0, 3))),
              "step 0 (copy): writes to an input");
    EXPECT_EQ(refusal(one_step(Verb::fold, block(0, 0, 3), block(0, 0, 3))),
              "step 0 (fold): writes to an input");
}

TEST(Dependences, refuse_a_destination_that_partly_overlaps_an_operand) {
    const char* overlaps = "step 0 (copy): the destination partially overlaps an operand";
    EXPECT_EQ(refusal(one_step(Verb::copy, block(1, 0, 4), block(1, 2, 4))), overlaps);
    EXPECT_EQ(refusal(one_step(Verb::copy, Region{1, 0, 1, 2, 4}, Region{1, 1, 1, 2, 4})), "");
}

TEST(Dependences, accept_programs_without_steps_and_buffers_without_elements) {
    EXPECT_EQ(refusal(Program{}), "");
    Program program;
    program.buffers = {{Role::input, 0}};
    program.result = block(0, 0, 0);
    EXPECT_EQ(refusal(program), "");
}

TEST(Dependences, accept_an_empty_region_only_within_its_buffer) {
    for (Elements size : {0, 1, 2, 10}) {
        for (Elements offset : {Elements{0}, size}) {
            Program program = one_step(Verb::send, block(0, offset, 0));
            program.buffers[0].size = size;
            EXPECT_NO_THROW(refusal(program)) << size << ", " << offset;
        }
    }
}

} // namespace
} // namespace sextant
