// SPDX-License-Identifier: BSD-3-Clause
// Benchmarks of scans, timed and simulated. Measured times are not checked.
#include "sextant/lab/bench_scan.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <string>

#include "tests/lab/case_files.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {
namespace {

using Kind = scan::Distribution::Kind;

ScanCase small_case() {
    ScanCase what;
    what.values = 11;
    what.times = {Kind::exponential, 1e-5};
    what.threads = {1, 2};
    return what;
}

TEST(BenchScan, times_every_configuration_and_counts_its_operator_applications) {
    ContestOptions options;
    options.rounds = 5;
    options.least_turn = 0;
    run_threads(3, [&](const Communicator& communicator) {
        const ScanCase what = small_case();
        const ScanResults results = bench_scan(communicator, what, options);
        EXPECT_EQ(results.results.size(), configurations_of(what).size());
        for (const ScanResult& result : results.results) {
            EXPECT_TRUE(result.measured.has_value());
            if (communicator.rank() > 0)
                continue;
            EXPECT_GE(result.usage.applications, 10) << result.name;
            EXPECT_EQ(result.bars.size(), static_cast<std::size_t>(result.usage.applications));
            EXPECT_GT(result.rehearsed->median, 0);
        }
    });
}

TEST(BenchScan, with_a_simulated_clock_is_reproducible_for_any_number_of_ranks) {
    ScanCase what = small_case();
    what.values = 600;
    what.algorithms = {"sklansky"};
    const ScanResults results = rehearse_scan(what, 300, 3), again = rehearse_scan(what, 300, 3);
    EXPECT_EQ(to_json(results), to_json(again));
    for (const ScanResult& result : results.results)
        EXPECT_FALSE(result.measured.has_value());
    what.neighbours = 2;
    const ScanResults with_neighbours = rehearse_scan(what, 300, 3);
    for (std::size_t i = 0; i < results.results.size(); ++i) {
        EXPECT_GT(with_neighbours.results[i].rehearsed->median,
                  results.results[i].rehearsed->median);
    }
}

TEST(BenchScan, with_constant_times_on_a_simulated_clock_matches_published_bounds) {
    ScanCase what;
    what.values = 4096;
    what.times = {Kind::constant, 1};
    what.strategies = {"reduce-then-scan"};
    what.algorithms = {"kogge-stone"};
    const ScanResults results = rehearse_scan(what, 1024, 1);
    EXPECT_EQ(results.results[0].rehearsed->median, 16); // 3 + 10 + 3 applications
    EXPECT_EQ(results.serial, 4095);
    EXPECT_NEAR(results.results[0].usage.efficiency, .25, .001);
}

TEST(BenchScan, draws_the_fastest_configuration_with_one_bar_per_operator_application) {
    const ScanResults results = rehearse_scan(small_case(), 3, 1);
    const std::string picture = picture_of(results);
    const auto json = to_json(results);
    std::size_t bars = 0;
    for (std::size_t at = picture.find("\"bar kind-"); at != picture.npos;
         at = picture.find("\"bar kind-", at + 1))
        ++bars;
    EXPECT_EQ(bars, json["trace_of_fastest"].size());
    EXPECT_GT(bars, 0u);
    EXPECT_NE(picture.find(json["fastest"].get<std::string>()), picture.npos);
}

TEST(ScanCases, report_their_errors) {
    const auto said = [](const std::string& fields) {
        return test::complaint(read_scan_cases, "{\"cases\": [{" + fields + "}]}");
    };
    using testing::HasSubstr;
    EXPECT_EQ(said(""), "");
    EXPECT_THAT(said(R"("valeus": 4)"), HasSubstr("field 'valeus'; did you mean values"));
    EXPECT_THAT(said(R"("threads": [])"), HasSubstr("threads is empty"));
    EXPECT_THAT(said(R"("boundaries": ["movign"])"), HasSubstr("did you mean moving"));
    EXPECT_THAT(said(R"("neighbours": -1)"), HasSubstr("cases[0].neighbours is -1"));
    EXPECT_THAT(said(R"("algorithms": ["koggestone"])"), HasSubstr("kogge-stone"));
    EXPECT_THAT(said(R"("times": {"kind": "recorded"})"), HasSubstr("expected one or more"));
    EXPECT_THAT(said(R"("times": {"kind": "correlated", "correlation": 1})"),
                HasSubstr("less than 1"));
    EXPECT_THAT(said(R"("strategies": ["scan-then-propagate"], "threads": [2])"),
                HasSubstr("no strategy supports"));
}

TEST(MockOperator, joins_only_adjacent_intervals) {
    for (const bool busy : {false, true}) {
        SleepError error;
        const scan::OperatorTime time = [](const scan::Application&) { return 1e-5; };
        const Operator op = mock_operator(time, busy, error);
        const scan::Interval a{0, 2}, b{2, 5};
        scan::Interval sum;
        const auto bytes = [](const scan::Interval& i) {
            return reinterpret_cast<const std::byte*>(&i);
        };
        op.fold(std::array{bytes(a), bytes(b)}, reinterpret_cast<std::byte*>(&sum), 1);
        EXPECT_EQ(sum, (scan::Interval{0, 5}));
        EXPECT_THROW(op.fold(std::array{bytes(b), bytes(a)}, reinterpret_cast<std::byte*>(&sum), 1),
                     std::logic_error);
        EXPECT_EQ(error.sleeps, busy ? 0 : 1);
    }
}

} // namespace
} // namespace sextant::lab
