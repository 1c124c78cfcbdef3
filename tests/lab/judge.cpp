// SPDX-License-Identifier: BSD-3-Clause
// Regret, noise floor and errors, from measurements with a known verdict.
#include "sextant/core/error.hpp"
#include "sextant/lab/evaluate.hpp"
#include "sextant/lab/evaluation.hpp"

#include <fstream>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::lab {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Two configurations of 2 ranks in four launches; every second launch is three times as slow.
Evaluation evaluation(const std::string& chosen) {
    Evaluation made;
    made.seed = 7;
    made.ranks = 2;
    made.transport = "threads";
    made.host = made.machine = made.date = "x";
    made.round_trips = {1e-6, 2e-6, 1e-6, 2e-6};
    EvaluatedCase one;
    one.what.name = "first";
    one.what.image = "dense";
    one.chosen = chosen;
    one.configurations = {{"binary-swap", false, 1.1, {1, 3, 1, 3}},
                          {"direct-send", false, 2.4, {2, 6, 2, 6}},
                          {"mpi-reduce-scatter", true, std::nullopt, {.5, 1.5, .5, 1.5}}};
    made.cases = {one};
    return made;
}

TEST(Judge, compares_configurations_within_each_launch) {
    const Verdict bad = judge(evaluation("direct-send"));
    EXPECT_THAT(bad.planner.values, ElementsAre(DoubleNear(1, 1e-12)));
    ASSERT_EQ(bad.losses.size(), 1u);
    EXPECT_EQ(bad.losses[0].best, "binary-swap");
    const Verdict good = judge(evaluation("binary-swap"));
    EXPECT_THAT(good.planner.values, ElementsAre(0));
    EXPECT_TRUE(good.losses.empty());
    EXPECT_THAT(good.floor.values, ElementsAre(0));
}

TEST(Judge, computes_the_regret_of_fixed_policies) {
    for (const Regrets& policy : judge(evaluation("binary-swap")).policies) {
        const double expected = policy.policy.starts_with("binary swap") ? 0
                                : policy.policy == "direct send"         ? 1
                                : policy.policy.starts_with("MPI_")      ? -.5
                                                                         : -1;
        EXPECT_THAT(policy.values, ElementsAre(DoubleNear(expected, 1e-12))) << policy.policy;
    }
}

TEST(Judge, weights_cases_of_all_machines_equally) {
    const std::vector<Evaluation> both{evaluation("direct-send"), evaluation("binary-swap")};
    const Verdict verdict = judge(both);
    EXPECT_THAT(verdict.planner.values, ElementsAre(DoubleNear(1, 1e-12), 0));
    EXPECT_NEAR(verdict.planner.mean(), .5, 1e-12);
    EXPECT_EQ(verdict.losses.size(), 1u);
    EXPECT_EQ(verdict.policies.front().values.size(), 2u);
}

TEST(Winners, use_the_best_parameters_of_each_algorithm) {
    Evaluation few = evaluation("binary-swap"), many = evaluation("binary-swap");
    many.ranks = 4;
    many.cases[0].configurations = {{"radix-k, radices 2,2", false, std::nullopt, {2}},
                                    {"radix-k, radices 4", false, std::nullopt, {1}},
                                    {"shift-based, window 1", false, std::nullopt, {1.5}}};
    const WinnerMap map = winners(std::vector{few, many});
    EXPECT_THAT(map.rows, ElementsAre("2 ranks", "4 ranks"));
    EXPECT_EQ(map.cells[0][0].winner, "binary-swap");
    EXPECT_EQ(map.cells[0][0].detail, "+100 % direct-send");
    EXPECT_EQ(map.cells[1][0].winner, "direct-send");
    EXPECT_EQ(map.cells[1][0].detail, "+50 % shift-based");
    many.host = "another";
    EXPECT_THROW(winners(std::vector{few, many}), InvalidTask);
}

