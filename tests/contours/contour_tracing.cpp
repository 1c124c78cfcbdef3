// SPDX-License-Identifier: BSD-3-Clause
// Contours of images, in memory and in strips, over threads, must equal those from the serial
// kernels.
#include "sextant/contours/contour_tracing.hpp"

#include "sextant/comm/threads.hpp"

#include <cmath>
#include <set>

#include "tests/command/gray_files.hpp"
#include "tests/support/agreed_failure.hpp"
#include "tests/support/tracing_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr ImageShape shape{40, 60};
/// Memory limit with which `shape` is divided into a few strips.
constexpr Bytes little_memory = 40'000;

/// A consumer of contours that fails the test if it is called.
void take_nothing(LineReader&) {
    ADD_FAILURE() << "contours of a run that failed";
}

TEST(ContourTracing, finds_the_contours_of_serial_tracing_in_memory_and_in_strips) {
    const TemporaryFolder folder;
    for (const int ranks : {1, 3, 6})
        run_threads(ranks, [&](const Communicator& communicator) {
            tracing_gives_the_serial_contours(communicator, {23, 31}, folder.path("out"), 3);
        });
    EXPECT_EQ(folder.entries(), 0) << "scratch files have no name";
}

TEST(ContourTracing, simplifies_contours_in_the_same_way_on_any_tiles_and_in_strips) {
    const TemporaryFolder folder;
    const GradientField field = gradient_fields(shape)[4];
    ContoursOptions options{.scratch = folder.path("out")};
    options.thresholds = {.05, .3};
    const DirectionMap edges = edges_of(field, options);
    for (const double tolerance : {0., 1., 4.}) {
        options.simplify = tolerance;
        const ContourLines walked = lines_of_walk(edges, 1),
                           expected = simplified_reference(walked, tolerance);
        ASSERT_LT(expected.pixels.size(), walked.pixels.size());
        for (const int ranks : {1, 2, 3, 7}) {
            run_threads(ranks, [&](const Communicator& communicator) {
                for (const Grid& grid : grids_of(ranks, shape)) {
                    for (const Bytes memory : {Bytes{1} << 30, little_memory}) {
                        ContoursOptions chosen = options;
                        chosen.grid = {{grid.columns, grid.rows}};
                        chosen.memory = memory;
                        RowSource image = source_of(shape, field.x);
                        ContourLines found;
                        ContourTracing(communicator, chosen).run(image, [&](LineReader& contours) {
                            EXPECT_EQ(contours.points(),
                                      static_cast<Elements>(expected.pixels.size()));
                            found = read_lines(contours);
                        });
                        if (communicator.rank() == 0)
                            expect_same(found, expected,
                                        fmt::format("{} ranks, {}x{} tiles, {} bytes, within {}",
                                                    ranks, grid.columns, grid.rows, memory,
                                                    tolerance));
                    }
                }
            });
        }
    }
}

TEST(ContourTracing, computes_the_same_quantiles_in_memory_and_in_strips) {
    const TemporaryFolder folder;
    const std::vector<std::uint8_t> samples = waves(shape);
    run_threads(3, [&](const Communicator& communicator) {
        RowSource image = source_of(shape, samples);
        ContoursOptions options{.quantiles = {.7, .9}, .scratch = folder.path("out")};
        ContourLines lines[2];
        ContoursResult results[2];
        for (const int in_strips : {0, 1}) {
            if (in_strips == 1)
                options.memory = little_memory;
            results[in_strips] =
                ContourTracing(communicator, options).run(image, [&](LineReader& contours) {
                    lines[in_strips] = read_lines(contours);
                });
        }
        const kernel::EdgeThresholds expected =
            quantiles_of(distributed::read_tiles(communicator, results[0].grid, image), 1, .7, .9);
        for (const ContoursResult& result : results) {
            EXPECT_EQ(result.thresholds->low, expected.low);
            EXPECT_EQ(result.thresholds->high, expected.high);
            EXPECT_EQ(result.junctions.junctions, results[0].junctions.junctions);
            EXPECT_EQ(result.junctions.cut, results[0].junctions.cut);
        }
        EXPECT_GT(results[0].contours, 3);
        EXPECT_GT(results[1].strips, 2);
        expect_same(lines[1], lines[0], "quantiles");
    });
}

