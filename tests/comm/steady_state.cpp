// SPDX-License-Identifier: BSD-3-Clause
// After the first two frames, a frame allocates nothing.
#include "sextant/comm/threads.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/counting_new.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// An image; if `sparse`, only a third of its pixels is active and messages may skip the rest.
std::vector<RgbaF32> image_of(int rank, Elements elements, bool sparse) {
    std::vector<RgbaF32> image = layers(rank, 1, elements);
    if (sparse)
        std::fill(image.begin() + static_cast<std::ptrdiff_t>(elements / 3), image.end(),
                  RgbaF32{});
    return image;
}

/// Allocations and page faults of all ranks in `frames` frames after `warm_up`.
MemoryEvents events_of_frames(int ranks, const compositing::Algorithm& algorithm, Elements elements,
                              ExecuteOptions options, int warm_up, int frames) {
    MemoryEvents before, after;
    run_threads(ranks, [&](Communicator communicator) {
        const compositing::Task task = compositing::one_image_each(ranks, elements, 0);
        const int rank = communicator.rank();
        const auto image = image_of(rank, elements, options.sparse);
        Execution execution(
            communicator,
            compositing::program(algorithm, task, algorithm.tunings(ranks).front(), rank),
            kernel::find("over"), options);
        execution.bind(0, std::as_bytes(std::span(image)));
        for (int frame = 0; frame < warm_up; ++frame)
            execution.run();
        communicator.barrier();
        if (rank == 0)
            before = memory_events();
        communicator.barrier();
        for (int frame = 0; frame < frames; ++frame)
            execution.run();
        communicator.barrier();
        if (rank == 0)
            after = memory_events();
        communicator.barrier();
    });
    return after - before;
}

/// Pages of a buffer that is allocated for each frame cause page faults in every frame. A few
/// pages, of a stack for example, may be touched late for the first time.
constexpr int frames = 20;

TEST(SteadyState, no_memory_is_allocated_or_first_touched_after_the_second_frame) {
    for (const Association association : {Association::in_order, Association::by_arrival}) {
        for (const auto& algorithm : compositing::catalogue()) {
            for (const int ranks : {1, 2, 4, 7}) {
                if (algorithm.tunings(ranks).empty())
                    continue;
                const MemoryEvents events =
                    events_of_frames(ranks, algorithm, 509 * 503, {association}, 2, frames);
                EXPECT_EQ(events.allocations, 0)
                    << fmt::format("{} p={} {}", algorithm.name, ranks, name(association));
                EXPECT_LT(events.page_faults, frames)
                    << fmt::format("{} p={} {}", algorithm.name, ranks, name(association));
            }
        }
    }
}

TEST(SteadyState, no_memory_is_allocated_for_messages_that_skip_empty_pixels) {
    for (const auto& algorithm : compositing::catalogue()) {
        const MemoryEvents events =
            events_of_frames(4, algorithm, 100'003, {.sparse = true}, 2, frames);
        EXPECT_EQ(events.allocations, 0) << algorithm.name;
        EXPECT_LT(events.page_faults, frames) << algorithm.name;
    }
}

} // namespace
} // namespace sextant::test
