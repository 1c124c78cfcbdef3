// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/label/label.hpp"

#include <atomic>
#include <mutex>
#include <set>

#include "tests/support/agreed_failure.hpp"
#include "tests/support/component_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

const LabelRows nowhere = [](Elements, std::span<const kernel::Label>) {};

LabelOptions in_tiles() {
    LabelOptions options;
    options.merging.probing = planner::Probing::off;
    options.merging.pattern = "logp-lev-quad";
    return options;
}

TEST(TiledLabelling, equals_serial_labelling_in_memory_in_strips_and_in_tiles) {
    for (const int ranks : {1, 3, 6}) {
        for (const Shape& shape : {blobs({41, 23}, 4, 5), random_shape({30, 17}, 55),
                                   diagonal_lines({13, 29}, 6), values_shape({1, 9}, 3)})
            run_threads(ranks, [&](Communicator communicator) {
                labelling_gives_the_serial_labels(communicator, shape);
            });
    }
}

TEST(TiledLabelling, uses_the_requested_grid_and_merging_pattern) {
    const Shape shape = blobs({40, 30}, 5);
    run_threads(6, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        LabelOptions options = in_tiles();
        options.grid = Tiles{1, 6};
        options.merging.pattern = "2-lev-rc";
        const LabelResult result = Labelling(communicator, options).run(source, nowhere);
        EXPECT_EQ(result.grid->rows, 6);
        EXPECT_EQ(result.plan.configuration->name, "2-lev-rc");
        EXPECT_TRUE(result.merging.trace.events.empty()) << "recorded without a request";
    });
}

TEST(TiledLabelling, records_the_merging_on_request) {
    const Shape shape = blobs({40, 30}, 5);
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        LabelOptions options = in_tiles();
        options.merging.timeline = true;
        options.merging.pattern = "auto";
        options.grid = Tiles{3, 1};
        const LabelResult result = Labelling(communicator, options).run(source, nowhere);
        EXPECT_FALSE(result.merging.trace.events.empty());
        if (communicator.rank() == 0) {
            EXPECT_FALSE(result.plan.timeline.events.empty());
        }
    });
}

TEST(TiledLabelling, refuses_invalid_options_on_every_rank) {
    const Shape shape = blobs({40, 30}, 5);
    const auto failure = [&](const LabelOptions& options) {
        std::mutex mutex;
        std::set<std::string> texts;
        run_threads(3, [&](Communicator communicator) {
            RowSource source = source_of(shape);
            const std::string text =
                agreed_failure([&] { Labelling(communicator, options).run(source, nowhere); });
            const std::lock_guard lock(mutex);
            texts.insert(text);
        });
        return texts.size() == 1 ? *texts.begin() : "other texts on other ranks";
    };
    LabelOptions options = in_tiles();
    options.memory = 8192;
    EXPECT_THAT(failure(options), HasSubstr("too small"));
    options.memory = -1;
    EXPECT_THAT(failure(options), HasSubstr("40x30 pixels"));
    options = {};
    options.grid = Tiles{2, 2};
    EXPECT_THAT(failure(options), HasSubstr("grid 2x2"));
    options = {};
    options.min_size = 2;
    options.grid = Tiles{1, 3};
    EXPECT_THAT(
        failure(options),
        HasSubstr("min_size has no effect here: not supported for tiles: omit grid and pattern"));
    options = {};
    options.merging.pattern = "quad";
    run_threads(2, [&](Communicator communicator) {
        EXPECT_THROW(Labelling(communicator, options), InvalidTask);
    });
}

TEST(TiledLabelling, refuses_options_that_differ_between_ranks) {
    const Shape shape = blobs({40, 30}, 5);
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        LabelOptions options = in_tiles();
        options.by_value = communicator.rank() == 2;
        EXPECT_EQ(agreed_failure([&] { Labelling(communicator, options).run(source, nowhere); }),
                  "by_value: rank 0 has false, rank 2 has true");
    });
}

TEST(TiledLabelling, refuses_labelling_by_value_if_colours_share_a_luminance) {
    const std::vector<float> colours(3 * 4 * 4, .5F);
    LabelOptions options;
    options.by_value = true;
    run_threads(2, [&](Communicator communicator) {
        RowSource source(
            std::make_unique<MemoryFrames>(
                FrameHeader{.frames = 1, .shape = {4, 4}, .sample = Sample::f32, .channels = 3},
                std::as_bytes(std::span(colours))),
            0, ReadAs::values);
        EXPECT_THAT(agreed_failure([&] { Labelling(communicator, options).run(source, nowhere); }),
                    HasSubstr("by_value: memory has colours of f32, expected 8 or 16 bits"));
    });
}

TEST(TiledLabelling, refuses_an_image_without_pixels) {
    run_threads(2, [&](Communicator communicator) {
        RowSource source = source_of({"empty", {0, 0}, {}});
        EXPECT_EQ(agreed_failure([&] { Labelling(communicator).run(source, nowhere); }),
                  "memory: 0x0 pixels, expected positive numbers");
    });
}

TEST(TiledLabelling, reports_its_progress_on_rank_0) {
    const Shape shape = blobs({40, 30}, 5);
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        std::vector<std::string> reports;
        const RunControl control{
            .progress = [&](std::string_view part, std::int64_t done, std::int64_t all) {
                reports.push_back(fmt::format("{} {} of {}", part, done, all));
            }};
        Labelling(communicator, in_tiles(), control).run(source, nowhere);
        if (communicator.rank() == 0) {
            EXPECT_THAT(reports, testing::ElementsAre("label 0 of 30"));
        } else {
            EXPECT_TRUE(reports.empty());
        }
    });
}

TEST(TiledLabelling, can_be_cancelled_on_every_rank) {
    const Shape shape = blobs({40, 30}, 5);
    std::atomic<int> cancelled{0};
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        int checks = 0;
        const RunControl control{
            .cancelled = [&] { return communicator.rank() == 1 && ++checks == 2; }};
        EXPECT_THROW(Labelling(communicator, in_tiles(), control).run(source, nowhere), Cancelled);
        ++cancelled;
        labelling_gives_the_serial_labels(communicator, shape); // the communicator is still usable
    });
    EXPECT_EQ(cancelled, 3);
}

TEST(TiledLabelling, fails_on_every_rank_if_writing_labels_fails) {
    const Shape shape = blobs({40, 30}, 5);
    std::atomic<int> failed{0};
    run_threads(3, [&](Communicator communicator) {
        RowSource source = source_of(shape);
        try {
            Labelling(communicator, in_tiles())
                .run(source, [](Elements, std::span<const kernel::Label>) {
                    throw InvalidFile("labels.npy", "no space left");
                });
        } catch (const AgreedFailure& error) {
            EXPECT_STREQ(error.what(), "labels.npy: no space left");
            ++failed;
        }
    });
    EXPECT_EQ(failed, 3);
}

} // namespace
} // namespace sextant::test
