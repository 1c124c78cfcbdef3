// SPDX-License-Identifier: BSD-3-Clause
// Filters volumes in boxes and in windows of planes.
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include "tests/support/agreed_failure.hpp"
#include "tests/support/filter_runs.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

struct VolumeCase {
    ImageShape plane;
    Elements depth;
    ElementFormat element;

    ImageShape stacked() const { return {plane.width, plane.height * depth}; }
    std::vector<std::byte> samples() const { return samples_of(element, stacked()); }
};

RowSource volume_source(const std::vector<std::byte>& bytes, const VolumeCase& volume) {
    FrameHeader header{.frames = volume.depth,
                       .shape = volume.plane,
                       .sample = *sample_named(channels(volume.element))};
    return RowSource(std::make_unique<MemoryFrames>(std::move(header), bytes));
}

/// Applies filters to the whole volume, each to the result of the previous one.
std::vector<float> whole_volume(std::vector<std::byte> bytes, VolumeCase volume,
                                const distributed::Filters& filters) {
    std::vector<float> all;
    const Elements plane = volume.plane.elements();
    for (const distributed::Filter& filter : filters) {
        kernel::SampleView view = view_of(bytes, volume.element, volume.plane);
        view.tile.depth = view.depth = volume.depth;
        view.next_plane = plane;
        const Elements planes = std::ssize(filter.features) * volume.depth;
        all.assign(static_cast<std::size_t>(planes * plane), 0);
        std::vector<kernel::Plane> outputs;
        for (Elements k = 0; k < planes; ++k)
            outputs.push_back({all.data() + k * plane, volume.plane.width});
        bank_of(filter, kernel::Dimensions::three).apply(view, view.tile, outputs);
        const auto made = std::as_bytes(std::span(all));
        bytes.assign(made.begin(), made.end());
        volume.element = gray_f32;
    }
    return all;
}

/// Filters in windows of this many planes; returns the features collected by rank 0.
std::vector<float> by_windows(const Communicator& communicator, RowSource& source,
                              const filtering::Configuration& configuration, Elements planes,
                              const distributed::Filters& filters) {
    const ImageShape shape = source.shape();
    const Elements depth = source.planes(), features = std::ssize(filters.back().features);
    distributed::WindowFilter run(communicator, filters, source.element(), true,
                                  kernel::Dimensions::three);
    std::vector<float> all(static_cast<std::size_t>(features * depth * shape.elements()));
    for (Elements first = 0; first < depth; first += planes) {
        run.prepare({shape, first, std::min(planes, depth - first), configuration, depth});
        run.fill([&](const Tile& part, std::span<std::byte> to) {
            distributed::read_part(source, part, to);
        });
        run.run();
        for (int k = 0; communicator.rank() == 0 && k < features; ++k)
            std::ranges::copy(run.plane(k), all.begin() + (k * depth + first) * shape.elements());
    }
    return all;
}

void expect_same(const Communicator& communicator, const std::vector<float>& made,
                 const std::vector<float>& expected, const std::string& what) {
    if (communicator.rank() == 0) {
        EXPECT_TRUE(same_bits(std::as_bytes(std::span(made)), std::as_bytes(std::span(expected))))
            << what;
    }
}

std::vector<distributed::Filters> chains() {
    using kernel::Border;
    const kernel::Scales uneven(.8, .6, .5);
    return {{{uneven, {"xz", "gradient-magnitude", "hessian-2", "hessian-3"}, {}}},
            {{.5, {"structure-1@1", "smooth"}, {Border::mirror, 0}}},
            {{.5, {"smooth"}, {}}, {uneven, {"z", "yy"}, {Border::constant, .5F}}}};
}

TEST(VolumeFilter, gives_the_same_bits_in_any_boxes_and_windows) {
    for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
        const VolumeCase volume{{13, 11}, 14, element};
        const std::vector<std::byte> bytes = volume.samples();
        for (const distributed::Filters& filters : chains()) {
            const std::vector<float> expected = whole_volume(bytes, volume, filters);
            for (const int ranks : {1, 2, 4, 6}) {
                for (const filtering::Configuration& configuration : filtering::boxes_of(ranks)) {
                    run_threads(ranks, [&](Communicator communicator) {
                        RowSource source = volume_source(bytes, volume);
                        for (const Elements planes : {14, 5, 1})
                            expect_same(
                                communicator,
                                by_windows(communicator, source, configuration, planes, filters),
                                expected,
                                fmt::format("{} {}, {} planes", element.name,
                                            configuration.tiles_text(), planes));
                    });
                }
            }
        }
    }
}

TEST(VolumeFilter, gives_the_same_bits_with_any_collective_packed_or_not) {
    const VolumeCase volume{{13, 11}, 9, gray_u16};
    const std::vector<std::byte> bytes = volume.samples();
    const distributed::Filters filters = chains()[0];
    const std::vector<float> expected = whole_volume(bytes, volume, filters);
    for (const collective::Algorithm& row : collective::catalogue()) {
        const bool distributes =
            row.what == CollectiveKind::scatter || row.what == CollectiveKind::broadcast;
        if (!distributes && row.what != CollectiveKind::gather)
            continue;
        for (filtering::Configuration configuration : filtering::boxes_of(6)) {
            (distributes ? configuration.distribute : configuration.collect) = &row;
            configuration.packs = !distributes;
            run_threads(6, [&](Communicator communicator) {
                RowSource source = volume_source(bytes, volume);
                for (const Elements planes : {9, 4})
                    expect_same(communicator,
                                by_windows(communicator, source, configuration, planes, filters),
                                expected, configuration.text());
            });
        }
    }
}

