// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <map>
#include <set>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/changed_fields.hpp"
#include "tests/support/compositor_cases.hpp"
#include "tests/support/source_dir.hpp"

namespace sextant::test {
namespace {

const bool compositor_added = add_cases("CompositorOnThreads", compositor_cases(), on_threads) &&
                              add_cases("CompositorOnNodes", compositor_cases(), on_nodes);

TEST(CompositorOnThreads, the_plan_of_other_options_changes_no_image) {
    constexpr ImageShape shape{61, 17};
    const TemporaryFolder folder;
    const std::string plan = folder.path("plan.json");
    const std::map<std::string, std::string> other_values = {
        {"algorithm", "binary-tree"},
        {"radices", "4"},
        {"order", "3,1,0,2"},
        {"background", "#102030"},
        {"root", "2"},
        {"machine", source_dir() + "/machines/das.json"},
        {"density", ".125"},
        {"operator", "add"}};
    // The pixels of the caller decide the first two; the last one is the plan itself.
    const std::set<std::string> excluded = {"element", "fragments", "plan"};
    CompositeOptions usual;
    usual.algorithm = "radix-k";
    usual.radices = {2, 2};
    usual.probing = planner::Probing::off;
    CompositeOptions listed = usual;
    for (const Field& field : record_of(listed).fields) {
        if (excluded.contains(field.name))
            continue;
        SCOPED_TRACE(field.name);
        run_threads(4, [&](const Communicator& communicator) {
            const auto image = layers(communicator.rank(), 1, shape.elements());
            const auto composited = [&](const CompositeOptions& options) {
                Compositor compositor(communicator, shape, 1, options);
                if (!options.plan.empty()) {
                    EXPECT_EQ(compositor.plan().configuration.algorithm->name, "radix-k");
                }
                const auto pixels =
                    compositor.composite(std::span<const RgbaF32>(image)).pixels<RgbaF32>();
                return std::vector<RgbaF32>(pixels.begin(), pixels.end());
            };
            {
                const Compositor compositor(communicator, shape, 1, usual);
                if (communicator.rank() == 0)
                    write_file(plan, planner::to_json(compositor.plan()));
            }
            CompositeOptions options = usual;
            Record record = record_of(options);
            change(record, field.name, other_values);
            std::vector<RgbaF32> without, with;
            const std::string refused = what_is_thrown([&] { without = composited(options); });
            options.plan = plan;
            const std::string refused_too = what_is_thrown([&] { with = composited(options); });
            EXPECT_EQ(refused_too, "nothing");
            if (refused != "nothing")
                return; // such as radices for an algorithm without them
            ASSERT_EQ(with.size(), without.size());
            EXPECT_LE(difference(with, without), 0x1p-21f);
        });
    }
}

TEST(CompositorOnNodes, unavailable_shared_memory_is_reported_once) {
    run_threads(3, [](Communicator communicator) {
        const Bytes most = communicator.rank() == 1 ? 1 : Bytes{16} << 20;
        const Communicator shared = share_nodes(communicator, {0, most}).communicator;
        Compositor compositor(shared, {200, 100}, 1);
        expect_picture(shared, compositor, {200, 100});
        const auto said = std::count_if(compositor.warnings().begin(), compositor.warnings().end(),
                                        [](const std::string& text) {
                                            return text.starts_with("rank 1 has ") &&
                                                   text.find("bytes of shared memory") != text.npos;
                                        });
        EXPECT_EQ(said, communicator.rank() == 0 ? 1 : 0);
    });
}

/// Text of the exception that the constructor throws.
std::string refused(ImageShape shape, int images, const CompositeOptions& options) {
    std::string said;
    run_threads(2, [&](const Communicator& communicator) {
        const std::string own =
            what_is_thrown([&] { Compositor(communicator, shape, images, options); });
        if (communicator.rank() == 0)
            said = own;
    });
    return said;
}

TEST(CompositorOnThreads, images_with_too_many_pixels_are_refused) {
    const std::int64_t huge = std::int64_t{1} << 32;
    EXPECT_EQ(refused({huge, huge}, 1, {}), "invalid: rank 0: 1 images of 4294967296x4294967296: "
                                            "expected no more than 17179869184 pixels");
    EXPECT_THAT(refused({huge, 5}, 1, {}), testing::HasSubstr("expected no more than"));
    EXPECT_THAT(refused({1 << 17, 1 << 17}, 2, {}), testing::HasSubstr("expected no more than"));
    run_threads(2, [&](const Communicator& communicator) {
        EXPECT_THAT(what_is_thrown([&] {
                        most_fragments(communicator, {huge, huge}, {});
                    }),
                    testing::HasSubstr("expected no more than 17179869184 pixels"));
        EXPECT_THAT(what_is_thrown([&] {
                        TileWall(communicator, {{{0, 0, huge, huge}, 0}}, {});
                    }),
                    testing::HasSubstr("tile 0: 4294967296x4294967296+0+0 has more than"));
    });
}

TEST(CompositorOnThreads, numbers_outside_the_ranges_of_the_command_line_options_are_refused) {
    const auto said_of = [](auto set) {
        CompositeOptions options;
        set(options);
        return refused({8, 8}, 1, options);
    };
    EXPECT_THAT(said_of([](auto& o) { o.window = -1; }),
                testing::StartsWith("invalid: window -1:"));
    EXPECT_THAT(said_of([](auto& o) { o.threads = 0; }),
                testing::StartsWith("invalid: threads 0:"));
    EXPECT_THAT(said_of([](auto& o) { o.density = 2; }),
                testing::StartsWith("invalid: density 2:"));
}

} // namespace
} // namespace sextant::test
