// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_filter.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <set>
#include <string>

#include "tests/lab/case_files.hpp"
#include <gmock/gmock.h>

namespace sextant::lab {
namespace {

using testing::HasSubstr;

/// The benchmark's results on rank 0, with few rounds. The benchmark throws if the bits of a
/// configuration differ from those of a single rank.
FilterResults timed_filters(int ranks, const FilterCase& what) {
    ContestOptions options;
    options.rounds = 3;
    options.least_turn = 0;
    FilterResults first;
    run_threads(ranks, [&](Communicator communicator) {
        FilterResults results = bench_filter(communicator, what, options);
        if (communicator.rank() == 0)
            first = std::move(results);
    });
    return first;
}

TEST(BenchFilter, times_the_chosen_and_other_configurations_and_compares_their_bits) {
    for (const int ranks : {1, 2, 3}) {
        for (const ElementFormat& element : {gray_f32, gray_u8, gray_u16}) {
            FilterCase what;
            what.shape = {61, 47};
            what.element = element;
            what.filter = {1, {"x", "laplacian"}, {}};
            const FilterResults results = timed_filters(ranks, what);
            std::set<std::string> names;
            for (const FilterResult& result : results.results) {
                names.insert(result.name);
                EXPECT_GT(result.wall.median, 0);
            }
            EXPECT_EQ(names.size(), results.results.size()) << "a configuration is timed twice";
            EXPECT_EQ(results.results.size() > 1, ranks > 1);
            EXPECT_EQ(results.results.front().ratio.median, 1);
            EXPECT_TRUE(names.contains(results.by_wall.best));
            EXPECT_TRUE(names.contains(results.by_cpu.best));
            EXPECT_GT(results.cpu_noise.median, 0);
            EXPECT_GT(results.control.cpu.median, 0);
        }
    }
}

TEST(BenchFilter, omits_the_configurations_predicted_to_be_slowest) {
    FilterCase what;
    what.shape = {32, 32};
    what.filter.sigma = 1;
    what.most = 3;
    const FilterResults results = timed_filters(2, what);
    EXPECT_EQ(results.results.size(), 3u);
    EXPECT_GT(results.left_out, 0);
}

TEST(BenchFilter, refuses_invalid_cases) {
    const auto said = [](const std::string& fields) {
        return test::complaint(read_filter_cases, "{\"cases\": [{" + fields + "}]}");
    };
    EXPECT_EQ(said(R"("sigma": 2, "element": "u8")"), "");
    EXPECT_THAT(said(R"("sigma": 0.1)"), HasSubstr("sigma is 0.1"));
    EXPECT_THAT(said(R"("element": "f16")"), HasSubstr("'f16'"));
    EXPECT_THAT(said(R"("derivatives": ["z"])"), HasSubstr("'z'"));
}

} // namespace
} // namespace sextant::lab
