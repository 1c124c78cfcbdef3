// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_collective.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <set>
#include <string>

#include "tests/lab/case_files.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::test {
namespace {

using lab::CollectiveCase;
using lab::CollectiveResults;

lab::ContestOptions brief() {
    lab::ContestOptions options;
    options.rounds = 3;
    options.least_turn = 0;
    return options;
}

/// The benchmark's results on rank 0.
CollectiveResults bench(int ranks, const CollectiveCase& what) {
    CollectiveResults first;
    run_threads(ranks, [&](Communicator communicator) {
        CollectiveResults results = lab::bench_collective(communicator, what, brief());
        if (communicator.rank() == 0)
            first = std::move(results);
    });
    return first;
}

TEST(BenchCollective, every_algorithm_is_timed_at_every_size_and_verified) {
    for (const int ranks : {1, 2, 3, 6}) {
        std::set<std::string> timed;
        for (CollectiveCase& what : lab::usual_collective_cases()) {
            what.sizes = {0, 1, 7, 64, 1000};
            const CollectiveResults results = bench(ranks, what); // throws if a result is wrong
            ASSERT_EQ(results.sizes.size(), what.sizes.size());
            for (const auto& of_size : results.sizes) {
                for (const auto& result : of_size.results)
                    timed.insert(result.name);
            }
        }
        EXPECT_EQ(timed.size(), collective::catalogue().size());
    }
}

TEST(BenchCollective, sizes_are_bytes_per_block) {
    CollectiveCase what;
    for (const int ranks : {1, 4, 6, 7}) {
        for (const bool tiles : {false, true}) {
            what.tiles = tiles;
            for (const Bytes size : {0, 1, 12, 64, 97}) {
                const Grid grid = lab::grid_of(what, size, ranks);
                ASSERT_EQ(grid.ranks(), ranks);
                for (int rank = 0; rank < ranks; ++rank)
                    EXPECT_EQ(tile(grid, rank).elements(), size);
            }
        }
    }
    EXPECT_EQ(tile(lab::grid_of(what, 64, 4), 0).width, 8);
    what = {};
    EXPECT_EQ(tile(lab::grid_of(what, 64, 4), 0).height, 1) << "in one piece";
    what.what = CollectiveKind::broadcast;
    const Grid all = lab::grid_of(what, 97, 6);
    EXPECT_EQ(all.width * all.height, 97);
    what.what = CollectiveKind::all_to_all;
    const Grid pairs = lab::grid_of(what, 5, 6);
    EXPECT_EQ(pairs.width * pairs.height, 5 * 6 * 6);
}

TEST(BenchCollective, tables_have_the_format_of_the_osu_benchmarks) {
    CollectiveCase what;
    what.name = "scatter";
    what.sizes = {1, 1024};
    what.algorithms = {"flat-scatter", "binomial-scatter"};
    const CollectiveResults results = bench(3, what);
    const std::string text = to_text(results, "threads", 3);
    EXPECT_THAT(text, testing::HasSubstr("# scatter, 3 ranks over threads; bytes per rank; "
                                         "medians of 3 rounds\n"));
    EXPECT_THAT(text, testing::ContainsRegex("# binomial-scatter\n# Size +Median\\(us\\) +95 %\n"
                                             "1 +[0-9.]+ +\\[[0-9.]+, [0-9.]+\\]\n"
                                             "1024 +[0-9.]+ "));
    EXPECT_THAT(text, testing::ContainsRegex("# flat-scatter\n.*   of binomial-scatter\n"));
    const nlohmann::ordered_json json = to_json(results);
    EXPECT_EQ(json["collective"], "scatter");
    EXPECT_EQ(json["sizes"][1]["size"], 1024);
    EXPECT_EQ(json["sizes"][1]["results"][0]["name"], "binomial-scatter");
    EXPECT_GT(json["sizes"][1]["results"][0]["seconds"]["median"], 0);
}

TEST(BenchCollective, errors_in_cases_are_named) {
    using testing::HasSubstr;
    EXPECT_GE(
        lab::read_collective_cases(test::source_dir() + "/bench/cases/collective.json").size(), 5u);
    const auto said = [](const std::string& fields) {
        return complaint(lab::read_collective_cases, "{\"cases\": [{" + fields + "}]}");
    };
    EXPECT_EQ(said(""), "");
    EXPECT_THAT(said(R"("collective": "scater")"), HasSubstr("did you mean scatter"));
    EXPECT_THAT(said(R"("sizes": [1, -1])"), HasSubstr("cases[0].sizes[1] is -1, expected"));
    EXPECT_THAT(said(R"("sizes": [])"), HasSubstr("cases[0]: sizes is empty"));
    EXPECT_THAT(said(R"("collective": "broadcast", "tiles": true)"),
                HasSubstr("broadcast does not support tiles"));
    EXPECT_THAT(said(R"("algorithms": ["flat-gather"])"),
                HasSubstr("flat-gather is an algorithm for gather, expected one for scatter"));
}

} // namespace
} // namespace sextant::test