TEST(ContourTracing, accepts_an_image_that_is_already_distributed) {
    const GradientField field = gradient_fields(shape)[4];
    run_threads(6, [&](const Communicator& communicator) {
        const ContoursOptions options{.thresholds = {{.05, .3}}};
        const Grid grid{shape.width, shape.height, 2, 3};
        ContourLines found;
        const auto take = [&](LineReader& contours) { found = read_lines(contours); };
        const ContoursResult result = ContourTracing(communicator, options)
                                          .run(plane_in_tiles(communicator, grid, field.x), take);
        EXPECT_EQ(result.grid.columns, 2);
        const DirectionMap edges = edges_of(field, options);
        if (communicator.rank() == 0)
            expect_same(found, lines_of_walk(edges, 1), "an image");
        ContourTracing(communicator, {.directions = true})
            .run(plane_in_tiles(communicator, grid, samples_of(edges)), take);
        if (communicator.rank() == 0)
            expect_same(found, lines_of_walk(edges, 1), "its edges");
    });
}

TEST(ContourTracing, reports_the_merging_of_images_held_in_memory) {
    const std::vector<std::uint8_t> samples = waves(shape);
    run_threads(4, [&](const Communicator& communicator) {
        RowSource image = source_of(shape, samples);
        ContoursOptions options{.grid = {{1, 4}},
                                .merging = {.pattern = "2-lev-rc", .timeline = true}};
        const ContoursResult result =
            ContourTracing(communicator, options).run(image, [](LineReader&) {});
        EXPECT_EQ(result.grid.rows, 4);
        EXPECT_EQ(result.plan->configuration->name, "2-lev-rc");
        EXPECT_EQ(result.hysteresis->configuration->name, "2-lev-rc");
        EXPECT_FALSE(result.merging->trace.events.empty());
        options.memory = little_memory;
        const ContoursResult strips =
            ContourTracing(communicator, options).run(image, [](LineReader&) {});
        EXPECT_FALSE(strips.plan || strips.hysteresis || strips.merging);
    });
}

TEST(ContourTracing, refuses_invalid_options) {
    const std::vector<ContoursOptions> invalid{{.sigma = .1},
                                               {.quantiles = {.9, .5}},
                                               {.thresholds = {{9, 4}}},
                                               {.min_length = 0},
                                               {.simplify = -1},
                                               {.simplify = std::nan("")},
                                               {.merging = {.pattern = "quad"}}};
    run_threads(3, [&](const Communicator& communicator) {
        EXPECT_NO_THROW(ContourTracing(communicator, {}));
        for (const ContoursOptions& options : invalid)
            EXPECT_THROW(ContourTracing(communicator, options), InvalidTask);
    });
}

TEST(ContourTracing, fails_on_every_rank_if_it_fails_on_one) {
    const TemporaryFolder folder;
    const std::vector<std::uint8_t> samples = waves(shape);
    std::vector<float> astray(static_cast<std::size_t>(shape.elements()), -1);
    astray.back() = 9;
    run_threads(3, [&](const Communicator& communicator) {
        RowSource image = source_of(shape, samples);
        const ContoursOptions usual{.scratch = folder.path("out")};
        ContoursOptions options = usual;
        const auto failure = [&] {
            return agreed_failure(
                [&] { ContourTracing(communicator, options).run(image, take_nothing); });
        };
        options.grid = {{2, 2}};
        EXPECT_THAT(failure(), HasSubstr("grid 2x2"));
        options.grid = {};
        options.memory = 1 << 13;
        EXPECT_THAT(failure(), HasSubstr("too small"));
        options.memory = communicator.rank() == 2 ? 1 << 20 : 2 << 20;
        EXPECT_EQ(failure(), "memory: rank 0 has 2M, rank 2 has 1M");
        options.memory = little_memory;
        options.scratch = folder.path("missing/out");
        EXPECT_THROW(ContourTracing(communicator, options).run(image, take_nothing), AgreedFailure);
        RowSource map = source_of(shape, astray);
        for (const Bytes memory : {usual.memory, little_memory}) {
            options = usual;
            options.directions = true;
            options.memory = memory;
            try {
                ContourTracing(communicator, options).run(map, take_nothing);
                ADD_FAILURE() << "a direction 9";
            } catch (const AgreedFailure& error) {
                EXPECT_THAT(error.what(), HasSubstr("has 9 at (39, 59), expected a direction"));
            }
            options.directions = false;
            EXPECT_EQ(agreed_failure([&] {
                          ContourTracing(communicator, options).run(image, [](LineReader&) {
                              throw InvalidTask("no room");
                          });
                      }),
                      "no room");
        }
        EXPECT_EQ(communicator.all_gather(communicator.rank()), (std::vector<int>{0, 1, 2}));
    });
    EXPECT_EQ(folder.entries(), 0);
}

