// SPDX-License-Identifier: BSD-3-Clause
// The whole filter operation over threads: results and errors.
#include "sextant/filter/filtering.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <atomic>
#include <map>
#include <string>

#include "tests/support/agreed_failure.hpp"
#include "tests/support/changed_fields.hpp"
#include "tests/support/filter_runs.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

constexpr ImageShape shape{61, 83};

FilterOptions unprobed(FilterOptions options = {}) {
    options.probing = planner::Probing::off;
    return options;
}

TEST(Filtering, gives_the_same_bits_in_memory_and_in_windows_on_1_3_and_6_ranks) {
    for (const int ranks : {1, 3, 6})
        run_threads(ranks, filtering_gives_the_same_bits);
}

TEST(Filtering, keeps_the_results_for_a_distributed_image_in_its_tiles) {
    const std::vector<std::byte> bytes = samples_of(gray_u8, shape);
    const FilterOptions options{.derivatives = {"x", "laplacian"}, .before = {{"smooth", 2}}};
    const std::vector<float> expected = filtered(bytes, gray_u8, shape, filters_of(options));
    run_threads(6, [&](Communicator communicator) {
        const Grid grid{shape.width, shape.height, 2, 3};
        const auto image = distributed::scatter(communicator, grid, gray_u8, bytes);
        FilterResult result = Filtering(communicator, options).run(image);
        ASSERT_EQ(result.planes.size(), 2u);
        const sextant::Image laplacian = distributed::gather(result.planes[1]);
        if (communicator.rank() == 0) {
            EXPECT_TRUE(same_bits(laplacian.bytes(),
                                  std::as_bytes(std::span(expected).subspan(expected.size() / 2))));
        }
    });
}

