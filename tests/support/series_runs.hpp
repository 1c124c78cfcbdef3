// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/prefix/scan_forms.hpp"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "tests/support/exact_operators.hpp"
#include "tests/support/group_cases.hpp"
#include "tests/support/random.hpp"
#include "tests/support/scan_cases.hpp"
#include <fmt/ranges.h>
#include <gtest/gtest.h>

// Scans of series on any communicator: shared by the tests over threads and over MPI.
namespace sextant::test {

inline std::uint64_t first_of(const scan::Series& series, int rank) {
    return static_cast<std::uint64_t>(
        std::accumulate(series.begin(), series.begin() + rank, Elements{0}));
}

/// The values of a series that one rank has.
template <class Value>
std::vector<Value> part_of(const std::vector<Value>& whole, const scan::Series& series, int rank) {
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(first_of(series, rank));
    return {first, first + series[static_cast<std::size_t>(rank)]};
}

inline prefix::ScanOptions options_for(const scan::Strategy& strategy,
                                       const scan::GlobalScan& global, Association association) {
    return {std::string(strategy.name), std::string(global.algorithm.name), global.tuning,
            global.gives_last, association};
}

/// Distributions of values over the ranks: even and uneven, some with empty ranks.
inline std::vector<scan::Series> series_on(int ranks) {
    std::vector<scan::Series> all;
    for (const Elements values : {0, 1, ranks - 1, ranks, 2 * ranks + 1, 20})
        all.push_back(scan::even_blocks(values, ranks));
    scan::Series rough;
    for (int rank = 0; rank < ranks; ++rank)
        rough.push_back((rank * 5 + 2) % 4);
    all.push_back(rough);
    return all;
}

/// Expects every strategy with every global scan to give the serial scan.
template <class Value>
void every_strategy_gives_the_serial_scan(const Communicator& communicator,
                                          Association association) {
    const int rank = communicator.rank();
    for (const scan::Series& series : series_on(communicator.size())) {
        const auto N = std::accumulate(series.begin(), series.end(), Elements{0});
        const std::vector<Value> whole = exact_values<Value>(0, N);
        const std::vector<Value> own = part_of(whole, series, rank);
        const std::vector<Value> expected = part_of(serial_scan(whole), series, rank);
        for_each_strategy([&](const scan::Strategy& strategy, const scan::GlobalScan& global) {
            const std::vector<Value> result = prefix::scan(
                communicator, std::span<const Value>(own),
                [](const Value& x, const Value& y) { return combine(x, y); },
                options_for(strategy, global, association));
            EXPECT_EQ(result, expected) << fmt::format(
                "{} over {}, values {}, rank {}", strategy.name,
                scan::to_text(global.algorithm, global.tuning), fmt::join(series, " + "), rank);
        });
    }
}

/// Runs a body that must fail; every rank must get the same error, containing `word`.
template <class Body>
void expect_agreed_failure(std::string_view word, Body body) {
    try {
        body();
        ADD_FAILURE() << "nothing thrown; expected: " << word;
    } catch (const AgreedFailure& error) {
        EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
            << error.what();
    }
}

/// Expects reduce-then-scan with several threads per rank and some global scans to give the serial
/// scan, for any order of stealing. Some ranks have fewer values than threads, or none.
template <class Value>
void several_threads_give_the_serial_scan(const Communicator& communicator) {
    const int rank = communicator.rank();
    for (const scan::Series& series : series_on(communicator.size())) {
        const auto N = std::accumulate(series.begin(), series.end(), Elements{0});
        const std::vector<Value> whole = exact_values<Value>(0, N);
        const std::vector<Value> own = part_of(whole, series, rank);
        const std::vector<Value> expected = part_of(serial_scan(whole), series, rank);
        for (const char* algorithm : {"kogge-stone", "blelloch", "serial"}) {
            for (const int threads : {2, 3, 5}) {
                for (const bool gives_last : {true, false}) {
                    prefix::ScanOptions options{"reduce-then-scan", algorithm, {}, gives_last};
                    options.threads = threads;
                    options.trace = threads == 3;
                    options.boundaries =
                        gives_last ? scan::Boundaries::moving : scan::Boundaries::fixed;
                    EXPECT_EQ(prefix::scan(
                                  communicator, std::span<const Value>(own),
                                  [](const Value& x, const Value& y) { return combine(x, y); },
                                  options),
                              expected)
                        << fmt::format("{}, {} threads, values {}, rank {}", algorithm, threads,
                                       fmt::join(series, " + "), rank);
                }
            }
        }
    }
}

/// An operator that throws in one application, on any thread, ends the scan on all ranks.
inline void an_operator_exception_on_one_thread_ends_the_scan(const Communicator& communicator) {
    const int rank = communicator.rank();
    const auto own = exact_values<Matrix>(9 * static_cast<std::uint64_t>(rank), 9);
    for (int failing = 0; failing < communicator.size(); ++failing) {
        // number of the application that throws, in the first or the last phase
        for (const int at : {0, 3, 7, 10}) {
            std::atomic<int> applied = 0;
            prefix::ScanOptions options{"reduce-then-scan"};
            options.threads = 3;
            const auto combine_or_throw = [&](const Matrix& x, const Matrix& y) {
                if (applied++ == at && rank == failing)
                    throw std::runtime_error("frames 4 and 5 do not match");
                return combine(x, y);
            };
            expect_agreed_failure("frames 4 and 5 do not match", [&] {
                prefix::scan(communicator, std::span<const Matrix>(own), combine_or_throw, options);
            });
        }
    }
    several_threads_give_the_serial_scan<Matrix>(communicator);
}

inline void a_noncommutative_operator_is_detected(const Communicator& communicator) {
    Operator op = exact_operator<Matrix>();
    op.commutative = true;
    const auto own = exact_values<Matrix>(3 * static_cast<std::uint64_t>(communicator.rank()), 3);
    for (const int threads : {1, 2}) {
        prefix::ScanOptions options{"reduce-then-scan"};
        options.threads = threads;
        prefix::Scan scan(communicator, 3, op, options);
        expect_agreed_failure("declared commutative, but elements 0 and 1",
                              [&] { scan.run(std::as_bytes(std::span(own))); });
    }
}

/// Slots for texts, which are concatenated: an operator whose results grow and that is not
/// commutative.
inline prefix::Slots<std::string> text_slots(Bytes capacity) {
    return prefix::sized_slots<std::string>(
        capacity,
        [](const std::string& text) {
            const auto bytes = std::as_bytes(std::span(text));
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        },
        [](std::span<const std::byte> bytes) {
            return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        });
}

inline std::string join_texts(const std::string& left, const std::string& right) {
    return left + right;
}

/// Scans texts "<0>", "<1>", ..., three per rank; a slot has room for all of them together.
inline void values_of_any_size_are_scanned(const Communicator& communicator) {
    const int rank = communicator.rank();
    std::vector<std::string> own, expected;
    std::string sum;
    for (int i = 0; i < 3 * (rank + 1); ++i) {
        const std::string text = i % 4 == 3 ? "" : fmt::format("<{}>", i);
        sum += text;
        if (i < 3 * rank)
            continue;
        own.push_back(text);
        expected.push_back(sum);
    }
    for (const scan::Strategy& strategy : scan::strategies()) {
        const auto result =
            prefix::scan(communicator, std::span<const std::string>(own), join_texts,
                         text_slots(12 * communicator.size()), {std::string(strategy.name)});
        EXPECT_EQ(result, expected) << strategy.name;
    }
}

/// The error for a value that exceeds its slot names its elements, its size and the capacity,
/// whether it is an input or a result, on one thread or several.
inline void an_oversized_value_is_reported(const Communicator& communicator) {
    const int rank = communicator.rank(), last = communicator.size() - 1;
    // Three texts of two bytes per rank: only the concatenation of all values is too large.
    const std::vector<std::string> own(3, "ab");
    const Bytes all = 6 * communicator.size();
    for (const int threads : {1, 2}) {
        prefix::ScanOptions options{"reduce-then-scan"};
        options.threads = threads;
        expect_agreed_failure(fmt::format("to {}: a value of {} bytes, expected {} or fewer",
                                          3 * last + 2, all, all - 1),
                              [&] {
                                  prefix::scan(communicator, std::span<const std::string>(own),
                                               join_texts, text_slots(all - 1), options);
                              });
    }
    std::vector<std::string> given = own;
    if (rank == last)
        given[1] = "abcde";
    expect_agreed_failure(
        fmt::format("element {}: a value of 5 bytes, expected 4 or fewer", 3 * last + 1), [&] {
            prefix::scan(communicator, std::span<const std::string>(given), join_texts,
                         text_slots(4));
        });
}

/// An operator that throws on any one rank ends the scan on all, each time, and the communicator
/// stays usable.
inline void an_operator_exception_ends_the_scan(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const auto own = exact_values<Matrix>(3 * static_cast<std::uint64_t>(rank), 3);
    for (const scan::Strategy& strategy : scan::strategies()) {
        for (const scan::Algorithm& algorithm : scan::catalogue()) {
            for (int failing = 0; failing < ranks; ++failing) {
                const auto combine_or_throw = [&](const Matrix& x, const Matrix& y) {
                    if (rank == failing)
                        throw std::runtime_error("frames 4 and 5 do not match");
                    return combine(x, y);
                };
                expect_agreed_failure("frames 4 and 5 do not match", [&] {
                    prefix::scan(communicator, std::span<const Matrix>(own), combine_or_throw,
                                 {std::string(strategy.name), std::string(algorithm.name)});
                });
            }
        }
    }
    every_strategy_gives_the_serial_scan<Matrix>(communicator, Association::in_order);
}

inline void a_value_larger_than_its_slot_ends_the_scan(const Communicator& communicator) {
    const std::vector<std::string> own = {"123", "456"};
    const int rank = communicator.rank();
    prefix::ScanOptions threaded{"reduce-then-scan"};
    threaded.threads = 2;
    expect_agreed_failure("a value of 6 bytes, expected 5 or fewer", [&] {
        prefix::scan(communicator, std::span<const std::string>(own), join_texts, text_slots(5),
                     threaded);
    });
    // The first error occurs in an operator, the second in the inputs.
    expect_agreed_failure("expected 5 or fewer", [&] {
        prefix::scan(communicator, std::span<const std::string>(own), join_texts, text_slots(5));
    });
    expect_agreed_failure("a value of 3 bytes, expected 2 or fewer", [&] {
        const std::vector<std::string> odd = {rank == communicator.size() - 1 ? "123" : "1"};
        prefix::scan(communicator, std::span<const std::string>(odd), join_texts, text_slots(2));
    });
}

inline void invalid_options_of_one_rank_fail_on_all_ranks(const Communicator& communicator) {
    const bool odd = communicator.rank() == communicator.size() - 1;
    const Operator op = exact_operator<Matrix>();
    expect_agreed_failure("different options", [&] {
        prefix::Scan(communicator, 2, op, {odd ? "reduce-then-scan" : "scan-then-propagate"});
    });
    expect_agreed_failure("unknown strategy",
                          [&] { prefix::Scan(communicator, 2, op, {"scan-then-pray"}); });
    expect_agreed_failure("-1 values", [&] { prefix::Scan(communicator, odd ? -1 : 2, op); });
    expect_agreed_failure("values of 16 bytes", [&] {
        prefix::Scan(communicator, 2, odd ? exact_operator<Digits>() : op);
    });
}

inline void a_wrong_number_of_values_fails_only_that_scan(const Communicator& communicator) {
    const int rank = communicator.rank();
    const bool odd = rank == communicator.size() / 2;
    prefix::Scan scan(communicator, 2, exact_operator<Matrix>());
    const auto whole = exact_values<Matrix>(0, 2 * communicator.size());
    const scan::Series series = scan::even_blocks(2 * communicator.size(), communicator.size());
    const auto own = part_of(whole, series, rank);
    const auto few = exact_values<Matrix>(0, odd ? 1 : 2);
    expect_agreed_failure("bytes given", [&] { scan.run(std::as_bytes(std::span(few))); });
    const auto expected = part_of(serial_scan(whole), series, rank);
    for (int time = 0; time < 3; ++time) {
        const auto result = scan.run(std::as_bytes(std::span(own)));
        ASSERT_EQ(result.size(), 2 * sizeof(Matrix));
        EXPECT_EQ(std::memcmp(result.data(), expected.data(), result.size()), 0);
    }
}

/// Calls `check(options, what)` for scans on one thread and on several, with every strategy.
template <class Check>
void for_some_options(Check check) {
    for (const scan::Strategy& strategy : scan::strategies()) {
        for (const char* algorithm : {"kogge-stone", "blelloch"})
            check({std::string(strategy.name), algorithm},
                  fmt::format("{} over {}", strategy.name, algorithm));
    }
    for (const int threads : {2, 5}) {
        prefix::ScanOptions options{"reduce-then-scan"};
        options.threads = threads;
        options.trace = threads == 5;
        check(options, fmt::format("{} threads", threads));
    }
}

/// The exclusive scan of a series, computed from left to right; the first result is empty.
template <class Value>
std::vector<std::optional<Value>> serial_exclusive_scan(const std::vector<Value>& values) {
    std::vector<std::optional<Value>> results;
    std::optional<Value> sum;
    for (const Value& value : values) {
        results.push_back(sum);
        sum = sum ? combine(*sum, value) : value;
    }
    return results;
}

/// Expects exclusive scans of even and uneven series, some with empty ranks, to give the serial
/// one, with and without an identity.
template <class Value>
void exclusive_scans_equal_the_serial_scan(const Communicator& communicator) {
    const int rank = communicator.rank();
    const Value first = exact_value<Value>(4711);
    const auto combined = [](const Value& x, const Value& y) { return combine(x, y); };
    for (const scan::Series& series : series_on(communicator.size())) {
        const auto N = std::accumulate(series.begin(), series.end(), Elements{0});
        const std::vector<Value> whole = exact_values<Value>(0, N);
        const std::vector<Value> own = part_of(whole, series, rank);
        const auto expected = part_of(serial_exclusive_scan(whole), series, rank);
        std::vector<Value> with_first;
        for (const std::optional<Value>& value : expected)
            with_first.push_back(value.value_or(first));
        for_some_options([&](const prefix::ScanOptions& options, const std::string& what) {
            const std::string name =
                fmt::format("{}, values {}, rank {}", what, fmt::join(series, " + "), rank);
            EXPECT_EQ(prefix::exclusive_scan(communicator, std::span<const Value>(own), combined,
                                             options),
                      expected)
                << name;
            EXPECT_EQ(prefix::exclusive_scan(communicator, std::span<const Value>(own), first,
                                             combined, options),
                      with_first)
                << name;
        });
    }
}

/// The scan of the segments of a series, computed from left to right.
template <class Value>
std::vector<Value> serial_segmented_scan(std::vector<Value> values,
                                         const std::vector<std::uint8_t>& starts) {
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (starts[i] == 0)
            values[i] = combine(values[i - 1], values[i]);
    }
    return values;
}

