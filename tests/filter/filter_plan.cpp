// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/filter_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

distributed::FilterTask five_of(ImageShape image, int ranks,
                                const ElementFormat& element = gray_f32) {
    return {.filters = {{3, {"x", "y", "xx", "xy", "yy"}, {}}},
            .image = image,
            .element = element,
            .ranks = ranks};
}

machine::Profile das() {
    return machine::read_profile(source_dir() + "/machines/das.json");
}

distributed::FilterPlan on_das(const distributed::FilterTask& task) {
    const machine::Profile machine = das();
    return distributed::plan_filter(task, {.machine = machine, .element_size = 4});
}

TEST(FilterPlan, compares_all_grids_and_chooses_strips_if_gathering_dominates) {
    const distributed::FilterPlan plan = on_das(five_of({512, 512}, 16));
    // Five grids, each with six gathers or none. The profile has no copy costs, so there are no
    // candidates with packing.
    EXPECT_EQ(plan.alternatives.size(), 5u * 7);
    EXPECT_EQ(plan.configuration, (filtering::Configuration{1, 16}));
    EXPECT_EQ(plan.model, "p3pc-extended");
    // The time of five flat gathers of 27.03 ms each and a short halo exchange.
    ASSERT_TRUE(plan.expected());
    EXPECT_NEAR(*plan.expected(), 5 * 27.03e-3, 2e-3);
}

TEST(FilterPlan, changes_the_grid_between_filters_if_that_is_faster) {
    distributed::FilterTask task = five_of({512, 512}, 64);
    EXPECT_EQ(on_das(task).configuration, (filtering::Configuration{1, 64}))
        << "one filter cannot change tiles";
    task.filters.insert(task.filters.begin(), 2, {3, {"smooth"}, {}});
    const distributed::FilterPlan plan = on_das(task);
    // Square tiles have the shortest borders; strips are the fastest to collect.
    EXPECT_EQ(plan.configuration, (filtering::Configuration{8, 8, {}, {}, false, {{2, 1, 64}}}));
    for (const auto& other : plan.alternatives) {
        EXPECT_GE(other.expected ? other.expected->seconds : 1, *plan.expected());
        EXPECT_TRUE(!(other.configuration == plan.configuration) ||
                    &other == &plan.alternatives[0]);
    }
    task.grid = Tiles{8, 8};
    EXPECT_EQ(on_das(task).configuration.retilings.size(), 0u) << "asked for";
}

TEST(FilterPlan, predicts_less_time_for_moving_8_bit_images_than_for_floats) {
    const distributed::FilterTask floats = five_of({512, 512}, 16),
                                  bytes = five_of({512, 512}, 16, gray_u8);
    const auto seconds = [](const distributed::FilterTask& task) {
        return on_das(task).expected().value_or(0);
    };
    EXPECT_GT(seconds(bytes), 0);
    EXPECT_LT(seconds(bytes), seconds(floats));
}

