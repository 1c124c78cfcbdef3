// SPDX-License-Identifier: BSD-3-Clause
// Scans of whole series: every strategy is proved with every global scan, and its applications are
// counted.
#include "sextant/core/error.hpp"
#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>

#include "tests/support/random.hpp"
#include "tests/support/reference_prover.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

using test::Case;

TEST(Series, gives_the_first_ranks_one_more_value_if_values_do_not_divide_evenly) {
    EXPECT_EQ(even_blocks(7, 3), (Series{3, 2, 2}));
    EXPECT_EQ(even_blocks(2, 4), (Series{1, 1, 0, 0}));
    EXPECT_EQ(even_blocks(0, 2), (Series{0, 0}));
    EXPECT_EQ(even_blocks(6, 3), (Series{2, 2, 2}));
}

TEST(SeriesProof, covers_any_number_of_values_on_1_to_12_ranks) {
    test::for_each_strategy([](const Strategy& strategy, const GlobalScan& global) {
        for (int ranks = 1; ranks <= 12; ++ranks) {
            for (Elements values = 0; values <= 3 * ranks + 1; ++values) {
                const Case c = test::series_case(strategy, global, even_blocks(values, ranks));
                ASSERT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            }
        }
    });
}

TEST(SeriesProof, covers_uneven_numbers_of_values_and_ranks_without_values) {
    test::Random random(71);
    test::for_each_strategy([&](const Strategy& strategy, const GlobalScan& global) {
        for (int trial = 0; trial < 60; ++trial) {
            Series series(static_cast<std::size_t>(random.number(1, 17)));
            for (Elements& values : series)
                values = std::max(0, random.number(-2, 5));
            const Case c = test::series_case(strategy, global, series);
            ASSERT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            if (trial < 5) {
                EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
            }
        }
    });
}

TEST(SeriesProof, requires_each_value_combined_with_all_preceding_ones) {
    const Claim claim = scan::claim(Series{2, 0, 1});
    EXPECT_EQ(claim.wanted(0, {{0, 0, 1, 0}, {0, 0, 2, 0}}), "");
    EXPECT_EQ(claim.wanted(1, {}), "");
    EXPECT_EQ(claim.wanted(2, {{0, 0, 3, 0}}), "");
    EXPECT_NE(claim.wanted(2, {{0, 0, 2, 0}}), "");
    EXPECT_NE(claim.wanted(2, {{0, 1, 3, 0}}), "");
    EXPECT_NE(claim.wanted(2, {}), "");
    EXPECT_NE(claim.wanted(1, {{0, 0, 2, 0}}), "");
}

TEST(Series, an_unknown_strategy_is_refused) {
    EXPECT_THROW(find_strategy("scan-then-pray"), InvalidTask);
}

Circuit circuit_of(const GlobalScan& global, int ranks, Form form) {
    return circuit(test::scan_case(global.algorithm, {ranks, 1, form}, global.tuning).schedule);
}

/// Calls `check(strategy, global, N, P)` for many N values on P workers; every worker has values.
template <class Check>
void for_each_series(bool gives_last, Check check) {
    test::for_each_strategy([&](const Strategy& strategy, const GlobalScan& global) {
        if (global.gives_last != gives_last)
            return;
        for (int P : {2, 3, 4, 7, 8, 12, 16, 31}) {
            for (Elements N : {Elements{P}, P + Elements{1}, 3 * Elements{P}, 5 * Elements{P} - 1})
                check(strategy, global, N, P);
        }
    });
}

/// Work of a strategy by formula, with a global scan of W applications; K is the number of values
/// of the first worker.
Elements formula(const Strategy& strategy, Elements N, int P, Elements W) {
    const Elements K = even_blocks(N, P).front();
    return strategy.name == "scan-then-propagate" ? 2 * N - P - K + W : 2 * N - P - 1 + W;
}