/// Expects segmented scans to give the serial one: no segment starts, all values start one, and
/// random segments, most of which extend over several ranks or start within one. Applications never
/// join values of different segments.
template <class Value>
void segmented_scans_equal_the_serial_scan(const Communicator& communicator) {
    const int rank = communicator.rank();
    Random random(23); // the same on all ranks
    for (const scan::Series& series : series_on(communicator.size())) {
        const auto N = std::accumulate(series.begin(), series.end(), Elements{0});
        const std::vector<Value> whole = exact_values<Value>(0, N);
        const std::vector<Value> own = part_of(whole, series, rank);
        for (const int percent : {0, 100, 15, 50}) {
            std::vector<std::uint8_t> starts;
            for (Elements i = 0; i < N; ++i)
                starts.push_back(random.chance(percent) ? 1 : 0);
            const auto expected = part_of(serial_segmented_scan(whole, starts), series, rank);
            const auto own_starts = part_of(starts, series, rank);
            for_some_options([&](const prefix::ScanOptions& options, const std::string& what) {
                std::atomic<Elements> applied = 0;
                EXPECT_EQ(prefix::segmented_scan(
                              communicator, std::span<const Value>(own),
                              std::span<const std::uint8_t>(own_starts),
                              [&](const Value& x, const Value& y) {
                                  ++applied;
                                  return combine(x, y);
                              },
                              options),
                          expected)
                    << fmt::format("{}, {} % starts, values {}, rank {}", what, percent,
                                   fmt::join(series, " + "), rank);
                if (percent == 100) {
                    EXPECT_EQ(applied, 0) << what;
                }
            });
        }
    }
}

