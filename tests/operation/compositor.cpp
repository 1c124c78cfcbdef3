// SPDX-License-Identifier: BSD-3-Clause
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