TEST(SeriesCounts, with_an_exclusive_global_scan_work_follows_the_formulas) {
    for_each_series(
        false, [](const Strategy& strategy, const GlobalScan& global, Elements N, int P) {
            const Elements W = circuit_of(global, P, Form::exclusive).work;
            // The last worker's total is not computed, but the formula counts it.
            const Elements unmade =
                strategy.name == "reduce-then-scan" ? even_blocks(N, P).back() - 1 : 0;
            const Case c = test::series_case(strategy, global, even_blocks(N, P));
            EXPECT_EQ(circuit(c.schedule).work, formula(strategy, N, P, W) - unmade) << c.name;
        });
}

TEST(SeriesCounts, an_inclusive_global_scan_saves_computing_the_last_values) {
    for_each_series(true, [](const Strategy& strategy, const GlobalScan& global, Elements N,
                             int P) {
        if (global.algorithm.native == Form::exclusive)
            return;
        const Elements W = circuit_of(global, P, Form::inclusive).work;
        // In scan-then-propagate, the first worker's last prefix equals its total and is not
        // computed again.
        const bool first_too = strategy.name == "reduce-then-scan" && even_blocks(N, P).front() > 1;
        const Elements saved = P - 1 + (first_too ? 1 : 0);
        const Case c = test::series_case(strategy, global, even_blocks(N, P));
        EXPECT_EQ(circuit(c.schedule).work, formula(strategy, N, P, W) - saved) << c.name;
    });
}

TEST(SeriesCounts, an_exclusive_global_scan_saves_the_last_values_of_all_workers_but_the_last) {
    for_each_series(
        true, [](const Strategy& strategy, const GlobalScan& global, Elements N, int P) {
            const Elements K = even_blocks(N, P).front(), K_last = even_blocks(N, P).back();
            if (global.algorithm.native != Form::exclusive || K_last == 1)
                return;
            const Elements W = circuit_of(global, P, Form::exclusive).work;
            const bool reduces = strategy.name == "reduce-then-scan";
            const Elements saved = P - 2 + (reduces && K > 1 ? 1 : 0) + (reduces ? K_last - 1 : 0);
            const Case c = test::series_case(strategy, global, even_blocks(N, P));
            EXPECT_EQ(circuit(c.schedule).work, formula(strategy, N, P, W) - saved) << c.name;
        });
}

TEST(SeriesCounts, spans_follow_the_formulas) {
    for_each_series(
        false, [](const Strategy& strategy, const GlobalScan& global, Elements N, int P) {
            if (N % P != 0)
                return;
            const auto K = static_cast<int>(N / P);
            const int S = circuit_of(global, P, Form::exclusive).span;
            const Case c = test::series_case(strategy, global, even_blocks(N, P));
            // In scan-then-propagate, the prefix is prepended to all values of a worker in
            // parallel.
            const int formula = strategy.name == "scan-then-propagate" ? K + S : 2 * K - 1 + S;
            EXPECT_EQ(circuit(c.schedule).span, formula) << c.name;
        });
    for_each_series(true,
                    [](const Strategy& strategy, const GlobalScan& global, Elements N, int P) {
                        if (N % P != 0 || global.algorithm.native == Form::exclusive)
                            return;
                        const auto K = static_cast<int>(N / P);
                        const int S = circuit_of(global, P, Form::inclusive).span;
                        const Case c = test::series_case(strategy, global, even_blocks(N, P));
                        EXPECT_LE(circuit(c.schedule).span, 2 * K - 2 + S) << c.name;
                    });
}

TEST(SeriesCounts, a_single_worker_combines_n_values_with_n_minus_1_applications) {
    test::for_each_strategy([](const Strategy& strategy, const GlobalScan& global) {
        for (Elements N = 1; N <= 9; ++N) {
            for (const Series& series : {Series{N}, Series{0, N, 0}}) {
                const Case c = test::series_case(strategy, global, series);
                EXPECT_EQ(circuit(c.schedule).work, N - 1) << c.name;
                EXPECT_EQ(circuit(c.schedule).span, N - 1) << c.name;
            }
        }
    });
}

} // namespace
} // namespace sextant::scan
