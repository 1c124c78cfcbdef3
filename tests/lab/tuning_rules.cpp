// SPDX-License-Identifier: BSD-3-Clause
// Files that select MPI's algorithms: written, read again, and refused. Rules that launches
// support.
#include "sextant/lab/tuning_rules.hpp"

#include "sextant/core/error.hpp"
#include "sextant/lab/tune_choice.hpp"

#include <functional>
#include <string>

#include "tests/lab/case_files.hpp"
#include <gmock/gmock.h>

namespace sextant::lab {
namespace {

using testing::HasSubstr;

/// A file with this content.
struct RulesFile {
    explicit RulesFile(const std::string& text) { test::fill_file(path, text); }
    const test::TemporaryFolder folder;
    const std::string path = folder.path("rules");
};

std::string refusal(const std::function<void()>& part) {
    return test::message_of<Error>([&] { part(); });
}

std::string refusal_of(const std::string& text) {
    return test::complaint([](const std::string& path) { read_rules(path, 4); }, text);
}

void refuses(const std::string& text, const std::string& message) {
    EXPECT_THAT(refusal_of(text), HasSubstr(message)) << text;
}

TuningRules four_ranks() {
    return {"Open MPI 4.1.4",
            4,
            "host, date",
            {{"bcast", 1024, 8192, {"pipeline", 3, 0, 512}},
             {"bcast", 8192, 65536, {"pipeline", 3, 0, 512}},
             {"bcast", 1 << 20, 1 << 21, {"chain", 2, 4, 0}},
             {"allgather", 16, 128, {"ring", 4}}}};
}

TEST(TuningRules, for_Open_MPI_keep_the_default_for_other_sizes_and_numbers_of_ranks) {
    EXPECT_THAT(to_text(four_ranks()), HasSubstr("2  # operations\n"
                                                 "7  # MPI_Bcast\n"
                                                 "3  # numbers of ranks\n"
                                                 "1\n1  # sizes\n"
                                                 "0 0 0 0  # default\n"
                                                 "4  # ranks\n"
                                                 "5  # sizes\n"
                                                 "0 0 0 0  # default\n"
                                                 "1024 3 0 512  # pipeline, segments of 512\n"
                                                 "65536 0 0 0  # default\n"
                                                 "1048576 2 4 0  # chain\n"
                                                 "2097152 0 0 0  # default\n"
                                                 "5  # ranks or more\n"
                                                 "1  # sizes\n"
                                                 "0 0 0 0  # default\n"));
    // The blocks of all ranks together.
    EXPECT_THAT(to_text(four_ranks()), HasSubstr("64 4 0 0  # ring\n512 0 0 0  # default\n"));
}

TEST(TuningRules, are_read_as_they_were_written) {
    const RulesFile file(to_text(four_ranks()));
    const TuningRules read = read_rules(file.path, 0);
    EXPECT_EQ(read.mpi, "Open MPI 4.1.4");
    EXPECT_EQ(read.ranks, 4);
    EXPECT_EQ(read.origin, "host, date");
    ASSERT_EQ(read.rules.size(), 3u); // neighbouring classes of one algorithm are joined
    EXPECT_EQ(read.rules[0].operation, "bcast");
    EXPECT_EQ(read.rules[0].from, 1024);
    EXPECT_EQ(read.rules[0].to, 65536);
    EXPECT_EQ(read.rules[0].algorithm.number, 3);
    EXPECT_EQ(read.rules[0].algorithm.segment, 512);
    EXPECT_EQ(read.rules[1].algorithm.fanout, 4);
    EXPECT_EQ(read.rules[2].operation, "allgather");
    EXPECT_EQ(read.rules[2].from, 16);
    EXPECT_EQ(read.rules[2].to, 128);
    EXPECT_EQ(to_text(read).substr(0, 60), to_text(four_ranks()).substr(0, 60));
    EXPECT_TRUE(read_rules(file.path, 2).rules.empty());
    EXPECT_TRUE(read_rules(file.path, 5).rules.empty());
}

TEST(TuningRules, written_by_hand_apply_as_Open_MPI_applies_them) {
    // The first entry applies to fewer ranks too, and the last to more.
    const RulesFile file("1 7\n 2\n4\n1\n0 2 4 64\n8 1\n0 6 0 0 # binomial\n");
    for (const auto& [ranks, algorithm] : {std::pair(2, 2), {4, 2}, {7, 2}, {8, 6}, {100, 6}}) {
        const TuningRules rules = read_rules(file.path, ranks);
        ASSERT_EQ(rules.rules.size(), 1u) << ranks;
        EXPECT_EQ(rules.rules[0].algorithm.number, algorithm) << ranks;
        EXPECT_EQ(rules.rules[0].to, TuningRule::no_limit);
        EXPECT_EQ(refusal([&] { require_match(rules, "f", "Open MPI 4.1.4", ranks); }), "");
    }
}

TEST(TuningRules, that_are_damaged_are_refused_with_the_line) {
    refuses("", "ends early: expected the number of operations");
    refuses("1\n7\n", "expected the number of communicator sizes");
    refuses("1\n7\n1\n4\n1\n16 2 0 0\n", "line 6: '16', expected the first message size 0");
    refuses("1\n7\n1\n4\n2\n0 2 0 0\n0 3 0 0\n",
            "line 7: '0', expected a message size, a number from 1");
    refuses("1\n7\n2\n4\n1\n0 2 0 0\n4\n1\n0 2 0 0\n",
            "line 7: '4', expected a communicator size, a number from 5");
    refuses("1\n7\n1\n4\n1\n0 -2 0 0\n", "line 6: '-2', expected an alg");
    refuses("0\n5\n", "line 2: '5', expected the end of the file");
    refuses("99999999999\n", "expected the number of operations, a num");
    refuses("# ranks: many\n0\n", "line 1: 'many', expected a number of");
    refuses("export PATH=x\n", "line 1: 'PATH=x', expected the algorithm");
    refuses("export MPIR_CVAR_BCAST_INTRA_ALGORITHM=$(reboot)\n",
            "expected the name of an algorithm after '='");
    EXPECT_THAT(refusal([] { read_rules("/no/such/file", 2); }), HasSubstr("/no/such/file"));
}

TEST(TuningRules, for_another_version_or_number_of_ranks_are_refused) {
    const TuningRules rules = four_ranks();
    EXPECT_NO_THROW(require_match(rules, "f", "Open MPI 4.1.4", 4));
    for (const char* const other : {"Open MPI 4.1.5", "MPICH 4.0.2"})
        EXPECT_THROW(require_match(rules, "f", other, 4), InvalidTask) << other;
    EXPECT_THROW(require_match(rules, "f", "Open MPI 4.1.4", 2), InvalidTask);
}

TEST(TuningRules, for_MPICH_are_an_environment) {
    TuningRules rules{"MPICH 4.0.2", 2, "host", {{.operation = "allgather", .algorithm = {}}}};
    rules.rules[0].algorithm = {"brucks", 1};
    EXPECT_THAT(to_text(rules), HasSubstr("\nexport MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=brucks\n"));
    const RulesFile file(to_text(rules));
    const TuningRules read = read_rules(file.path, 2);
    ASSERT_EQ(read.rules.size(), 1u);
    EXPECT_EQ(read.rules[0].operation, "allgather");
    EXPECT_EQ(read.rules[0].algorithm.name, "brucks");
    const std::vector<Variable> variables = environment_of(read, file.path);
    ASSERT_EQ(variables.size(), 1u);
    EXPECT_EQ(variables[0].name, "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM");
    EXPECT_EQ(variables[0].value, "brucks");
}

/// The times of an algorithm in three rounds.
AlgorithmTimes timed(std::string_view operation, Bytes size, const MpiAlgorithm& algorithm,
                     Seconds most, bool in_order = true) {
    AlgorithmTimes times;
    times.operation = operation;
    times.size = size;
    times.algorithm = algorithm;
    times.in_order = in_order;
    for (const double factor : {1.0, 1.01, 1.02}) {
        times.wall.push_back(most * factor);
        times.average.push_back(most * factor / 2);
        times.least.push_back(most * factor / 4);
        times.cpu.push_back(most * factor * 3);
    }
    return times;
}

const MpiAlgorithm binomial{"binomial", 6}, pipeline{"pipeline", 3},
    pipeline_512{"pipeline", 3, 0, 512};

TuneLaunch launch_with(std::vector<AlgorithmTimes> times,
                       const std::string& mpi = "Open MPI 4.1.4") {
    return {mpi, "host", "date", 4, false, std::move(times)};
}

std::vector<TuneLaunch> three(const TuneLaunch& launch) {
    return {launch, launch, launch};
}

TEST(ChosenRules, are_for_classes_at_both_ends_of_which_the_algorithm_is_faster) {
    const auto launches = three(
        launch_with({timed("bcast", 16, {}, 10), timed("bcast", 128, {}, 10),
                     timed("bcast", 1024, {}, 10), timed("bcast", 16, binomial, 10),
                     timed("bcast", 128, binomial, 5), timed("bcast", 1024, binomial, 8),
                     timed("bcast", 16, pipeline, 8), timed("bcast", 128, pipeline, 9),
                     timed("bcast", 1024, pipeline, 11), timed("bcast", 1024, pipeline_512, 2)}));
    const std::vector<TunedRule> rules = choose_rules(launches, false);
    ASSERT_EQ(rules.size(), 2u);
    EXPECT_EQ(rules[0].rule, (TuningRule{"bcast", 16, 128, binomial}));
    // At 128 bytes, messages are not divided: these are the times of the undivided pipeline.
    EXPECT_EQ(rules[1].rule, (TuningRule{"bcast", 128, 1024, pipeline_512}));
    EXPECT_DOUBLE_EQ(rules[1].chosen.worst, .9);
    EXPECT_EQ(rules[1].chosen.worst_size, 128);
}

TEST(ChosenRules, need_every_launch_and_five_percent) {
    const auto with_binomial = [](Seconds time) {
        return launch_with({timed("bcast", 16, {}, 10), timed("bcast", 128, {}, 10),
                            timed("bcast", 16, binomial, time),
                            timed("bcast", 128, binomial, time)});
    };
    EXPECT_EQ(choose_rules(three(with_binomial(9)), false).size(), 1u);
    EXPECT_TRUE(choose_rules(three(with_binomial(9.7)), false).empty());
    EXPECT_TRUE(choose_rules(three(with_binomial(10)), false).empty());
    const std::vector<TuneLaunch> noisy{with_binomial(5), with_binomial(5), with_binomial(10.5)};
    EXPECT_TRUE(choose_rules(noisy, false).empty());
}

TEST(ChosenRules, leave_out_algorithms_that_reorder_operands_or_fail) {
    auto launch =
        launch_with({timed("reduce", 16, {}, 10), timed("reduce", 128, {}, 10),
                     timed("reduce", 16, binomial, 5), timed("reduce", 128, binomial, 5, false)});
    EXPECT_TRUE(choose_rules(three(launch), false).empty());
    EXPECT_EQ(choose_rules(three(launch), true).size(), 1u);
    launch.times.back().refused = "needs two ranks";
    EXPECT_TRUE(choose_rules(three(launch), true).empty());
}

TEST(ChosenRules, for_MPICH_are_for_all_sizes_together) {
    const auto at_128 = [](Seconds time) {
        return three(
            launch_with({timed("bcast", 16, {}, 10), timed("bcast", 128, {}, 10),
                         timed("bcast", 16, binomial, 5), timed("bcast", 128, binomial, time)},
                        "MPICH 4.0.2"));
    };
    ASSERT_EQ(choose_rules(at_128(10), false).size(), 1u);
    EXPECT_EQ(choose_rules(at_128(10), false)[0].rule,
              (TuningRule{"bcast", 0, TuningRule::no_limit, binomial}));
    EXPECT_TRUE(choose_rules(at_128(11), false).empty()) << "slower at 128 bytes";
}

TEST(ChosenRules, use_CPU_time_where_ranks_outnumber_cores) {
    auto launch = launch_with({timed("bcast", 16, {}, 10), timed("bcast", 128, {}, 10),
                               timed("bcast", 16, binomial, 5), timed("bcast", 128, binomial, 5)});
    for (AlgorithmTimes& each : launch.times) {
        if (each.algorithm.number == 6)
            each.cpu.assign(3, 40);
    }
    EXPECT_EQ(choose_rules(three(launch), false).size(), 1u);
    launch.crowded = true;
    EXPECT_TRUE(choose_rules(three(launch), false).empty());
}

TEST(ChosenRules, refuse_launches_of_different_ranks) {
    std::vector<TuneLaunch> launches = three(launch_with({}));
    launches[2].ranks = 3;
    EXPECT_THAT(refusal([&] { choose_rules(launches, false); }),
                HasSubstr("one has 4 ranks of Open MPI 4.1.4, another 3 ranks"));
}

TEST(VerifiedRules, are_kept_if_no_size_of_the_class_is_slower) {
    const TuningRule rule{"bcast", 16, 128, binomial};
    EXPECT_EQ(sizes_to_verify(rule, std::vector<std::int64_t>{16, 128}),
              (std::vector<std::int64_t>{16, 48, 124}));
    const auto with = [](Seconds at_124) {
        return launch_with({timed("bcast", 16, {}, 5), timed("bcast", 48, {}, 5),
                            timed("bcast", 124, {}, at_124), timed("bcast", 128, {}, 90)});
    };
    const auto without =
        three(launch_with({timed("bcast", 16, {}, 10), timed("bcast", 48, {}, 10),
                           timed("bcast", 124, {}, 10), timed("bcast", 128, {}, 10)}));
    std::vector<TunedRule> rules{{rule, {}, {}}};
    verify_rules(rules, without, three(with(10)));
    EXPECT_TRUE(rules[0].kept());
    verify_rules(rules, without, three(with(11)));
    EXPECT_FALSE(rules[0].kept());
    EXPECT_EQ(rules[0].verified.worst_size, 124);
    EXPECT_NEAR(rules[0].verified.worst, 1.1, 1e-12);
}

TEST(TuneReports, have_tables_of_the_OSU_benchmarks_and_CSV) {
    TuneResults results;
    results.measured = {launch_with({timed("bcast", 16, {}, 4e-6), timed("bcast", 128, {}, 8e-6)})};
    EXPECT_THAT(latency_tables(results),
                HasSubstr("# MPI_Bcast, default\n"
                          "# Size          Avg Lat(us)    Min Lat(us)    Max Lat(us)\n"
                          "16                     2.02           1.01           4.04\n"
                          "128                    4.04           2.02           8.08\n"));
    EXPECT_THAT(csv_of(results), HasSubstr("bcast,\"default\",16,2.02,1.01,4.04,12.12\n"));
    EXPECT_THAT(rules_table(results), HasSubstr("no rules: no other algorithm of MPI is faster"));
}

TEST(TuneLaunches, are_read_as_they_were_written) {
    AlgorithmTimes refused = timed("reduce", 16, pipeline_512, 1, false);
    refused.wall.clear();
    refused.refused = "rank 1: not supported";
    const RulesFile file(to_json(launch_with({timed("bcast", 16, {}, 1), refused})));
    const TuneLaunch read = read_launch(file.path);
    EXPECT_EQ(read.ranks, 4);
    EXPECT_FALSE(read.crowded);
    ASSERT_EQ(read.times.size(), 2u);
    EXPECT_EQ(read.times[0].wall, timed("bcast", 16, {}, 1).wall);
    EXPECT_EQ(read.times[1].algorithm, pipeline_512);
    EXPECT_EQ(read.times[1].refused, "rank 1: not supported");
    EXPECT_FALSE(read.times[1].in_order);
}

} // namespace
} // namespace sextant::lab
