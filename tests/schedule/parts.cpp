// SPDX-License-Identifier: BSD-3-Clause
// Programs that are part of other programs.
#include "sextant/collective/scatter_gather.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/schedule/builder.hpp"

#include <stdexcept>

#include "tests/support/schedules.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Scatters an image to all ranks and gathers it, twice.
Program there_and_back(const Grid& grid, int rank) {
    const Elements pixels = grid.width * grid.height, own = tile(grid, rank).elements();
    const int rounds = ceil_log2(grid.ranks());
    ProgramBuilder builder;
    Region image = rank == 0 ? builder.input(pixels) : Region{};
    const Region kept = builder.scratch(own);
    for (int time = 0; time < 2; ++time) {
        builder.round(2 * time * rounds);
        const Program scatter = collective::binomial_scatter(grid, rank);
        builder.copy(kept, rank == 0 ? builder.run(scatter, {image}) : builder.run(scatter, {}));
        builder.round((2 * time + 1) * rounds);
        const Program gather = collective::binomial_gather(grid, rank);
        if (rank == 0)
            image = builder.run(gather, {kept, builder.output(pixels)});
        else
            builder.run(gather, {kept});
    }
    return builder.finish(image);
}

Claim comes_back(const Grid& grid) {
    return {own_operand,
            exactly([grid](int rank) {
                return combined(0, rank == 0 ? grid.width * grid.height : 0, 0, 1);
            }),
            {}};
}

TEST(SubPrograms, are_proved_as_one_program) {
    for (const Grid& grid : {Grid{7, 5, 1, 1}, Grid{9, 8, 1, 2}, Grid{8, 9, 3, 2},
                             Grid{13, 11, 3, 5}, Grid{2, 3, 4, 3}}) {
        const Schedule schedule =
            make_schedule(grid.ranks(), [&](int rank) { return there_and_back(grid, rank); });
        EXPECT_EQ(prove(schedule, comes_back(grid)).error, "")
            << grid.columns << "x" << grid.rows << " tiles";
    }
}