/// Runs contour tracing; the last rank cancels it at the n-th query of `cancelled`. Returns true if
/// the run ended before it was cancelled.
bool ends_before(int requested, const Communicator& communicator, const ContoursOptions& options,
                 const std::vector<std::uint8_t>& samples) {
    RowSource image = source_of(shape, samples);
    int asked_yet = 0, given = 0;
    RunControl control;
    if (communicator.rank() == communicator.size() - 1)
        control.cancelled = [&] { return ++asked_yet == requested; };
    bool ended = true;
    try {
        ContourTracing(communicator, options, control).run(image, [&](LineReader&) { ++given; });
    } catch (const Cancelled&) {
        ended = false;
    }
    EXPECT_EQ(given, ended && communicator.rank() == 0 ? 1 : 0) << "after " << requested;
    for (const int of_rank : communicator.all_gather(ended ? 1 : 0))
        EXPECT_EQ(of_rank, ended ? 1 : 0) << "after " << requested;
    return ended;
}

TEST(ContourTracing, can_be_cancelled_by_any_rank_at_any_step) {
    const TemporaryFolder folder;
    const std::vector<std::uint8_t> samples = waves(shape);
    for (const int ranks : {1, 3}) {
        run_threads(ranks, [&](const Communicator& communicator) {
            ContoursOptions options{.scratch = folder.path("out")};
            int steps = 1;
            while (!ends_before(steps, communicator, options, samples))
                ++steps;
            EXPECT_GE(steps, 5) << "reading, edges, contours, output, and the end; and within them";
            options.memory = little_memory;
            steps = 1;
            while (!ends_before(steps, communicator, options, samples))
                ++steps;
            EXPECT_GT(steps, 30) << "every strip of every pass";
        });
    }
    EXPECT_EQ(folder.entries(), 0);
}

TEST(ContourTracing, reports_its_progress_on_rank_0) {
    const TemporaryFolder folder;
    const std::vector<std::uint8_t> samples = waves(shape);
    run_threads(3, [&](const Communicator& communicator) {
        const auto parts = [&](const ContoursOptions& options) {
            std::set<std::string> seen;
            RowSource image = source_of(shape, samples);
            const RunControl control{
                .progress = [&](std::string_view part, std::int64_t done, std::int64_t all) {
                    EXPECT_TRUE(done >= 0 && done < all);
                    seen.emplace(part);
                }};
            ContourTracing(communicator, options, control).run(image, [](LineReader&) {});
            EXPECT_EQ(seen.empty(), communicator.rank() != 0);
            return seen;
        };
        const auto whole = parts({});
        const auto strips = parts({.memory = little_memory, .scratch = folder.path("out")});
        if (communicator.rank() != 0)
            return;
        EXPECT_THAT(whole, UnorderedElementsAre("edges", "contours"));
        EXPECT_THAT(strips, UnorderedElementsAre("gradients", "edges", "hysteresis", "lines",
                                                 "contours", "points"));
    });
}

} // namespace
} // namespace sextant::test
