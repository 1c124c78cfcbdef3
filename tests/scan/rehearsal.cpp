// SPDX-License-Identifier: BSD-3-Clause
// Scans on a simulated clock; with constant times, the makespan equals the span of the circuit.
#include "sextant/scan/rehearsal.hpp"

#include "sextant/core/error.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/support/random.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

Seconds one(const Application&) {
    return 1;
}

Configuration threads_over(std::string_view algorithm, int threads, Boundaries boundaries) {
    return {find_strategy("reduce-then-scan"), {find(algorithm), {}}, threads, boundaries};
}

/// Replays the applications in the order in which they ended, and expects that each combines
/// existing operands and that every prefix is computed.
void expect_a_whole_scan(const Performance& performance, Elements values) {
    std::vector<Bar> bars = performance.bars;
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
        return std::tie(a.end, a.begin) < std::tie(b.end, b.begin);
    });
    std::map<std::pair<Elements, Elements>, Seconds> made;
    for (Elements value = 0; value < values; ++value)
        made[{value, value + 1}] = 0;
    for (const Bar& bar : bars) {
        for (const auto& operand : {std::pair(bar.what.first, bar.what.middle),
                                    std::pair(bar.what.middle, bar.what.last)}) {
            const auto found = made.find(operand);
            ASSERT_TRUE(found != made.end()) << operand.first << " " << operand.second;
            EXPECT_LE(found->second, bar.begin);
        }
        made.try_emplace({bar.what.first, bar.what.last}, bar.end);
    }
    for (Elements value = 0; value < values; ++value)
        EXPECT_TRUE(made.contains({0, value + 1})) << value;
}

Boundaries boundaries_for(test::Random& random) {
    return all_boundaries()[random.index(all_boundaries().size())].boundaries;
}

TEST(Rehearsal, every_prefix_is_computed_from_existing_operands_for_any_stealing) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        test::Random random(seed);
        Series series;
        for (int rank = random.number(1, 5); rank > 0; --rank)
            series.push_back(random.between(0, 20));
        const auto& algorithm = catalogue()[random.index(catalogue().size())];
        const Elements values = std::accumulate(series.begin(), series.end(), Elements{0});
        const Draws draws({Distribution::Kind::exponential, 1}, values, seed);
        for (const int threads : {1, 2, 3, 7}) {
            for (const bool gives_last : {true, false}) {
                const Configuration configuration{find_strategy("reduce-then-scan"),
                                                  {algorithm, {}, gives_last},
                                                  threads,
                                                  boundaries_for(random)};
                SCOPED_TRACE(to_text(configuration));
                const Performance performance =
                    Rehearsal(series, configuration).run(std::cref(draws), {}, true);
                expect_a_whole_scan(performance, values);
                EXPECT_NEAR(
                    performance.makespan,
                    usage(performance.bars, static_cast<int>(series.size()), threads, 1).makespan,
                    1e-9);
            }
        }
    }
}

TEST(Rehearsal, with_constant_times_a_schedule_takes_its_span) {
    for (const Strategy& strategy : strategies()) {
        for (int ranks = 1; ranks <= 16; ++ranks) {
            const Series series = even_blocks(4 * ranks, ranks);
            const GlobalScan global{find("kogge-stone"), {}};
            const Circuit read = circuit(test::series_case(strategy, global, series).schedule);
            const Performance performance =
                Rehearsal(series, {strategy, global}).run(one, {}, true);
            EXPECT_EQ(static_cast<Elements>(performance.bars.size()), read.work);
            EXPECT_GE(performance.makespan, read.span);
            EXPECT_LE(performance.makespan, read.span + 3) << strategy.name << " " << ranks;
        }
    }
}

TEST(Rehearsal, one_rank_with_one_thread_combines_n_values_with_n_minus_1_applications) {
    for (const Strategy& strategy : strategies()) {
        const Performance performance =
            Rehearsal({13}, {strategy, {find("kogge-stone"), {}}}).run(one, {}, true);
        EXPECT_EQ(performance.bars.size(), 12u);
        EXPECT_EQ(performance.makespan, 12);
    }
}

TEST(Rehearsal, two_threads_in_two_phases_take_as_long_as_one) {
    const Performance two =
        Rehearsal({64}, threads_over("kogge-stone", 2, Boundaries::moving)).run(one);
    EXPECT_NEAR(two.makespan, 64, 2); // 31 + 1 + 31 applications
}

TEST(Rehearsal, two_threads_that_look_ahead_take_two_thirds_of_the_time_of_one) {
    const Configuration ahead = threads_over("kogge-stone", 2, Boundaries::look_ahead);
    for (const Series& series : {Series{66}, Series{0, 66, 0}})
        EXPECT_NEAR(Rehearsal(series, ahead).run(one).makespan, 44, 3);
    const Configuration moving = threads_over("kogge-stone", 2, Boundaries::moving);
    EXPECT_EQ(Rehearsal({33, 33}, ahead).run(one).makespan,
              Rehearsal({33, 33}, moving).run(one).makespan);
}