/// Boxes are large enough that ranks compute them directly in the memory of rank 0.
TEST(VolumeFilter, gives_the_same_bits_if_ranks_write_into_the_memory_of_rank_0) {
    const VolumeCase volume{{151, 149}, 12, gray_u8};
    const std::vector<std::byte> bytes = volume.samples();
    const distributed::Filters filters = {{.5, {"x", "zz"}, {}}};
    const std::vector<float> expected = whole_volume(bytes, volume, filters);
    for (const filtering::Configuration& configuration : filtering::boxes_of(4)) {
        for (const bool as_processes : {false, true}) {
            run_threads(4, [&](Communicator communicator) {
                const Communicator ranks =
                    as_processes ? share_nodes(communicator, {0, Bytes{16} << 20}).communicator
                                 : communicator;
                RowSource source = volume_source(bytes, volume);
                for (const Elements planes : {12, 7})
                    expect_same(ranks, by_windows(ranks, source, configuration, planes, filters),
                                expected, configuration.text());
            });
        }
    }
}

/// The whole operation on rank 0 and others, with and without enough memory.
TEST(VolumeFilter, plans_and_runs_with_any_memory_and_with_the_volume_on_rank_0_only) {
    const VolumeCase volume{{40, 30}, 26, gray_f32};
    std::vector<std::byte> bytes = volume.samples();
    reinterpret_cast<float*>(bytes.data())[7000] = std::numeric_limits<float>::quiet_NaN();
    FilterOptions options{.sigma = kernel::Scales(.8, .8, .5),
                          .derivatives = {"z", "laplacian"},
                          .before = {{"smooth", .8}}};
    options.probing = planner::Probing::off;
    const std::vector<float> expected =
        whole_volume(bytes, volume, filters_of(options, kernel::Dimensions::three));
    for (const int ranks : {1, 2, 5}) {
        for (const Bytes memory : {Bytes{64} << 20, Bytes{600} << 10}) {
            for (const bool everywhere : {true, false}) {
                run_threads(ranks, [&](Communicator communicator) {
                    RowSource source = volume_source(bytes, volume);
                    CollectedPlanes made(volume.stacked(), 2);
                    FilterOptions own = options;
                    own.memory = memory;
                    Filtering filtering(communicator, own, {}, kernel::Dimensions::three);
                    const FilterResult result =
                        filtering.run(everywhere || communicator.rank() == 0 ? &source : nullptr,
                                      [&](int k, Elements first, std::span<const float> planes) {
                                          made.sink()(k, first * volume.plane.height, planes);
                                      });
                    EXPECT_EQ(result.depth, volume.depth);
                    EXPECT_EQ(result.not_a_number, 1);
                    EXPECT_EQ(result.windows > 1, memory < Bytes{1} << 20) << result.windows;
                    EXPECT_LE(result.plan.memory, memory);
                    expect_same(communicator, made.floats, expected,
                                fmt::format("{} ranks, {} bytes", ranks, memory));
                });
            }
        }
    }
}

TEST(VolumeFilter, has_plans_that_survive_JSON_and_are_refused_for_images) {
    distributed::FilterTask task{
        .filters = chains()[2], .image = {13, 11}, .ranks = 12, .depth = 14};
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
    try {
        distributed::set_window(plan, task, kernel);
        FAIL() << "accepted";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), HasSubstr("one plane of 100x80 samples, the planes needed"));
    }
}

std::string refusal(const FilterOptions& options, kernel::Dimensions dimensions) {
    try {
        run_threads(1, [&](Communicator communicator) {
            Filtering(communicator, options, {}, dimensions);
        });
    } catch (const InvalidTask& error) {
        return error.what();
    }
    return "";
}

TEST(VolumeFilter, is_refused_with_the_reason_if_options_do_not_suit_the_dimensions) {
    using enum kernel::Dimensions;
    EXPECT_EQ(refusal({.sigma = {2, 1, 1}, .derivatives = {"z"}}, three), "");
    EXPECT_THAT(refusal({.sigma = {2, 1, 1}}, two), HasSubstr("sigma 1,1,2: expected one number"));
    EXPECT_THAT(refusal({.derivatives = {"z"}}, two), HasSubstr("z"));
    EXPECT_THAT(refusal({.derivatives = {"hessian-larger"}}, three), HasSubstr("hessian-larger"));
    EXPECT_THAT(refusal({.grid = Tiles{1, 1, 2}}, three), HasSubstr("grid 1x1x2: 2 tiles"));
    EXPECT_THAT(refusal({.grid = Tiles{1, 1, 2}}, two),
                HasSubstr("layers of tiles are for volumes"));
    EXPECT_THAT(refusal({.sigma = {2, 1, 2000}}, three), HasSubstr("sigma 2000,1,2: expected"));
}

} // namespace
} // namespace sextant::test