TEST(Filtering, counts_each_NaN_once_in_memory_and_despite_overlapping_windows) {
    std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    for (const std::size_t at : {0, 61 * 40 + 7, 61 * 83 - 1})
        reinterpret_cast<float*>(bytes.data())[at] = std::numeric_limits<float>::quiet_NaN();
    const auto count = [&](const Communicator& communicator) {
        for (const Bytes memory : {Bytes{1} << 30, Bytes{50'000}}) {
            RowSource source = source_of(bytes, shape, gray_f32);
            CollectedPlanes made(shape, 5);
            const FilterMemory in_place = made.memory(view_of(bytes, gray_f32, shape));
            Filtering filtering(communicator, unprobed({.sigma = 2, .memory = memory}));
            EXPECT_EQ(filtering.run(&source, made.sink(), &in_place).not_a_number, 3);
        }
    };
    for (const int ranks : {1, 4})
        run_threads(ranks, count);
}

TEST(Filtering, counts_results_of_finite_samples_that_are_not_finite) {
    std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    reinterpret_cast<float*>(bytes.data())[61 * 40 + 7] = 3e38f;
    run_threads(4, [&](Communicator communicator) {
        RowSource source = source_of(bytes, shape, gray_f32);
        CollectedPlanes made(shape, 1);
        Filtering filtering(communicator, unprobed({.sigma = .5, .derivatives = {"laplacian"}}));
        const auto image = distributed::scatter(communicator, Grid{shape.width, shape.height, 2, 2},
                                                gray_f32, bytes);
        for (const FilterResult& result :
             {filtering.run(&source, made.sink()), filtering.run(image)}) {
            EXPECT_GE(result.overflowed, 1);
            EXPECT_LE(result.overflowed, 9);
            if (communicator.rank() == 0) {
                ASSERT_FALSE(result.warnings.empty());
                EXPECT_NE(result.warnings.back().find("results are infinite"), std::string::npos);
            }
        }
    });
}

TEST(Filtering, can_repeat_the_plan_of_an_earlier_result) {
    const std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    run_threads(4, [&](Communicator communicator) {
        RowSource source = source_of(bytes, shape, gray_f32);
        CollectedPlanes first(shape, 5), again(shape, 5);
        FilterOptions options =
            unprobed({.memory = 60'000, .grid = Tiles{2, 2}, .distribute = "flat-scatter"});
        options.plan = Filtering(communicator, options).run(&source, first.sink()).plan;
        ASSERT_TRUE(options.plan->configuration.distribute);
        EXPECT_EQ(options.plan->configuration.distribute->name, "flat-scatter");
        EXPECT_EQ(options.plan->configuration.columns, 2);
        options.grid.reset();
        options.distribute = "any";
        options.memory = Bytes{1} << 30;
        const FilterResult result = Filtering(communicator, options).run(&source, again.sink());
        EXPECT_EQ(result.plan.configuration, options.plan->configuration);
        EXPECT_EQ(result.plan.window, options.plan->window);
        EXPECT_GT(result.windows, 1);
        EXPECT_EQ(first.floats, again.floats);
    });
}

TEST(Filtering, with_a_plan_made_for_other_options_gives_the_results_of_no_plan) {
    const std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    const std::map<std::string, std::string> other_values = {
        {"derivatives", "yy,laplacian"},
        {"before", "smooth@2"},
        {"truncate", "2"},
        {"memory", "1G"},
        {"grid", "4x1"},
        {"distribute", "broadcast"},
        {"machine", source_dir() + "/machines/das.json"}};
    const FilterOptions usual = unprobed({.border = kernel::Border::constant,
                                          .memory = 60'000,
                                          .grid = Tiles{2, 2},
                                          .distribute = "flat-scatter"});
    FilterOptions listed = usual;
    for (const Field& field : record_of(listed).fields) {
        SCOPED_TRACE(field.name);
        run_threads(4, [&](Communicator communicator) {
            RowSource source = source_of(bytes, shape, gray_f32);
            CollectedPlanes first(shape, 5);
            FilterOptions options = usual;
            const distributed::FilterPlan plan =
                Filtering(communicator, options).run(&source, first.sink()).plan;
            Record record = record_of(options);
            change(record, field.name, other_values);
            const auto planes = options.derivatives.size();
            CollectedPlanes without(shape, planes), with(shape, planes);
            Filtering(communicator, options).run(&source, without.sink());
            options.plan = plan;
            const FilterResult result = Filtering(communicator, options).run(&source, with.sink());
            EXPECT_EQ(result.plan.configuration, plan.configuration);
            EXPECT_EQ(with.floats, without.floats);
        });
    }
}

TEST(Filtering, reports_its_progress_on_rank_0) {
    const std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    run_threads(3, [&](Communicator communicator) {
        std::vector<std::string> said;
        RowSource source = source_of(bytes, shape, gray_f32);
        CollectedPlanes made(shape, 5);
        Filtering filtering(communicator, unprobed({.memory = 50'000}),
                            {[&](std::string_view part, std::int64_t done, std::int64_t all) {
                                said.push_back(fmt::format("{} {}/{}", part, done, all));
                            }});
        const FilterResult result = filtering.run(&source, made.sink());
        if (communicator.rank() > 0) {
            EXPECT_TRUE(said.empty());
            return;
        }
        ASSERT_EQ(std::ssize(said), 1 + result.windows);
        EXPECT_EQ(said[0], "plan 0/1");
        EXPECT_EQ(said[2], fmt::format("filter {}/83", result.plan.window));
    });
}

TEST(Filtering, can_be_repeated_after_one_rank_cancelled_it) {
    const std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(bytes, shape, gray_f32);
        CollectedPlanes made(shape, 5);
        int checks = 0;
        const auto cancelled = [&] { return communicator.rank() == 1 && ++checks == 4; };
        int rows = 0;
        const FilterSink sink = [&](int derivative, Elements, std::span<const float> some) {
            rows += derivative == 0 ? static_cast<int>(std::ssize(some) / shape.width) : 0;
        };
        Filtering filtering(communicator, unprobed({.memory = 50'000}), {{}, cancelled});
        EXPECT_THROW(filtering.run(&source, sink), Cancelled);
        if (communicator.rank() == 0) {
            EXPECT_GT(rows, 0);
            EXPECT_LT(rows, shape.height) << "cancelled in the middle";
        }
        filtering.run(&source, made.sink());
        const std::vector<float> expected =
            filtered(bytes, gray_f32, shape, filters_of(FilterOptions{}));
        if (communicator.rank() == 0) {
            EXPECT_TRUE(same_bits(std::as_bytes(std::span(made.floats)),
                                  std::as_bytes(std::span(expected))));
        }
    });
}

TEST(Filtering, adds_a_subtracted_offset_back_to_smoothed_images) {
    run_threads(1, [](Communicator communicator) {
        const auto offsets = [&](FilterOptions options) {
            return Filtering(communicator, options).offsets(1e9);
        };
        using Offsets = std::vector<double>;
        EXPECT_EQ(offsets({.derivatives = {"x", "smooth"}}), (Offsets{0, 1e9}));
        EXPECT_EQ(offsets({.derivatives = {"smooth"}, .before = {{"smooth", 1}}}), (Offsets{1e9}));
        EXPECT_EQ(offsets({.derivatives = {"smooth"}, .before = {{"x", 1}}}), (Offsets{0}));
    });
}

TEST(Filtering, refuses_invalid_options) {
    using Weights = kernel::GaussianKernel::Weights;
    const auto refuses = [](const FilterOptions& options, const std::string& text) {
        run_threads(3, [&](Communicator communicator) {
            EXPECT_THAT(([&] { Filtering(communicator, options); }),
                        testing::ThrowsMessage<InvalidTask>(HasSubstr(text)));
        });
    };
    refuses({.sigma = .1}, "scale");
    refuses({.derivatives = {"z"}}, "derivative");
    refuses({.kernel = Weights::p3pc, .truncate = 3},
            "truncate has no effect here: the kernel p3pc has a fixed size");
    refuses({.kernel = Weights::truncated}, "kernel truncated: expected");
    refuses({.before = std::vector<EarlierFilter>(17, {"x", 1})}, "before");
    refuses({.memory = 0}, "memory 0: expected at least 1");
    refuses({.grid = Tiles{2, 2}}, "grid");
    refuses({.distribute = "flat-scater"}, "did you mean flat-scatter");
}

TEST(Filtering, refuses_options_that_differ_between_ranks_and_names_both) {
    const std::vector<std::byte> bytes = samples_of(gray_f32, shape);
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(bytes, shape, gray_f32);
        FilterOptions options = unprobed({.before = {{"smooth", 2}}});
        if (communicator.rank() == 2)
            options.before[0].sigma = 3;
        Filtering filtering(communicator, options);
        EXPECT_THAT(agreed_failure([&] { filtering.run(&source, {}); }),
                    HasSubstr("before: rank 0 has smooth@2, rank 2 has smooth@3"));
    });
}

/// Expects that all three ranks throw an AgreedFailure that contains `text`.
void expect_failure(
    const FilterOptions& options, const std::string& text,
    const std::function<ImageShape(int rank)>& shape_of = [](int) { return shape; }) {
    std::atomic<int> thrown = 0;
    run_threads(3, [&](Communicator communicator) {
        const ImageShape own = shape_of(communicator.rank());
        const std::vector<std::byte> bytes = samples_of(gray_f32, own);
        std::optional<RowSource> source;
        if (own.width > 0)
            source = source_of(bytes, own, gray_f32);
        CollectedPlanes made(shape, 5);
        try {
            Filtering(communicator, unprobed(options))
                .run(source ? &*source : nullptr, made.sink());
        } catch (const AgreedFailure& error) {
            ++thrown;
            EXPECT_THAT(error.what(), HasSubstr(text));
        }
        communicator.barrier(); // the communicator stays usable
    });
    EXPECT_EQ(thrown, 3) << text;
}

TEST(Filtering, with_invalid_input_fails_identically_on_every_rank) {
    expect_failure({.memory = 1000}, "memory 1K is too small for one row of 61 samples");
    const auto missing_on = [](int rank) {
        return [rank](int r) { return r == rank ? ImageShape{} : shape; };
    };
    expect_failure({.distribute = "read"},
                   "distribute read: every rank needs an image, but this rank has none",
                   missing_on(2));
    expect_failure({}, "rank 0 has no image", missing_on(0));
    expect_failure({.grid = Tiles{1, 3}, .distribute = "read"},
                   "memory: is 61x80 gray f32 on this rank, expected 61x83 gray f32 as on rank 0",
                   [](int rank) {
                       return rank == 1 ? ImageShape{61, 80} : shape;
                   });
    distributed::FilterPlan plan;
    plan.window = 83;
    plan.configuration = {4, 1};
    expect_failure({.plan = plan}, "4x1 tiles: expected at most one tile for each of the 3 ranks");
    plan.configuration = {1, 3};
    expect_failure({.plan = plan}, "the plan requires every rank to read its tile", missing_on(1));
    plan.window = 84;
    expect_failure({.plan = plan}, "windows of 84 rows, expected 1 to 83");
}

} // namespace
} // namespace sextant::test