TEST(Winners, count_radix_k_as_hierarchical_if_early_rounds_stay_within_nodes) {
    Evaluation cluster = evaluation("binary-swap");
    cluster.transport = "simulated";
    cluster.ranks = 16;
    cluster.cores = 4;
    const auto winner = [&](const std::string& radices) {
        cluster.cases[0].configurations = {
            {"radix-k, radices " + radices, false, std::nullopt, {1}},
            {"direct-send", false, std::nullopt, {2}}};
        return winners(std::vector{cluster}).cells[0][0].winner;
    };
    EXPECT_EQ(winner("4,2,2"), "hierarchical radix-k");
    EXPECT_EQ(winner("2,2,4"), "hierarchical radix-k");
    EXPECT_EQ(winner("2,4,2"), "radix-k");
    EXPECT_EQ(winner("8,2"), "radix-k");
    cluster.cores = 64; // all on one node
    EXPECT_EQ(winner("4,2,2"), "radix-k");
}

TEST(Judge, reports_a_noise_floor_if_halves_of_the_launches_disagree) {
    Evaluation noisy = evaluation("binary-swap");
    noisy.cases[0].configurations = {{"binary-swap", false, 1.0, {1, 2, 1, 2}},
                                     {"direct-send", false, 1.0, {2, 1, 2, 1}}};
    EXPECT_GT(judge(noisy).floor.mean(), .5);
}

TEST(Judge, compares_predictions_with_median_times) {
    EXPECT_THAT(judge(evaluation("binary-swap")).errors,
                ElementsAre(DoubleNear(1 - 1.1 / 3, 1e-12), DoubleNear(1 - 2.4 / 6, 1e-12)));
}

TEST(Evaluation, can_be_written_read_back_and_extended_by_launches) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("evaluation.json");
    std::ofstream(path) << to_json(evaluation("direct-send"));
    Evaluation read = read_evaluation(path);
    EXPECT_EQ(to_json(read), to_json(evaluation("direct-send")));
    add_launches(read, evaluation("direct-send"));
    EXPECT_EQ(read.cases[0].configurations[0].measured.size(), 8u);
    EXPECT_THROW(add_launches(read, evaluation("binary-swap")), InvalidTask);
    const std::string good = to_json(evaluation("direct-send"));
    for (std::size_t length = 0; length + 1 < good.size(); length += 11) {
        std::ofstream(path) << good.substr(0, length);
        EXPECT_THROW(read_evaluation(path), InvalidFile) << length;
    }
}

TEST(Evaluation, that_cannot_be_judged_is_refused) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("evaluation.json");
    const auto refusal = [&](const Evaluation& written) -> std::string {
        std::ofstream(path) << to_json(written);
        return test::message_of<InvalidFile>([&] { read_evaluation(path); });
    };
    Evaluation uneven = evaluation("direct-send");
    uneven.cases[0].configurations[1].measured = {2, 6};
    EXPECT_THAT(refusal(uneven), testing::HasSubstr("cases[0].configurations[1].measured has 2 "
                                                    "times, expected 4, one per launch"));
    Evaluation instant = evaluation("direct-send");
    instant.cases[0].configurations[0].measured[3] = 0;
    EXPECT_THAT(refusal(instant), testing::HasSubstr("configurations[0].measured[3] is 0"));
    Evaluation baselines = evaluation("direct-send");
    for (EvaluatedConfiguration& configuration : baselines.cases[0].configurations)
        configuration.baseline = true;
    EXPECT_THAT(refusal(baselines),
                testing::HasSubstr("cases[0].configurations has only baselines"));
}

TEST(Evaluation, of_radices_that_are_not_numbers_is_shown_in_the_map) {
    Evaluation odd = evaluation("radix-k, radices x,2");
    odd.transport = "simulated";
    odd.ranks = 8;
    odd.cores = 2;
    odd.cases[0].configurations = {{"radix-k, radices x,2", false, {}, {1}},
                                   {"radix-k, radices 2000000000,2000000000", false, {}, {2}}};
    EXPECT_EQ(winners(std::span(&odd, 1)).cells[0][0].winner, "radix-k");
}

TEST(DrawnCases, are_reproducible_from_a_seed_and_span_the_stated_range) {
    const auto cases = draw_cases(2026, 200), again = draw_cases(2026, 200);
    Elements least = 1 << 30, most = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(cases[i].name, again[i].name);
        least = std::min(least, cases[i].shape.elements());
        most = std::max(most, cases[i].shape.elements());
    }
    EXPECT_LT(least, 128);
    EXPECT_GT(most, 4 << 20);
    EXPECT_LE(most, 9 << 20);
    EXPECT_NE(draw_cases(1, 3)[0].name, draw_cases(2, 3)[0].name);
}

} // namespace
} // namespace sextant::lab
