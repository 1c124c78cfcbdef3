// SPDX-License-Identifier: BSD-3-Clause
// Scans of series on threads.
#include "sextant/comm/threads.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/schedule/circuit.hpp"

#include <chrono>
#include <thread>

#include "tests/support/random.hpp"
#include "tests/support/series_runs.hpp"
#include "tests/support/time_limit.hpp"

namespace sextant::test {
namespace {

const bool series_added = add_cases("SeriesOnThreads", series_cases(), on_threads);

TEST(SeriesOnThreads, the_operator_is_applied_as_often_as_scheduled) {
    for (const int ranks : {1, 2, 3, 4, 7, 8}) {
        for (const scan::Series& series : series_on(ranks)) {
            for_each_strategy([&](const scan::Strategy& strategy, const scan::GlobalScan& global) {
                std::atomic<Elements> applied = 0;
                run_threads(ranks, [&](const Communicator& communicator) {
                    const int rank = communicator.rank();
                    const auto own = exact_values<Matrix>(first_of(series, rank),
                                                          series[static_cast<std::size_t>(rank)]);
                    prefix::scan(
                        communicator, std::span<const Matrix>(own),
                        [&](const Matrix& x, const Matrix& y) {
                            ++applied;
                            return combine(x, y);
                        },
                        options_for(strategy, global, Association::in_order));
                });
                const Case c = series_case(strategy, global, series);
                EXPECT_EQ(applied, circuit(c.schedule).work) << c.name;
            });
        }
    }
}

TEST(SeriesOnThreads, one_rank_combines_n_values_with_n_minus_1_applications) {
    run_threads(1, [](const Communicator& communicator) {
        const auto values = exact_values<Digits>(0, 13);
        for (const scan::Strategy& strategy : scan::strategies()) {
            int applied = 0;
            const auto counted = [&](const Digits& x, const Digits& y) {
                ++applied;
                return combine(x, y);
            };
            EXPECT_EQ(prefix::scan(communicator, std::span<const Digits>(values), counted,
                                   {std::string(strategy.name)}),
                      serial_scan(values));
            EXPECT_EQ(applied, 12) << strategy.name;
        }
    });
}

TEST(SeriesOnThreads, an_exclusive_scan_of_n_values_applies_the_operator_to_all_but_the_last) {
    run_threads(1, [](const Communicator& communicator) {
        for (const Elements N : {0, 1, 2, 3, 13}) {
            const auto values = exact_values<Digits>(0, N);
            int applied = 0;
            const auto counted = [&](const Digits& x, const Digits& y) {
                ++applied;
                return combine(x, y);
            };
            EXPECT_EQ(
                prefix::exclusive_scan(communicator, std::span<const Digits>(values), counted),
                serial_exclusive_scan(values));
            EXPECT_EQ(applied, std::max<Elements>(0, N - 2));
        }
    });
}

TEST(SeriesOnThreads, a_shift_of_differing_sizes_or_numbers_of_bytes_fails_on_all_ranks) {
    for (const int ranks : {2, 3, 7})
        run_threads(ranks, [](const Communicator& communicator) {
            const bool odd = communicator.rank() == communicator.size() - 1;
            expect_agreed_failure("has values of 9 bytes",
                                  [&] { prefix::Shift(communicator, 2, odd ? 9 : 8); });
            expect_agreed_failure("-1 values",
                                  [&] { prefix::Shift(communicator, odd ? -1 : 2, 8); });
            prefix::Shift shift(communicator, 2, 1);
            const std::vector<std::byte> own(odd ? 1 : 2, std::byte(communicator.rank() + 1));
            expect_agreed_failure("1 bytes given, expected 2", [&] { shift.run(own); });
            const std::vector<std::byte> both(2, std::byte(communicator.rank() + 1));
            const auto received = shift.run(both);
            if (communicator.rank() == 0) {
                EXPECT_EQ(received.size(), 1U);
            } else {
                ASSERT_EQ(received.size(), 2U);
                EXPECT_EQ(received[0], std::byte(communicator.rank()));
                EXPECT_EQ(received[1], std::byte(communicator.rank() + 1));
            }
        });
}

/// An operator that sleeps for a time derived from a seed, so that every seed gives a different
/// order of stealing.
struct Jitter {
    unsigned seed;
    Digits operator()(const Digits& x, const Digits& y) const {
        const std::uint64_t mixed = (x.number * 31 + y.number + seed) * 0x9e3779b97f4a7c15U;
        std::this_thread::sleep_for(std::chrono::microseconds(mixed >> 57));
        return combine(x, y);
    }
};

/// Scans random series on two ranks of up to six threads each, and expects the serial scan. Returns
/// the number of stolen values on rank 0.
Elements stolen_in_random_scans(scan::Boundaries boundaries, bool on_one_rank) {
    Elements stolen = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        Random random(seed);
        scan::Series series = {random.between(0, 25), random.between(0, 25)};
        if (on_one_rank)
            series[seed % 2] = 0;
        const auto whole = exact_values<Digits>(0, series[0] + series[1]);
        prefix::ScanOptions options{"reduce-then-scan"};
        options.threads = random.number(1, 6);
        options.trace = random.chance(50);
        options.boundaries = boundaries;
        run_threads(2, [&](const Communicator& communicator) {
            const auto own = part_of(whole, series, communicator.rank());
            prefix::Scan scan(communicator, static_cast<Elements>(own.size()),
                              operator_on(prefix::plain_slots<Digits>(), Jitter{seed}), options);
            const auto result = scan.run(std::as_bytes(std::span(own)));
            const auto expected = part_of(serial_scan(whole), series, communicator.rank());
            ASSERT_EQ(result.size(), expected.size() * sizeof(Digits));
            EXPECT_TRUE(expected.empty() ||
                        std::memcmp(result.data(), expected.data(), result.size()) == 0)
                << seed;
            if (communicator.rank() == 0)
                stolen += scan.stolen();
        });
    }
    return stolen;
}

TEST(SeriesOnThreads, results_are_the_same_however_work_is_stolen) {
    EXPECT_GT(stolen_in_random_scans(scan::Boundaries::moving, false), 0);
    EXPECT_GT(stolen_in_random_scans(scan::Boundaries::look_ahead, true), 0);
    stolen_in_random_scans(scan::Boundaries::look_ahead, false);
}

TEST(SeriesOnThreads, an_operator_exception_on_any_thread_ends_a_scan_that_looks_ahead) {
    const auto own = exact_values<Matrix>(0, 40);
    for (int at = 0; at < 39; at += 3) { // number of the application that throws
        run_threads(1, [&](const Communicator& communicator) {
            prefix::ScanOptions options{"reduce-then-scan"};
            options.threads = 4;
            options.boundaries = scan::Boundaries::look_ahead;
            options.trace = at % 2 == 0;
            std::atomic<int> applied = 0;
            const auto combine_or_throw = [&](const Matrix& x, const Matrix& y) {
                if (applied++ == at)
                    throw std::runtime_error("frames 4 and 5 do not match");
                return combine(x, y);
            };
            expect_agreed_failure("frames 4 and 5 do not match", [&] {
                prefix::scan(communicator, std::span<const Matrix>(own), combine_or_throw, options);
            });
        });
    }
}

TEST(SeriesOnThreads, the_calling_thread_applies_the_operator_if_threads_look_ahead) {
    run_threads(1, [](const Communicator& communicator) {
        prefix::ScanOptions options{"reduce-then-scan"};
        options.threads = 3;
        options.boundaries = scan::Boundaries::look_ahead;
        const auto values = exact_values<Digits>(0, 60);
        const std::thread::id caller = std::this_thread::get_id();
        const TimeLimit limit;
        std::atomic<int> here = 0;
        // The other threads wait in their first application, and leave values for the caller.
        const auto counted = [&](const Digits& x, const Digits& y) {
            if (std::this_thread::get_id() == caller)
                ++here;
            else
                limit.wait_until([&] { return here > 5; });
            return combine(x, y);
        };
        EXPECT_EQ(prefix::scan(communicator, std::span<const Digits>(values), counted, options),
                  serial_scan(values));
        EXPECT_GT(here, 5);
    });
}

/// Addition of floating-point numbers, which is not associative, with a random delay: the result
/// shows the bracketing.
double delayed_sum(double x, double y) {
    static std::atomic<unsigned> calls = 0;
    const std::uint64_t mixed = (calls++ + 1) * 0x9e3779b97f4a7c15U;
    std::this_thread::sleep_for(std::chrono::microseconds(mixed >> 57));
    return x + y;
}

TEST(SeriesOnThreads, with_fixed_boundaries_the_bracketing_is_the_same_in_every_run) {
    for (const int ranks : {1, 2}) {
        std::vector<std::vector<double>> first(static_cast<std::size_t>(ranks));
        for (int run = 0; run < 12; ++run) {
            run_threads(ranks, [&](const Communicator& communicator) {
                prefix::ScanOptions options{"reduce-then-scan"};
                options.threads = 4;
                options.boundaries = scan::Boundaries::fixed;
                std::vector<double> own;
                for (int i = 0; i < 40; ++i)
                    own.push_back(1 / (3. + i + 40 * communicator.rank()));
                const auto sums =
                    prefix::scan(communicator, std::span<const double>(own), delayed_sum, options);
                auto& known = first[static_cast<std::size_t>(communicator.rank())];
                if (run == 0)
                    known = sums;
                EXPECT_EQ(sums, known);
            });
        }
    }
}

TEST(SeriesOnThreads, several_threads_per_rank_require_reduce_then_scan) {
    run_threads(2, [](const Communicator& communicator) {
        prefix::ScanOptions options;
        options.threads = 2;
        expect_agreed_failure("expected reduce-then-scan", [&] {
            prefix::Scan(communicator, 2, exact_operator<Matrix>(), options);
        });
    });
}

TEST(SeriesOnThreads, a_trace_has_one_bar_per_operator_application) {
    for (const int threads : {1, 3}) {
        run_threads(2, [&](const Communicator& communicator) {
            std::atomic<Elements> applied = 0;
            const auto counted = [&](const Digits& x, const Digits& y) {
                ++applied;
                return combine(x, y);
            };
            prefix::ScanOptions options{"reduce-then-scan"};
            options.threads = threads;
            options.trace = true;
            const auto own =
                exact_values<Digits>(10 * static_cast<std::uint64_t>(communicator.rank()), 10);
            prefix::Scan scan(communicator, 10, operator_on(prefix::plain_slots<Digits>(), counted),
                              options);
            scan.run(std::as_bytes(std::span(own)));
            const std::vector<scan::Bar> bars = scan.applications();
            EXPECT_EQ(static_cast<Elements>(bars.size()), applied);
            for (const scan::Bar& bar : bars) {
                EXPECT_EQ(bar.rank, communicator.rank());
                EXPECT_LT(bar.thread, threads);
                EXPECT_LT(bar.what.first, bar.what.middle);
                EXPECT_LT(bar.what.middle, bar.what.last);
                EXPECT_LE(bar.begin, bar.end);
            }
        });
    }
}

TEST(SeriesOnThreads, cancellation_by_one_rank_cancels_the_scan_on_all_ranks) {
    for (const bool names_elements : {false, true}) {
        run_threads(3, [&](const Communicator& communicator) {
            prefix::ScanOptions options;
            options.names_elements = names_elements;
            const auto values = exact_values<Digits>(4 * communicator.rank(), 4);
            const auto cancelled = [&](const Digits& x, const Digits& y) {
                if (communicator.rank() == 1)
                    throw Cancelled();
                return combine(x, y);
            };
            EXPECT_THROW(
                prefix::scan(communicator, std::span<const Digits>(values), cancelled, options),
                Cancelled);
            EXPECT_EQ(communicator.all_gather(communicator.rank()).size(), 3U);
        });
    }
}

TEST(SeriesOnThreads, an_operator_that_exceeds_its_time_limit_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto never_ending = [] {
        run_threads(1, [](const Communicator& communicator) {
            prefix::ScanOptions options{"reduce-then-scan"};
            options.threads = 2;
            options.time_limit = 1;
            const auto values = exact_values<Digits>(0, 8);
            const auto slow = [](const Digits& x, const Digits& y) {
                if (y == exact_value<Digits>(2))
                    std::this_thread::sleep_for(std::chrono::hours(1));
                return combine(x, y);
            };
            prefix::scan(communicator, std::span<const Digits>(values), slow, options);
        });
    };
    EXPECT_EXIT(never_ending(), testing::ExitedWithCode(1),
                "thread [01]: combining elements 0 to 1 with 2 to 2 takes longer than the limit of "
                "1 s");
}

TEST(ValueSlots, store_bytes_and_their_number) {
    const prefix::Slots<std::string> slots = text_slots(5);
    std::vector<std::byte> slot(static_cast<std::size_t>(slots.size));
    for (const char* text : {"", "a", "12345"}) {
        slots.put(text, slot);
        EXPECT_EQ(slots.get(slot), text);
    }
    EXPECT_THROW(slots.put("123456", slot), InvalidTask);
    EXPECT_EQ(prefix::plain_slots<Matrix>().size, static_cast<Bytes>(sizeof(Matrix)));
}

} // namespace
} // namespace sextant::test
