// SPDX-License-Identifier: BSD-3-Clause
// Compute steps: their dependences, and proofs.
#include "sextant/schedule/circuit.hpp"
#include "sextant/schedule/dependences.hpp"

#include "tests/support/line_sums.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::each;
using testing::HasSubstr;

/// The step with this verb that follows `skip` others with the same verb.
Step& step_of(Program& program, Verb verb, int skip = 0) {
    for (Step& step : program.steps) {
        if (step.verb == verb && skip-- == 0)
            return step;
    }
    throw std::logic_error("no such step");
}

TEST(KernelStep, is_proved_on_any_number_of_ranks) {
    for (int ranks = 1; ranks <= 9; ++ranks)
        EXPECT_EQ(prove(test::line_sums_case(ranks).schedule, test::line_sums_claim(ranks)).error,
                  "");
}

TEST(KernelStep, waits_only_for_its_inputs) {
    const Program program = test::line_sums(3, 1);
    const Dependences dependences(program);
    EXPECT_EQ(dependences.needs()[4], 0u); // sums in the middle
    EXPECT_EQ(dependences.needs()[5], 1u); // sum at the left end
    EXPECT_EQ(dependences.needs()[6], 1u); // sum at the right end
    EXPECT_EQ(dependences.after(1).size(), 1u);
    EXPECT_EQ(dependences.after(1)[0].step, 5u);
    EXPECT_EQ(dependences.result_writers(), (std::vector<std::uint32_t>{4, 5, 6}));
}

TEST(KernelStep, with_data_from_the_wrong_neighbour_is_refused) {
    test::Case c = test::line_sums_case(3);
    Program& middle = c.schedule[1];
    std::swap(middle.regions[step_of(middle, Verb::receive, 0).first],
              middle.regions[step_of(middle, Verb::receive, 1).first]);
    EXPECT_THAT(prove(c.schedule, c.claim).error, HasSubstr("numbers that are no neighbours"));
}

TEST(KernelStep, with_data_from_a_shifted_region_is_refused) {
    test::Case c = test::line_sums_case(3);
    Program& middle = c.schedule[1];
    --middle.regions[step_of(middle, Verb::compute).first].offset;
    EXPECT_THAT(prove(c.schedule, c.claim).error, HasSubstr("rank 1, result: element 1"));
}

TEST(KernelStep, before_the_halo_has_arrived_is_refused) {
    test::Case c = test::line_sums_case(3);
    for (Program& program : c.schedule)
        std::erase_if(program.steps, [](const Step& step) { return is_message(step.verb); });
    EXPECT_THAT(prove(c.schedule, c.claim).error,
                HasSubstr("reads an element that was never written"));
}

TEST(KernelStep, that_is_missing_leaves_a_transfer_unused) {
    test::Case c = test::line_sums_case(2);
    c.schedule[0].steps.pop_back(); // the step that read the halo
    c.claim.wanted = {};
    EXPECT_THAT(prove(c.schedule, c.claim).error, HasSubstr("dead transfer"));
}

TEST(KernelStep, with_more_elements_than_its_inputs_allow_is_refused) {
    test::Case c = test::line_sums_case(1);
    Program& only = c.schedule[0];
    only.regions[step_of(only, Verb::compute, 1).first].length = 4;
    EXPECT_THAT(prove(c.schedule, c.claim).error,
                HasSubstr("the number of computed elements differs"));
}

TEST(KernelStep, without_a_claim_about_its_results_is_refused) {
    test::Case c = test::line_sums_case(1);
    c.claim.computed = {};
    EXPECT_THAT(prove(c.schedule, c.claim).error,
                HasSubstr("rank 0, step 0 (compute): the claim does not say what kernels compute"));
}

TEST(KernelStep, with_overlapping_or_invalid_regions_is_refused) {
    Program program = test::line_sums(1, 0);
    Step& first = step_of(program, Verb::compute);
    Program twice = program, none = program, unnumbered = program, outside = program;
    program.regions[first.first + first.count] = block(0, 2, 2);
    EXPECT_THROW(Dependences{program}, std::logic_error);
    Step& two = step_of(twice, Verb::compute);
    two.first = static_cast<std::uint32_t>(twice.regions.size());
    two.made = 2;
    twice.regions.insert(twice.regions.end(), {block(0, 1, 4), block(1, 0, 2), block(1, 1, 2)});
    EXPECT_THROW(Dependences{twice}, std::logic_error);
    step_of(none, Verb::compute).made = 0;
    EXPECT_THROW(Dependences{none}, std::logic_error);
    step_of(unnumbered, Verb::compute).kernel = -1;
    EXPECT_THROW(Dependences{unnumbered}, std::logic_error);
    outside.regions[first.first + first.count].offset = each;
    EXPECT_THROW(Dependences{outside}, std::logic_error);
}

TEST(KernelStep, is_omitted_if_there_are_no_outputs) {
    ProgramBuilder builder;
    const Region in = builder.input(4), out = builder.output(4);
    builder.compute(0, {in}, {block(out.buffer, 0, 0)});
    builder.compute(7, {in, block(in.buffer, 0, 0)}, {out});
    EXPECT_THROW(builder.compute(0, {out}, {out}), std::logic_error);
    const Program program = builder.finish(out);
    ASSERT_EQ(program.steps.size(), 1u);
    EXPECT_EQ(program.steps[0].kernel, 7);
    EXPECT_EQ(program.regions_of(program.steps[0]).size(), 1u);
    EXPECT_EQ(program.made_by(program.steps[0]).size(), 1u);
    EXPECT_EQ(program.elements_of(program.steps[0]), 4);
}

TEST(ElementSizes, are_those_of_the_run_unless_a_buffer_has_its_own_element_size) {
    ProgramBuilder builder;
    const Region bytes = builder.input(10, 1), floats = builder.output(10);
    builder.send(1, bytes);
    builder.compute(0, {bytes}, {floats});
    const Program program = builder.finish(floats);
    EXPECT_EQ(program.element_size(bytes.buffer, 4), 1);
    EXPECT_EQ(program.element_size(floats.buffer, 4), 4);
    EXPECT_EQ(program.bytes_of(program.steps[0], 4), 10);
    EXPECT_NO_THROW(Dependences{program});
}

TEST(ElementSizes, that_differ_within_a_step_or_message_are_refused) {
    const auto refused = [](auto write) {
        ProgramBuilder builder;
        const Region bytes = builder.in_out(10, 1), floats = builder.in_out(10);
        write(builder, bytes, floats);
        const Program program = builder.finish(floats);
        EXPECT_THROW(Dependences{program}, std::logic_error);
    };
    refused([](auto& b, auto& bytes, auto& floats) { b.copy(floats, bytes); });
    refused([](auto& b, auto& bytes, auto& floats) { b.send(1, std::vector{bytes, floats}); });
    refused([](auto& b, auto& bytes, auto&) {
        b.fold(block(bytes.buffer, 0, 2), {block(bytes.buffer, 2, 2), block(bytes.buffer, 4, 2)});
    });
    const Schedule schedule = make_schedule(2, [](int rank) {
        ProgramBuilder builder;
        const Region all = builder.in_out(3, rank + 1);
        rank == 0 ? builder.send(1, all) : builder.receive(0, all);
        return builder.finish(all);
    });
    EXPECT_THAT(prove(schedule, {test::own_operand, {}, {}}).error,
                HasSubstr("exchange elements of different sizes"));
}

TEST(KernelStep, is_not_supported_in_circuits) {
    EXPECT_THROW(circuit(test::line_sums_case(2).schedule), std::logic_error);
}

} // namespace
} // namespace sextant
