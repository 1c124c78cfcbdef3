// SPDX-License-Identifier: BSD-3-Clause
// The division of cores among ranks and threads.
// Threads that share one registration give the same bits as one thread.
#include "sextant/registration/series/division.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/pair/nonrigid.hpp"

#include "tests/registration/trials.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::default_costs;
using registration::Division;
using registration::expected_time;
using registration::FrameCosts;
using registration::plan_threads;
using registration::ThreadPlan;

Division best_division(int cores, std::int64_t frames, const FrameCosts& costs) {
    return registration::divisions(cores, frames, costs).front();
}

TEST(WorkDivision, divides_a_pair_among_threads_and_a_long_series_among_ranks) {
    const FrameCosts costs = default_costs({1024, 1024}, 3, false);
    const Division pair = best_division(4, 2, costs);
    EXPECT_EQ(pair.ranks, 1);
    EXPECT_EQ(pair.threads, 4);
    // Registering neighbours takes three quarters of the time, and is divided among ranks without
    // additional cost.
    EXPECT_EQ(best_division(2, 5000, costs).ranks, 2);
}

TEST(WorkDivision, uses_one_thread_for_small_frames) {
    const FrameCosts costs = default_costs({32, 32}, 3, false);
    for (const std::int64_t frames : {2, 10, 1000})
        EXPECT_EQ(best_division(8, frames, costs).threads, 1) << frames;
}

TEST(WorkDivision, prefers_threads_if_the_scan_takes_most_of_the_time) {
    FrameCosts costs;
    costs.combined = 1;
    costs.neighbours = .1;
    costs.shared = .98;
    EXPECT_EQ(best_division(2, 100, costs).threads, 2) << "two ranks gain hardly anything";
    costs.shared = 0;
    const Division ahead = best_division(2, 100, costs);
    EXPECT_EQ(ahead.threads, 2);
    EXPECT_TRUE(ahead.whole_frames) << "threads that look ahead take 2/3 of the time";
    EXPECT_LT(ahead.expected, .75 * expected_time(1, 1, 100, costs, {}));
}

TEST(WorkDivision, is_the_fastest_possible_and_never_exceeds_the_cores) {
    const FrameCosts costs = default_costs({256, 256}, 3, true);
    for (const int cores : {1, 2, 3, 6, 12}) {
        for (const std::int64_t frames : {1, 2, 7, 40, 96000}) {
            const Division best = best_division(cores, frames, costs);
            EXPECT_LE(best.ranks * best.threads, cores);
            for (int ranks = 1; ranks <= cores && ranks < frames; ++ranks)
                EXPECT_LE(best.expected, expected_time(ranks, cores / ranks, frames, costs, {}));
        }
    }
    EXPECT_THROW(best_division(0, 2, costs), InvalidTask);
}

TEST(ThreadWork, threads_take_whole_frames_of_long_series_and_rows_of_a_pair) {
    const FrameCosts costs = default_costs({256, 256}, 3, false);
    const ThreadPlan series = plan_threads(1, 4, 500, costs, {}, false);
    EXPECT_TRUE(series.whole_frames);
    EXPECT_TRUE(series.steals);
    EXPECT_LT(series.by_frames, series.by_rows);
    const ThreadPlan pair = plan_threads(1, 4, 2, default_costs({1024, 1024}, 3, false), {}, false);
    EXPECT_FALSE(pair.whole_frames || pair.steals);
    EXPECT_FALSE(plan_threads(1, 1, 500, costs, {}, false).whole_frames);
}

TEST(ThreadWork, the_scan_shares_rows_if_it_must_be_reproducible_or_frames_are_large) {
    const FrameCosts small = default_costs({256, 256}, 3, false);
    EXPECT_TRUE(plan_threads(1, 2, 200, small, {}, true).whole_frames);
    EXPECT_FALSE(plan_threads(1, 2, 200, small, {}, true).steals);
    EXPECT_FALSE(plan_threads(3, 2, 200, small, {}, false).steals) << "several ranks";
    EXPECT_TRUE(plan_threads(1, 2, 200, small, {}, false).steals);
    EXPECT_FALSE(plan_threads(1, 2, 200, default_costs({2048, 2048}, 3, false), {}, false).steals)
        << "two threads that look ahead take 2/3 of the time, two that share rows about 1/2";
}

constexpr int team_sizes[] = {1, 2, 3, 5};

Pair uneven_pair() {
    Trial trial;
    trial.shape = {203, 151};
    return make_pair(trial);
}

RigidResult aligned_by(Team& team, const Pair& pair) {
    const ImageShape shape = pair.reference.shape();
    registration::Pyramid reference(shape, 0, registration::usual_prefilter, &team);
    registration::Pyramid moved(shape, 0, registration::usual_prefilter, &team);
    reference.fill(pair.reference.samples());
    moved.fill(pair.moved.samples());
    return registration::RigidRegistration(shape, 0, {}, &team).align(reference, moved);
}

void expect_same(const RigidResult& one, const RigidResult& other, int threads) {
    EXPECT_EQ(one.motion, other.motion) << threads;
    EXPECT_EQ(one.uncertainty.covariance, other.uncertainty.covariance) << threads;
    EXPECT_EQ(one.ncc_before, other.ncc_before) << threads;
    EXPECT_EQ(one.ncc_after, other.ncc_after) << threads;
    EXPECT_EQ(one.lead, other.lead) << threads;
    EXPECT_EQ(one.iterations, other.iterations) << threads;
}

TEST(RigidThreads, give_the_same_bits_as_one_thread) {
    Pair pair = uneven_pair();
    Registrar alone({203, 151});
    for (const bool gaps : {false, true}) {
        if (gaps)
            std::fill_n(pair.moved.row(60) + 30, 900, std::nanf(""));
        const RigidResult expected = alone.align(pair.reference.samples(), pair.moved.samples());
        for (const int threads : team_sizes) {
            Team team(threads);
            expect_same(aligned_by(team, pair), expected, threads);
        }
    }
}

TEST(NonrigidThreads, give_the_same_bits_as_one_thread) {
    const Pair pair = uneven_pair();
    registration::NonrigidRegistration alone({203, 151});
    const registration::DisplacementField expected =
        alone.run(pair.reference.samples(), pair.moved.samples(), usual_motion).field;
    for (const int threads : team_sizes) {
        Team team(threads);
        registration::NonrigidRegistration shared({203, 151}, {}, &team);
        const registration::DisplacementField& field =
            shared.run(pair.reference.samples(), pair.moved.samples(), usual_motion).field;
        EXPECT_EQ(field.x, expected.x) << threads;
        EXPECT_EQ(field.y, expected.y) << threads;
        EXPECT_EQ(field.sigma, expected.sigma) << threads;
        EXPECT_EQ(field.known, expected.known) << threads;
    }
}

} // namespace
} // namespace sextant::test