TEST(Rehearsal, ranks_begin_at_their_given_start_times) {
    const Rehearsal rehearsal({8, 8}, threads_over("serial", 2, Boundaries::moving));
    const std::vector<Seconds> starts = {0, 100};
    EXPECT_GT(rehearsal.run(one, starts).makespan, 100);
    EXPECT_LT(rehearsal.run(one).makespan, 20);
}

TEST(Rehearsal, stealing_is_faster_than_fixed_boundaries) {
    Distribution slow{Distribution::Kind::correlated, 1, .9, .95};
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Draws draws(slow, 512, seed);
        const Rehearsal fixed({512}, threads_over("kogge-stone", 8, Boundaries::fixed));
        const Rehearsal moving({512}, threads_over("kogge-stone", 8, Boundaries::moving));
        EXPECT_LT(moving.run(std::cref(draws)).makespan, fixed.run(std::cref(draws)).makespan);
        EXPECT_LT(fixed.balanced(std::cref(draws)), fixed.run(std::cref(draws)).makespan);
    }
}

/// Rank 1 has five applications of its own and one whose result rank 2 needs. The latter can start
/// only after two applications of rank 0.
Schedule one_rank_holds_up_another() {
    ProgramBuilder first, second, third;
    const Region a = first.input(3), sum = first.output(1);
    first.fold(sum, {nth(a, 0), nth(a, 1), nth(a, 2)});
    first.send(1, sum);
    const Region b = second.input(6), sums = second.output(5), before = second.scratch(1);
    for (Elements i = 0; i < 5; ++i)
        second.fold(nth(sums, i), {nth(b, i), nth(b, i + 1)});
    second.receive(0, before);
    second.fold(before, {before, nth(b, 0)});
    second.send(2, before);
    const Region given = third.output(1);
    third.receive(1, given);
    return {first.finish(sum), second.finish(sums), third.finish(given)};
}

TEST(RehearsalSimulator, work_for_other_ranks_has_priority) {
    const RehearsalSimulator clockwork(one_rank_holds_up_another());
    const auto place = [](int rank, Elements e) {
        const Elements value = 3 * rank + e;
        return Interval{value, value + 1};
    };
    EXPECT_EQ(clockwork.run({place, {}, one, {}}), (std::vector<Seconds>{2, 6, 3}));
}

TEST(RandomTimes, are_the_same_for_equal_seeds_and_have_the_requested_mean) {
    using Kind = Distribution::Kind;
    for (const Kind kind : {Kind::constant, Kind::exponential, Kind::correlated}) {
        Seconds sum = 0;
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const Draws draws({kind, 2}, 1000, seed), again({kind, 2}, 1000, seed);
            EXPECT_EQ(draws.serial(), again.serial());
            sum += draws.serial();
        }
        EXPECT_NEAR(sum / 40 / 999, 2, .1) << name(kind);
    }
}

TEST(RecordedTimes, are_used_in_recorded_order_and_repeat_cyclically) {
    const Distribution recorded{Distribution::Kind::recorded, 0, 0, 0, {1, 2, 3}};
    const Draws draws(recorded, 5, 0);
    EXPECT_EQ(draws({0, 1, 2}), 2);
    EXPECT_EQ(draws({3, 4, 5}), 2);
    EXPECT_EQ(draws.serial(), 2 + 3 + 1 + 2);
    const Draws scaled({Distribution::Kind::recorded, 4, 0, 0, {1, 2, 3}}, 5, 0);
    EXPECT_EQ(scaled({0, 1, 2}), 4);
}

TEST(RandomTimes, with_invalid_parameters_are_refused) {
    using Kind = Distribution::Kind;
    EXPECT_THROW(check({Kind::constant, -1}), InvalidTask);
    EXPECT_THROW(check({Kind::correlated, 1, .5, 1}), InvalidTask);
    EXPECT_THROW(check({Kind::recorded, 1}), InvalidTask);
    EXPECT_THROW(check({Kind::recorded, 1, 0, 0, {1, -2}}), InvalidTask);
}

TEST(Usage, reports_idle_time_and_imbalance) {
    const std::vector<Bar> bars = {{0, 0, {}, 0, 3}, {0, 1, {}, 1, 2}};
    const Usage used = usage(bars, 1, 2, 6);
    EXPECT_EQ(used.makespan, 3);
    EXPECT_EQ(used.busy, 4);
    EXPECT_EQ(used.idle, 2);
    EXPECT_EQ(used.imbalance, 1.5);
    EXPECT_EQ(used.efficiency, 1);
}

} // namespace
} // namespace sextant::scan
