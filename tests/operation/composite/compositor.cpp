// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/share_nodes.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/compositor_cases.hpp"

namespace sextant::test {
namespace {

void on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 7})
        run_threads(ranks, body);
}

TEST(CompositorOnThreads, FramesComeOutRight) {
    on_threads(frames_come_out_right);
}
TEST(CompositorOnThreads, AFrameOfAnotherSizeEndsThatFrameOnly) {
    on_threads(a_frame_of_another_size_ends_that_frame_only);
}
TEST(CompositorOnThreads, OneRanksOddOptionReachesAll) {
    run_threads(3, one_ranks_odd_option_reaches_all);
}
TEST(CompositorOnThreads, SeveralTakeTurns) {
    on_threads(several_compositors_take_turns);
}
TEST(CompositorOnThreads, EmptyRanksAndABackgroundComeOutRight) {
    on_threads(empty_ranks_and_a_background_come_out_right);
}

/// On nodes of two ranks.
void on_nodes(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 3, 4}) {
        run_threads(ranks, [&](Communicator communicator) {
            body(share_nodes(communicator, {2, Bytes{16} << 20}).communicator);
        });
    }
}

TEST(CompositorOnNodes, FramesComeOutRight) {
    on_nodes(frames_come_out_right);
}
TEST(CompositorOnNodes, AFrameOfAnotherSizeEndsThatFrameOnly) {
    on_nodes(a_frame_of_another_size_ends_that_frame_only);
}
TEST(CompositorOnNodes, SeveralTakeTurns) {
    on_nodes(several_compositors_take_turns);
}
TEST(CompositorOnNodes, MemoryThatIsNotToBeHadIsSaidOnce) {
    run_threads(3, [](Communicator communicator) {
        const Bytes most = communicator.rank() == 1 ? 1 : Bytes{16} << 20;
        const Communicator shared = share_nodes(communicator, {0, most}).communicator;
        Compositor compositor(shared, {200, 100}, 1);
        expect_picture(shared, compositor, {200, 100});
        const auto said = std::count_if(
            compositor.warnings().begin(), compositor.warnings().end(),
            [](const std::string& text) { return text.starts_with("rank 1 has room for "); });
        EXPECT_EQ(said, communicator.rank() == 0 ? 1 : 0);
    });
}

TEST(CompositorOnThreads, RacedFramesComeOutRight) {
    on_threads(raced_frames_come_out_right);
}
TEST(CompositorOnThreads, AFailedFrameDoesNotBreakARace) {
    for (const int ranks : {3, 4, 7})
        run_threads(ranks, a_failed_frame_does_not_break_a_race);
}
TEST(CompositorOnThreads, NothingIsRacedUnlessManyFramesMayVary) {
    run_threads(4, nothing_is_raced_unless_many_frames_may_vary);
}

} // namespace
} // namespace sextant::test