TEST(FilterPlan, windows_have_as_many_rows_as_fit_into_memory) {
    const distributed::FilterTask task = five_of({1000, 100'000}, 1, gray_u8);
    distributed::FilterPlan plan = distributed::strips_plan(task, "");
    // A row of input takes 1,000 bytes and its intermediate data 20,000; 16 more rows are read on
    // either side.
    distributed::set_window(plan, task, 21'000 * 100 + 32'000);
    EXPECT_EQ(plan.window, 100);
    EXPECT_EQ(plan.memory, 21'000 * 100 + 32'000);
    distributed::set_window(plan, task, 21'000 * 101 + 31'999);
    EXPECT_EQ(plan.window, 100);
    distributed::set_window(plan, task, Bytes{1} << 40);
    EXPECT_EQ(plan.window, 100'000);
    EXPECT_THROW(distributed::set_window(plan, task, 40'000), InvalidTask);
}

TEST(FilterPlan, counts_gathered_images_once_for_ranks_that_share_memory) {
    for (const int ranks : {1, 2, 3, 4}) {
        distributed::FilterTask task = five_of({1000, 1200}, ranks);
        const filtering::Configuration strips{1, ranks};
        const Bytes image = 1000 * 1200 * 4, planes = 5 * image;
        const Bytes between = 2 * (ranks - 1) * 16 * 1000 * 4; // rows from neighbouring tiles
        EXPECT_EQ(distributed::memory_of(strips, task, 1200),
                  image + between + planes + planes * (ranks - 1) / ranks);
        task.shares_memory = true;
        EXPECT_EQ(distributed::memory_of(strips, task, 1200), image + between + planes);
    }
}

/// A machine on which a filter takes `seconds` per output element.
machine::Profile where_filters_take(Seconds seconds, machine::Profile machine) {
    machine.kernels.push_back({.name = "gaussian-derivatives",
                               .seconds_per_element = machine::exactly(seconds),
                               .passes = {},
                               .alone = {},
                               .origin = {}});
    return machine;
}

/// Every message takes a little more than a millisecond.
machine::Profile slow_messages() {
    machine::Profile machine;
    machine.name = "slow";
    machine::LinkCosts link;
    link.hockney = machine::Hockney{machine::exactly(1e-3), machine::exactly(1e-10), {}};
    machine.links = {link};
    return machine;
}

TEST(FilterPlan, uses_fewer_ranks_if_they_are_faster) {
    const auto ranks = [&](Seconds seconds) {
        const machine::Profile machine = where_filters_take(seconds, slow_messages());
        return distributed::plan_filter(five_of({256, 256}, 8),
                                        {.machine = machine, .element_size = 4})
            .configuration.ranks();
    };
    EXPECT_EQ(ranks(1e-8), 1);
    EXPECT_EQ(ranks(5e-8), 2);
    EXPECT_EQ(ranks(1e-7), 4);
    EXPECT_EQ(ranks(1e-5), 8);
}

TEST(FilterPlan, is_the_fastest_over_all_numbers_of_ranks) {
    int between = 0; // plans with a number of ranks other than 1 to 8, 12 and 24
    for (const Seconds seconds : {2e-6, 4.4e-6, 6e-6}) {
        const machine::Profile machine = where_filters_take(seconds, slow_messages());
        const planner::Setting setting{.machine = machine, .element_size = 4};
        const distributed::FilterTask task = five_of({257, 263}, 24);
        const distributed::FilterPlan plan = distributed::plan_filter(task, setting);
        const Seconds best = plan.expected().value_or(0);
        EXPECT_GT(best, 0);
        between += plan.configuration.ranks() > 8 && plan.configuration.ranks() != 12 &&
                   plan.configuration.ranks() != 24;
        for (int ranks = 1; ranks <= 24; ++ranks) {
            for (const filtering::Configuration& grid : filtering::grids_of(ranks)) {
                distributed::FilterPlan other = distributed::strips_plan(task, "");
                other.configuration = grid;
                distributed::predict_windows(other, task, setting);
                EXPECT_GE(other.predicted.value_or(distributed::FilterPlan::Predicted{}).seconds,
                          best * .999)
                    << grid.text();
            }
        }
    }
    EXPECT_GT(between, 0);
}

TEST(FilterPlan, scatters_or_broadcasts_if_only_rank_0_has_the_image) {
    for (const char* distribute : {"scatter", "broadcast", "binomial-scatter"}) {
        distributed::FilterTask task = five_of({512, 512}, 6);
        task.distribute = distribute;
        const distributed::FilterPlan plan = on_das(task);
        ASSERT_TRUE(plan.configuration.distribute) << distribute;
        const bool named = plan.configuration.distribute->name == distribute;
        EXPECT_TRUE(named || name(plan.configuration.distribute->what) == distribute) << distribute;
        EXPECT_GT(plan.expected().value_or(0),
                  on_das(five_of({512, 512}, 6)).expected().value_or(0));
    }
}

/// A machine with these reading rates, of one rank alone and of all ranks together, in bytes per
/// second.
machine::Profile where_files_come(double alone, double together, machine::Profile machine) {
    const auto pass = [](double rate) {
        constexpr Elements bytes = 1 << 20;
        return machine::Pass{bytes, 1, machine::exactly(static_cast<double>(bytes) / rate)};
    };
    for (const char* name : {"read-file", "write-file"})
        machine.kernels.push_back({.name = name,
                                   .element = "u8",
                                   .seconds_per_element = {},
                                   .passes = {{0, 1, machine::exactly(0)}, pass(together)},
                                   .alone = {{0, 1, machine::exactly(0)}, pass(alone)},
                                   .origin = {}});
    return machine;
}

TEST(FilterPlan, compares_ways_of_reading_if_the_profile_contains_file_reading_rates) {
    const auto plan = [&](const machine::Profile& machine) {
        return distributed::plan_filter(five_of({512, 512}, 4),
                                        {.machine = machine, .element_size = 4});
    };
    // On the first machine all ranks read at the full rate; on the second only one rank can.
    const machine::Profile alike = where_files_come(1e8, 1e8, slow_messages());
    const machine::Profile in_turn = where_files_come(1e8, 1e6, slow_messages());
    EXPECT_EQ(plan(alike).configuration.distribute, nullptr);
    ASSERT_TRUE(plan(in_turn).configuration.distribute);
    const Seconds best = plan(in_turn).expected().value_or(0);
    EXPECT_GT(best, 512 * 512 * 4 / 1e8) << "the time includes reading";
    for (const auto& other : plan(in_turn).alternatives)
        EXPECT_GE(other.expected ? other.expected->seconds : best, best);
    distributed::FilterTask requested = five_of({512, 512}, 4);
    requested.distribute = "read";
    EXPECT_EQ(distributed::plan_filter(requested, {.machine = in_turn, .element_size = 4})
                  .configuration.distribute,
              nullptr);
    EXPECT_EQ(plan(slow_messages()).configuration.distribute, nullptr)
        << "the profile has no reading rates";
}

TEST(FilterPlan, predicts_the_time_of_reading_and_writing_whole_rows_of_tiles) {
    const machine::Profile machine =
        where_files_come(1e8, 1e8, where_filters_take(1e-9, slow_messages()));
    const distributed::FilterTask task = five_of({512, 512}, 4);
    const auto predicted = [&](filtering::Configuration configuration, Elements window) {
        distributed::FilterPlan plan;
        plan.configuration = configuration;
        plan.window = window;
        distributed::predict_windows(plan, task, {.machine = machine, .element_size = 4});
        return plan.predicted.value_or(distributed::FilterPlan::Predicted{});
    };
    const Seconds image = 512 * 512 * 4 / 1e8;
    const auto* scatter = &collective::find("flat-scatter");
    EXPECT_NEAR(predicted({1, 4}, 512).read.value_or(0), image / 4, 1e-9);
    EXPECT_NEAR(predicted({2, 2}, 512).read.value_or(0), image / 2, 1e-9) << "whole rows are read";
    EXPECT_NEAR(predicted({1, 4, scatter}, 512).read.value_or(0), image, 1e-9);
    EXPECT_NEAR(predicted({1, 4}, 512).write.value_or(0), 5 * image, 1e-9);
    // With two windows, all planes but the first are also written to a temporary file and read.
    EXPECT_NEAR(predicted({1, 4}, 256).write.value_or(0), (5 + 4 + 4) * image, 1e-9);
}

TEST(FilterPlan, predicts_the_time_of_windows_including_that_of_preceding_filters) {
    const machine::Profile machine = where_filters_take(1e-7, das());
    const planner::Setting setting{.machine = machine, .element_size = 4};
    distributed::FilterTask task = five_of({512, 512}, 4);
    const auto seconds = [&](Elements window) {
        distributed::FilterPlan plan;
        plan.configuration = {1, 4};
        plan.window = window;
        distributed::predict_windows(plan, task, setting);
        return plan.predicted ? plan.predicted->seconds : 0;
    };
    const Seconds whole = seconds(512), in_windows = seconds(64), work = 512 * 512 * 5 * 1e-7 / 4;
    EXPECT_GT(whole, work);
    EXPECT_GT(in_windows, work);
    EXPECT_NE(in_windows, whole); // more messages, but smaller ones
    task.filters.insert(task.filters.begin(), {2, {"smooth"}, {}});
    EXPECT_GT(seconds(512), whole + 512 * 512 * 1e-7 / 4);
}

TEST(FilterPlan, can_be_saved_and_read_again) {
    const TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    const distributed::FilterTask task = five_of({512, 300}, 6);
    distributed::FilterPlan plan = on_das(task);
    plan.configuration = {2, 3, &collective::find("flat-scatter"),
                          &collective::find("binomial-gather"), true};
    plan.window = 40;
    fill_file(path, to_json(plan));
    const distributed::FilterPlan again = distributed::read_filter_plan(path, task);
    EXPECT_EQ(again.configuration, plan.configuration);
    EXPECT_EQ(again.window, 40);
    EXPECT_THAT(again.reason, HasSubstr(path));
    EXPECT_GT(again.memory, 0);
}

TEST(FilterPlan, with_changing_grids_can_be_saved_and_read_again) {
    const TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    distributed::FilterTask task = five_of({512, 300}, 6);
    task.filters.insert(task.filters.begin(), {{2, {"smooth"}, {}}, {1, {"x"}, {}}});
    distributed::FilterPlan plan = distributed::strips_plan(task, "");
    const auto again = [&](std::vector<filtering::Retiling> retilings) {
        plan.configuration.retilings = std::move(retilings);
        fill_file(path, to_json(plan));
        return distributed::read_filter_plan(path, task);
    };
    EXPECT_EQ(again({{1, 3, 2}, {2, 1, 5}}).configuration, plan.configuration);
    EXPECT_EQ(again({{2, 6, 1}}).configuration, plan.configuration);
    const auto refusal = [&](const std::vector<filtering::Retiling>& retilings) {
        return message_of<InvalidFile>([&] { again(retilings); });
    };
    EXPECT_THAT(refusal({{3, 6, 1}}),
                HasSubstr("retilings[0].filter is 4, expected a whole number from 1 to 3"));
    EXPECT_THAT(refusal({{0, 6, 1}}), HasSubstr("expected filters from 2 to "));
    EXPECT_THAT(refusal({{2, 6, 1}, {1, 1, 6}}), HasSubstr("in ascending order"));
    EXPECT_THAT(refusal({{1, 3, 3}}), HasSubstr("at most one tile for each of the 6 ranks"));
    EXPECT_THAT(refusal({{1, 7, 1}}),
                HasSubstr("retilings[0].columns is 7, expected a whole number from 1 to 6"));
    fill_file(path, R"({"plan_version": 1, "operation": "filter", "columns": 2, "rows": 3,
                              "window": 300, "retilings": 7})");
    EXPECT_THROW(distributed::read_filter_plan(path, task), InvalidFile);
}

TEST(FilterPlan, is_refused_if_invalid) {
    const TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    const auto refusal = [&](const std::string& text) {
        fill_file(path, text);
        return message_of<InvalidFile>([&] {
            distributed::read_filter_plan(path, five_of({512, 300}, 6));
        });
    };
    const std::string good = R"({"plan_version": 1, "operation": "filter", "columns": 2, "rows": 3,
                                 "window": 300})";
    EXPECT_EQ(refusal(good), "");
    EXPECT_THAT(refusal("{}"), HasSubstr("plan_version"));
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        return refusal(text.replace(text.find(from), from.size(), to));
    };
    EXPECT_THAT(with("\"filter\"", "\"composite\""),
                HasSubstr("operation is \"composite\", expected \"filter\""));
    EXPECT_THAT(with("\"filter\"", "7"), HasSubstr("operation is 7"));
    EXPECT_EQ(with("2, \"rows\"", "1, \"rows\""), "");
    EXPECT_THAT(with("2, \"rows\"", "3, \"rows\""),
                HasSubstr("at most one tile for each of the 6 ranks"));
    EXPECT_THAT(with("300}", "301}"), HasSubstr("from 1 to 300"));
    EXPECT_THAT(with("2, \"rows\": 3", "2"), HasSubstr("rows"));
    const auto also = [&](const std::string& field) { return with("300}", "300, " + field + "}"); };
    EXPECT_EQ(also(R"("distribute": null, "collect": "flat-gather", "packs": true)"), "");
    EXPECT_THAT(also(R"("distribute": "flat-scater")"), HasSubstr("did you mean flat-scatter"));
    EXPECT_THAT(also(R"("distribute": "flat-gather")"), HasSubstr("it performs gather"));
    EXPECT_THAT(also(R"("collect": 7)"), HasSubstr("collect is 7"));
    EXPECT_THAT(also(R"("packs": 1)"), HasSubstr("packs is 1, expected true or false"));
}

} // namespace
} // namespace sextant::test
