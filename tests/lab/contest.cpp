// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/contest.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/bench_composite.hpp"

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "tests/lab/case_files.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using lab::CompositeCase;

TEST(Contest, all_ranks_use_the_same_order_and_each_round_includes_all_contestants) {
    constexpr int ranks = 3, contestants = 4, rounds = 9;
    std::array<std::string, ranks> turns;
    run_threads(ranks, [&](Communicator communicator) {
        std::string& own = turns[static_cast<std::size_t>(communicator.rank())];
        std::vector<std::function<void()>> works;
        for (char name = 'a'; name < 'a' + contestants; ++name)
            works.push_back([&own, name] { own += name; });
        lab::ContestOptions options;
        options.rounds = rounds;
        options.least_turn = 0; // each contestant runs once per round
        const auto scores = lab::contest(communicator, works, options);
        EXPECT_EQ(scores.size(), works.size());
        for (const auto& score : scores)
            EXPECT_EQ(score.wall.size(), std::size_t{rounds});
    });
    EXPECT_EQ(turns[0], turns[1]);
    EXPECT_EQ(turns[0], turns[2]);
    EXPECT_EQ(turns[0].size(), std::size_t{contestants * (rounds + 2)});
    bool reordered = false;
    for (std::size_t round = 0; round < turns[0].size(); round += contestants) {
        std::string sorted = turns[0].substr(round, contestants);
        reordered = reordered || sorted != turns[0].substr(0, contestants);
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, "abcd");
    }
    EXPECT_TRUE(reordered);
}

TEST(Contest, with_barriers_no_rank_runs_ahead) {
    std::array<std::atomic<int>, 2> done{};
    std::atomic<int> farthest = 0;
    run_threads(2, [&](Communicator communicator) {
        const auto self = static_cast<std::size_t>(communicator.rank());
        const std::vector<std::function<void()>> works = {[&] {
            if (self == 1)
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            const int ahead = ++done[self] - done[1 - self];
            farthest = std::max(farthest.load(), ahead);
        }};
        lab::ContestOptions options;
        options.rounds = 5;
        options.barriers = true;
        options.most_repeats = 7;
        options.least_turn = 1e9; // each contestant repeats as often as allowed
        const auto scores = lab::contest(communicator, works, options);
        EXPECT_EQ(done[self], 1 + 8 + 5 * 8) << "the second turn of warm-up repeats too; one "
                                                "repetition of each is not timed";
    });
    EXPECT_EQ(farthest, 1);
}

TEST(Contest, ratios_are_computed_per_round) {
    const auto ratio =
        lab::estimate_ratio(std::vector<double>{2, 20, 200}, std::vector<double>{1, 10, 100});
    EXPECT_EQ(ratio.median, 2);
    EXPECT_EQ(ratio.interval.low, 2);
    EXPECT_EQ(ratio.interval.high, 2);
}

TEST(BenchComposite, counts_the_bytes_sent_by_the_busiest_rank) {
    run_threads(4, [](Communicator communicator) {
        CompositeCase what;
        what.shape = {40, 10};
        what.algorithms = {"direct-send", "binary-swap"};
        lab::ContestOptions options;
        options.rounds = 5;
        options.least_turn = 0;
        const auto results = lab::bench_composite(communicator, what, options);
        ASSERT_EQ(results.results.size(), 2u);
        EXPECT_EQ(results.results[0].messages, 3);
        EXPECT_EQ(results.results[1].messages, 2);
        EXPECT_EQ(results.results[0].pixels, 300);
        EXPECT_EQ(results.reference, "direct-send");
    });
}

TEST(BenchComposite, every_pattern_and_operator_agrees_with_a_serial_fold) {
    run_threads(5, [](Communicator communicator) {
        const std::pair<const char*, const char*> kinds[] = {
            {"over", "f32"}, {"over", "f16"},    {"over", "u8"},    {"add", "f32"},
            {"max", "u8"},   {"nearest", "f32"}, {"nearest", "u8"},
        };
        for (const auto& [blend, element] : kinds) {
            for (const std::string_view image : lab::image_patterns()) {
                CompositeCase what;
                what.shape = {61, 47};
                what.blend = blend;
                what.element = element;
                what.image = image;
                what.collect = image == "ellipse";
                lab::ContestOptions options;
                options.rounds = 5;
                options.least_turn = 0;
                lab::bench_composite(communicator, what, options); // throws if a result is wrong
            }
        }
    });
}

TEST(BenchCases, the_cases_in_the_repository_can_be_read) {
    const auto cases =
        lab::read_composite_cases(test::source_dir() + "/bench/cases/composite.json");
    EXPECT_GE(cases.size(), 5u);
}

TEST(BenchCases, errors_are_reported_with_their_case) {
    const auto said = [](const std::string& one) {
        return complaint(lab::read_composite_cases, "{\"cases\": [" + one + "]}");
    };
    using testing::HasSubstr;
    EXPECT_THAT(complaint(lab::read_composite_cases, "{}"), HasSubstr("cases is missing"));
    EXPECT_THAT(said(""), HasSubstr("cases is an array of 0, expected one or more"));
    EXPECT_THAT(said("{}, 5"), HasSubstr("cases[1] is 5, expected a JSON object"));
    EXPECT_THAT(said(R"({"width": 0})"), HasSubstr("cases[0].width is 0, expected a whole"));
    EXPECT_THAT(said(R"({"operator": "ovr"})"), HasSubstr("cases[0]: unknown operator 'ovr'"));
    EXPECT_THAT(said(R"({"operator": "nearest", "element": "f16"})"),
                HasSubstr("cases[0]: the operator 'nearest' does not support rgba f16"));
    EXPECT_THAT(said(R"({"image": "ellipsis"})"), HasSubstr("did you mean ellipse"));
    EXPECT_THAT(said(R"({"algorithms": ["radix"]})"), HasSubstr("algorithm 'radix'"));
}

} // namespace
} // namespace sextant::test