TEST(SubPrograms, run_in_successive_rounds_and_share_scratch_memory) {
    const Grid grid{8, 8, 1, 8};
    const Program whole = there_and_back(grid, 4); // rank 4 forwards half of the image
    std::vector<int> rounds;
    for (const Step& step : whole.steps) {
        if (is_message(step.verb))
            rounds.push_back(step.round);
    }
    // Each scatter has a receive and two sends, each gather two receives and a send.
    EXPECT_EQ(rounds, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
    ASSERT_EQ(whole.buffers.size(), 2u);
    EXPECT_EQ(whole.buffers[0].size, 8);
    EXPECT_EQ(whole.buffers[1].size, 32);
}

TEST(SubPrograms, use_the_given_regions) {
    ProgramBuilder inner;
    const Region in = inner.input(6), out = inner.output(2);
    inner.send(1, Region{in.buffer, 1, 1, 2, 2});
    inner.round(3);
    inner.copy(out, block(in.buffer, 4, 2));
    const Program part = inner.finish(out);

    ProgramBuilder builder;
    const Region all = builder.in_out(20);
    builder.round(10);
    EXPECT_EQ(builder.run(part, {block(all.buffer, 5, 6), block(all.buffer, 12, 2)}),
              block(all.buffer, 12, 2));
    const Program whole = builder.finish(all);
    ASSERT_EQ(whole.steps.size(), 2u);
    EXPECT_EQ(whole.regions_of(whole.steps[0])[0], (Region{all.buffer, 6, 1, 2, 2}));
    EXPECT_EQ(whole.steps[0].round, 10);
    EXPECT_EQ(whole.regions_of(whole.steps[1])[0], block(all.buffer, 9, 2));
    EXPECT_EQ(whole.steps[1].to, block(all.buffer, 12, 2));
    EXPECT_EQ(whole.steps[1].round, 13);
}

TEST(SubPrograms, with_kernels_use_the_given_regions) {
    ProgramBuilder inner;
    const Region bytes = inner.input(6, 1), floats = inner.output(4, 4);
    const Region halfway = inner.scratch(2, 2);
    inner.compute(3, {block(bytes.buffer, 1, 2)}, {halfway});
    inner.compute(4, {halfway, block(bytes.buffer, 4, 1)},
                  {block(floats.buffer, 0, 1), block(floats.buffer, 2, 2)});
    const Program part = inner.finish(floats);

    ProgramBuilder builder;
    const Region image = builder.in_out(10, 1), planes = builder.output(20, 4);
    builder.compute(0, {block(image.buffer, 0, 2)}, {block(planes.buffer, 0, 2)});
    builder.run(part, {block(image.buffer, 2, 6), block(planes.buffer, 8, 4)});
    const Program whole = builder.finish(planes);
    ASSERT_EQ(whole.steps.size(), 3u);
    const Step &first = whole.steps[1], &second = whole.steps[2];
    EXPECT_EQ(first.kernel, 3);
    EXPECT_EQ(whole.regions_of(first)[0], block(image.buffer, 3, 2));
    ASSERT_EQ(whole.made_by(first).size(), 1u);
    const Region kept = whole.made_by(first)[0];
    EXPECT_EQ(whole.buffers[static_cast<std::size_t>(kept.buffer)].element, 2);
    EXPECT_EQ(second.kernel, 4);
    ASSERT_EQ(whole.regions_of(second).size(), 2u);
    EXPECT_EQ(whole.regions_of(second)[0], kept);
    EXPECT_EQ(whole.regions_of(second)[1], block(image.buffer, 6, 1));
    ASSERT_EQ(whole.made_by(second).size(), 2u);
    EXPECT_EQ(whole.made_by(second)[0], block(planes.buffer, 8, 1));
    EXPECT_EQ(whole.made_by(second)[1], block(planes.buffer, 10, 2));
}

TEST(SubPrograms, share_scratch_only_between_equal_element_sizes) {
    const auto part = [](Bytes element) {
        ProgramBuilder inner;
        inner.scratch(5, element);
        return inner.finish({});
    };
    ProgramBuilder builder;
    for (const Bytes element : {4, 1, 4, 1})
        builder.run(part(element), {});
    const Program whole = builder.finish({});
    ASSERT_EQ(whole.buffers.size(), 2u);
    EXPECT_EQ(whole.buffers[0].element, 4);
    EXPECT_EQ(whole.buffers[1].element, 1);
}

TEST(SubPrograms, with_element_sizes_other_than_their_regions_are_refused) {
    ProgramBuilder inner;
    const Program part = inner.finish(inner.input(6, 1));
    ProgramBuilder builder;
    const Region floats = builder.in_out(6, 4), usual = builder.in_out(6),
                 bytes = builder.in_out(6, 1);
    EXPECT_THROW(builder.run(part, {floats}), std::logic_error);
    EXPECT_THROW(builder.run(part, {usual}), std::logic_error);
    EXPECT_EQ(builder.run(part, {bytes}), bytes);
}

TEST(SubPrograms, that_do_not_fit_their_regions_are_refused) {
    ProgramBuilder inner;
    const Program part = inner.finish(inner.input(6));
    ProgramBuilder builder;
    const Region all = builder.in_out(20);
    EXPECT_THROW(builder.run(part, {}), std::logic_error);
    EXPECT_THROW(builder.run(part, {block(all.buffer, 0, 5)}), std::logic_error);
    EXPECT_THROW(builder.run(part, {Region{all.buffer, 0, 2, 3, 3}}), std::logic_error);
    EXPECT_THROW(builder.run(part, {block(all.buffer, 0, 6), block(all.buffer, 6, 1)}),
                 std::logic_error);
}

TEST(SubPrograms, with_a_window_require_the_same_window_in_the_whole_program) {
    const halo::Grid grid{{8, 8, 2, 2}, 1};
    const Program part = halo::axis_exchange(grid, 0);
    ASSERT_EQ(part.window, 1);
    ProgramBuilder builder;
    const Region held = builder.in_out(part.buffers[0].size);
    EXPECT_THROW(builder.run(part, {held}), std::logic_error);
    builder.window(1);
    EXPECT_EQ(builder.run(part, {held}), held);
}

} // namespace
} // namespace sextant::test