/// Texts of any size: the exclusive scan of "<0>", "<1>", ... and the lines of a text.
inline void texts_are_scanned_exclusively_and_in_segments(const Communicator& communicator) {
    const int rank = communicator.rank(), last = 3 * communicator.size();
    std::vector<std::string> own, before, lines;
    std::vector<std::uint8_t> starts;
    std::string sum, line;
    for (int i = 0; i < 3 * (rank + 1); ++i) {
        const std::string text = fmt::format("<{}>", i);
        const bool starts_line = i % 4 == 2;
        line = starts_line ? text : line + text;
        if (i >= 3 * rank) {
            own.push_back(text);
            before.push_back(sum);
            lines.push_back(line);
            starts.push_back(starts_line ? 1 : 0);
        }
        sum += text;
    }
    const prefix::Slots<std::string> slots = text_slots(4 * last);
    for_some_options([&](const prefix::ScanOptions& options, const std::string& what) {
        EXPECT_EQ(prefix::exclusive_scan(communicator, std::span<const std::string>(own), "",
                                         join_texts, slots, options),
                  before)
            << what;
        EXPECT_EQ(prefix::segmented_scan(communicator, std::span<const std::string>(own), starts,
                                         join_texts, slots, options),
                  lines)
            << what;
    });
}

/// Failures of the exclusive and the segmented form: an operator that throws on one rank, a value
/// that is too large, a wrong number of starts. The error names elements by their positions in the
/// series, every rank gets the same one, and the communicator stays usable.
inline void failures_end_exclusive_and_segmented_scans(const Communicator& communicator) {
    const int rank = communicator.rank(), ranks = communicator.size();
    const auto own = exact_values<Matrix>(3 * static_cast<std::uint64_t>(rank), 3);
    const std::vector<std::uint8_t> starts(3, 0);
    for_some_options([&](const prefix::ScanOptions& options, const std::string&) {
        for (int failing = 0; failing < ranks; ++failing) {
            const auto throws_here = [&](const Matrix& x, const Matrix& y) {
                if (rank == failing)
                    throw std::runtime_error("frames 4 and 5 do not match");
                return combine(x, y);
            };
            expect_agreed_failure("frames 4 and 5 do not match", [&] {
                prefix::exclusive_scan(communicator, std::span<const Matrix>(own), throws_here,
                                       options);
            });
            expect_agreed_failure("frames 4 and 5 do not match", [&] {
                prefix::segmented_scan(communicator, std::span<const Matrix>(own), starts,
                                       throws_here, options);
            });
        }
    });
    const auto combined = [](const Matrix& x, const Matrix& y) { return combine(x, y); };
    expect_agreed_failure(fmt::format("rank {}: 2 starts of segments, expected 3", ranks - 1), [&] {
        const std::vector<std::uint8_t> few(rank == ranks - 1 ? 2 : 3, 0);
        prefix::segmented_scan(communicator, std::span<const Matrix>(own), few, combined);
    });
    std::vector<std::string> texts(3, "ab");
    // The last value is not part of any exclusive result.
    const Bytes all_but_last = 6 * ranks - 2;
    EXPECT_EQ(prefix::exclusive_scan(communicator, std::span<const std::string>(texts), "",
                                     join_texts, text_slots(all_but_last))
                  .size(),
              3U);
    expect_agreed_failure(fmt::format("to {}: a value of {} bytes, expected {} or fewer",
                                      3 * ranks - 2, all_but_last, all_but_last - 1),
                          [&] {
                              prefix::exclusive_scan(communicator,
                                                     std::span<const std::string>(texts), "",
                                                     join_texts, text_slots(all_but_last - 1));
                          });
    if (rank == ranks - 1)
        texts[1] = "abcde";
    for (const bool exclusive : {true, false}) {
        expect_agreed_failure(
            fmt::format("element {}: a value of 5 bytes, expected 4 or fewer", 3 * ranks - 2), [&] {
                const std::span<const std::string> values(texts);
                if (exclusive)
                    prefix::exclusive_scan(communicator, values, join_texts, text_slots(4));
                else
                    prefix::segmented_scan(communicator, values, std::vector<std::uint8_t>(3, 1),
                                           join_texts, text_slots(4));
            });
    }
    exclusive_scans_equal_the_serial_scan<Digits>(communicator);
}

