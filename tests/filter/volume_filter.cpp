// SPDX-License-Identifier: BSD-3-Clause
// Filters volumes: plans, options and the whole operation.
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include "tests/support/filter_runs.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

/// The whole operation on rank 0 and others, with and without enough memory.
TEST(VolumeFilter, plans_and_runs_with_any_memory_and_with_the_volume_on_rank_0_only) {
    const ImageShape plane{40, 30};
    constexpr Elements depth = 26;
    const ImageShape stacked{plane.width, plane.height * depth};
    std::vector<std::byte> bytes = samples_of(gray_f32, stacked);
    reinterpret_cast<float*>(bytes.data())[7000] = std::numeric_limits<float>::quiet_NaN();
    FilterOptions options{.sigma = kernel::Scales(.8, .8, .5),
                          .derivatives = {"z", "laplacian"},
                          .before = {{"smooth", .8}}};
    options.probing = planner::Probing::off;
    const std::vector<float> expected =
        filtered(bytes, gray_f32, plane, filters_of(options, kernel::Dimensions::three), depth);
    for (const int ranks : {1, 2, 5}) {
        for (const Bytes memory : {Bytes{64} << 20, Bytes{600} << 10}) {
            for (const bool everywhere : {true, false}) {
                run_threads(ranks, [&](Communicator communicator) {
                    RowSource source = source_of(bytes, plane, gray_f32, depth);
                    CollectedPlanes made(stacked, 2);
                    FilterOptions own = options;
                    own.memory = memory;
                    Filtering filtering(communicator, own, {}, kernel::Dimensions::three);
                    const FilterResult result =
                        filtering.run(everywhere || communicator.rank() == 0 ? &source : nullptr,
                                      [&](int k, Elements first, std::span<const float> planes) {
                                          made.sink()(k, first * plane.height, planes);
                                      });
                    EXPECT_EQ(result.depth, depth);
                    EXPECT_EQ(result.not_a_number, 1);
                    EXPECT_EQ(result.windows > 1, memory < Bytes{1} << 20) << result.windows;
                    EXPECT_LE(result.plan.memory, memory);
                    if (communicator.rank() == 0) {
                        EXPECT_TRUE(same_bits(std::as_bytes(std::span(made.floats)),
                                              std::as_bytes(std::span(expected))))
                            << ranks << " ranks, " << memory << " bytes";
                    }
                });
            }
        }
    }
}

TEST(VolumeFilter, has_plans_that_survive_JSON_and_are_refused_for_images) {
    distributed::FilterTask task{.filters = {{.5, {"smooth"}, {}}, {.8, {"z", "yy"}, {}}},
                                 .image = {13, 11},
                                 .ranks = 12,
                                 .depth = 14};
    distributed::FilterPlan plan = distributed::strips_plan(task, "");
    EXPECT_EQ(plan.configuration.layers, 12);
    EXPECT_EQ(plan.window, 14);
    plan.configuration = filtering::configuration_on({2, 3, 2});
    plan.configuration.retilings = {{1, 1, 4, 3}};
    const std::string json = to_json(plan);
    const distributed::FilterPlan again = distributed::parse_filter_plan(json, "plan", task);
    EXPECT_EQ(again.configuration, plan.configuration);
    EXPECT_EQ(again.configuration.tiles_text(), "2x3x2 tiles, then 1x4x3 from filter 2");
    task.depth = 0;
    task.image.height = 20;
    EXPECT_THROW(distributed::parse_filter_plan(json, "plan", task), InvalidFile);
}

/// Programs of boxes have thousands of regions if a volume has thousands of planes.
TEST(VolumeFilter, plans_a_deep_volume_from_256_planes_and_scales_their_time) {
    const machine::Profile machine = machine::read_profile(source_dir() + "/machines/das.json");
    distributed::FilterTask task{.filters = {{1, {"x", "zz", "hessian-1"}, {}}},
                                 .image = {64, 64},
                                 .ranks = 12,
                                 .distribute = "read",
                                 .depth = 256};
    const auto seconds = [&] {
        const distributed::FilterPlan plan =
            distributed::plan_filter(task, {.machine = machine, .element_size = 4});
        EXPECT_EQ(plan.window, task.depth);
        for (const auto& alternative : plan.alternatives)
            EXPECT_EQ(alternative.configuration.ranks(), 12);
        EXPECT_GT(plan.alternatives.size(), 18u); // grids of boxes; slabs also with gathers
        return plan.expected().value_or(0);
    };
    const Seconds of_256 = seconds();
    EXPECT_GT(of_256, 0);
    task.depth = 256'000;
    EXPECT_NEAR(seconds(), 1000 * of_256, of_256);
}

TEST(VolumeFilter, windows_hold_as_many_planes_as_fit_including_the_memory_of_kernels) {
    const distributed::FilterTask task{
        .filters = {{1, {"x", "hessian-1"}, {}}}, .image = {100, 80}, .ranks = 1, .depth = 1000};
    distributed::FilterPlan plan = distributed::strips_plan(task, "");
    const Bytes plane = 100 * 80 * 4, around = 10; // planes around the window
    const Bytes kernel = bank_of(task.filters[0], kernel::Dimensions::three)
                             .memory({0, 0, 100, 80, 0, 1}, task.image, task.depth);
    EXPECT_GT(kernel, 11 * plane); // a ring of planes
    distributed::set_window(plan, task, kernel + (3 * 20 + around) * plane);
    EXPECT_EQ(plan.window, 20);
    EXPECT_EQ(plan.memory, kernel + (3 * 20 + around) * plane);
    EXPECT_THROW(distributed::set_window(plan, task, kernel), InvalidTask);
}

std::string refusal(const FilterOptions& options, kernel::Dimensions dimensions) {
    return message_of<InvalidTask>([&] {
        run_threads(1, [&](Communicator communicator) {
            Filtering(communicator, options, {}, dimensions);
        });
    });
}

TEST(VolumeFilter, is_refused_with_the_reason_if_options_do_not_suit_the_dimensions) {
    using enum kernel::Dimensions;
    EXPECT_EQ(refusal({.sigma = {2, 1, 1}, .derivatives = {"z"}}, three), "");
    EXPECT_THAT(refusal({.sigma = {2, 1, 1}}, two), HasSubstr("sigma 1,1,2: expected one number"));
    EXPECT_THAT(refusal({.derivatives = {"z"}}, two), HasSubstr("z"));
    EXPECT_THAT(refusal({.derivatives = {"hessian-3"}}, two), HasSubstr("hessian-3"));
    EXPECT_THAT(refusal({.grid = Tiles{1, 1, 2}}, three), HasSubstr("grid 1x1x2: 2 tiles"));
    EXPECT_THAT(refusal({.grid = Tiles{1, 1, 2}}, two),
                HasSubstr("only volumes have layers of tiles"));
    EXPECT_THAT(refusal({.sigma = {2, 1, 2000}}, three), HasSubstr("sigma 2000,1,2: expected"));
}

} // namespace
} // namespace sextant::test