inline std::vector<GroupCase> series_cases() {
    return {
        {"every_strategy_gives_the_serial_scan",
         [](const Communicator& communicator) {
             every_strategy_gives_the_serial_scan<Matrix>(communicator, Association::in_order);
             every_strategy_gives_the_serial_scan<Digits>(communicator, Association::by_arrival);
         }},
        {"several_threads_give_the_serial_scan",
         [](const Communicator& communicator) {
             several_threads_give_the_serial_scan<Matrix>(communicator);
             several_threads_give_the_serial_scan<Digits>(communicator);
         },
         {2, 3, 7}},
        {"exclusive_scans_equal_the_serial_scan",
         [](const Communicator& communicator) {
             exclusive_scans_equal_the_serial_scan<Matrix>(communicator);
             exclusive_scans_equal_the_serial_scan<Digits>(communicator);
         }},
        {"segmented_scans_equal_the_serial_scan",
         [](const Communicator& communicator) {
             segmented_scans_equal_the_serial_scan<Matrix>(communicator);
             segmented_scans_equal_the_serial_scan<Digits>(communicator);
         }},
        GROUP_CASE(an_operator_exception_on_one_thread_ends_the_scan, {2, 3, 7}),
        GROUP_CASE(a_noncommutative_operator_is_detected, {2, 3, 7}),
        GROUP_CASE(values_of_any_size_are_scanned, {2, 3, 7}),
        GROUP_CASE(an_operator_exception_ends_the_scan, {2, 3, 7}),
        GROUP_CASE(an_oversized_value_is_reported, {2, 3, 7}),
        GROUP_CASE(a_value_larger_than_its_slot_ends_the_scan, {2, 3, 7}),
        GROUP_CASE(invalid_options_of_one_rank_fail_on_all_ranks, {2, 3, 7}),
        GROUP_CASE(a_wrong_number_of_values_fails_only_that_scan, {2, 3, 7}),
        GROUP_CASE(texts_are_scanned_exclusively_and_in_segments),
        GROUP_CASE(failures_end_exclusive_and_segmented_scans),
    };
}

} // namespace sextant::test
