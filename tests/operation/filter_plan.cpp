// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::operation {
namespace {

using testing::HasSubstr;

FilterTask five_of(ImageShape image, int ranks, const ElementFormat& element = gray_f32) {
    return {.filters = {{3, {"x", "y", "xx", "xy", "yy"}, {}}},
            .image = image,
            .element = element,
            .ranks = ranks};
}

machine::Profile das() {
    return machine::read_profile(SEXTANT_SOURCE_DIR "/machines/das.json");
}

FilterPlan on_das(const FilterTask& task) {
    const machine::Profile machine = das();
    return plan_filter(task, {.machine = machine, .element_size = 4});
}

TEST(FilterPlan, weighs_every_grid_and_takes_strips_where_what_is_collected_decides) {
    const FilterPlan plan = on_das(five_of({512, 512}, 16));
    // Five grids, each with six gathers or none; the profile knows of no copies, so none packs.
    EXPECT_EQ(plan.alternatives.size(), 5u * 7);
    EXPECT_EQ(plan.way, (filtering::Way{1, 16}));
    EXPECT_EQ(plan.model, "p3pc-extended");
    // Five flat gathers of 27.03 ms, and little more: the exchange of the halos.
    ASSERT_TRUE(plan.alternatives[0].seconds);
    EXPECT_NEAR(*plan.alternatives[0].seconds, 5 * 27.03e-3, 2e-3);
}

TEST(FilterPlan, of_bytes_moves_less_and_is_predicted_all_the_same) {
    const FilterTask floats = five_of({512, 512}, 16), bytes = five_of({512, 512}, 16, gray_u8);
    const auto seconds = [](const FilterTask& task) {
        return on_das(task).alternatives[0].seconds.value_or(0);
    };
    EXPECT_GT(seconds(bytes), 0);
    EXPECT_LT(seconds(bytes), seconds(floats));
}

TEST(FilterPlan, windows_are_as_many_rows_as_memory_allows) {
    const FilterTask task = five_of({1000, 100'000}, 1, gray_u8);
    FilterPlan plan = strips_plan(task, "");
    // A row takes 1,000 bytes, and 20,000 for what is made of it; 12 rows on either side are read.
    set_window(plan, task, 21'000 * 100 + 24'000);
    EXPECT_EQ(plan.window, 100);
    EXPECT_EQ(plan.memory, 21'000 * 100 + 24'000);
    set_window(plan, task, 21'000 * 101 + 23'999);
    EXPECT_EQ(plan.window, 100);
    set_window(plan, task, Bytes{1} << 40);
    EXPECT_EQ(plan.window, 100'000);
    EXPECT_THROW(set_window(plan, task, 40'000), InvalidTask);
}

/// A machine where a filter takes so long for an element that it makes.
machine::Profile where_filters_take(Seconds seconds, machine::Profile machine) {
    machine.kernels.push_back({.name = "gaussian-derivatives",
                               .seconds_per_element = machine::exactly(seconds),
                               .passes = {},
                               .alone = {},
                               .origin = {}});
    return machine;
}

/// Every message takes a millisecond and little more.
machine::Profile slow_messages() {
    machine::Profile machine;
    machine.name = "slow";
    machine::LinkCosts link;
    link.hockney = machine::Hockney{machine::exactly(1e-3), machine::exactly(1e-10), {}};
    machine.links = {link};
    return machine;
}

TEST(FilterPlan, takes_fewer_ranks_where_these_are_faster) {
    const auto ranks = [&](Seconds seconds) {
        const machine::Profile machine = where_filters_take(seconds, slow_messages());
        return plan_filter(five_of({256, 256}, 8), {.machine = machine, .element_size = 4})
            .way.ranks();
    };
    EXPECT_EQ(ranks(1e-8), 1);
    EXPECT_EQ(ranks(5e-8), 2);
    EXPECT_EQ(ranks(1e-7), 4);
    EXPECT_EQ(ranks(1e-5), 8);
}

TEST(FilterPlan, chooses_a_collective_where_rank_0_has_the_image) {
    for (const char* distribute : {"scatter", "broadcast", "binomial-scatter"}) {
        FilterTask task = five_of({512, 512}, 6);
        task.distribute = distribute;
        const FilterPlan plan = on_das(task);
        ASSERT_TRUE(plan.way.distribute) << distribute;
        const bool named = plan.way.distribute->name == distribute;
        EXPECT_TRUE(named || name(plan.way.distribute->what) == distribute) << distribute;
        EXPECT_GT(plan.alternatives[0].seconds.value_or(0),
                  on_das(five_of({512, 512}, 6)).alternatives[0].seconds.value_or(0));
    }
}

TEST(FilterPlan, predicts_windows_and_the_filters_before) {
    const machine::Profile machine = where_filters_take(1e-7, das());
    const planner::Setting setting{.machine = machine, .element_size = 4};
    FilterTask task = five_of({512, 512}, 4);
    const auto seconds = [&](Elements window) {
        FilterPlan plan;
        plan.way = {1, 4};
        plan.window = window;
        predict_windows(plan, task, setting);
        return plan.predicted ? plan.predicted->seconds : 0;
    };
    const Seconds whole = seconds(512), in_windows = seconds(64), work = 512 * 512 * 5 * 1e-7 / 4;
    EXPECT_GT(whole, work);
    EXPECT_GT(in_windows, work);
    EXPECT_NE(in_windows, whole); // smaller messages, and more of them
    task.filters.insert(task.filters.begin(), {2, {"smooth"}, {}});
    EXPECT_GT(seconds(512), whole + 512 * 512 * 1e-7 / 4);
}

TEST(FilterPlan, is_saved_and_read_again) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    const FilterTask task = five_of({512, 300}, 6);
    FilterPlan plan = on_das(task);
    plan.way = {2, 3, &collective::find("flat-scatter"), &collective::find("binomial-gather"),
                true};
    plan.window = 40;
    test::fill_file(path, to_json(plan));
    const FilterPlan again = read_filter_plan(path, task);
    EXPECT_EQ(again.way, plan.way);
    EXPECT_EQ(again.window, 40);
    EXPECT_THAT(again.reason, HasSubstr(path));
    EXPECT_GT(again.memory, 0);
}

TEST(FilterPlan, that_is_none_is_refused) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    const auto refusal = [&](const std::string& text) -> std::string {
        test::fill_file(path, text);
        try {
            read_filter_plan(path, five_of({512, 300}, 6));
        } catch (const InvalidFile& error) {
            return error.what();
        }
        return "accepted";
    };
    const std::string good = R"({"plan_version": 1, "operation": "filter", "columns": 2, "rows": 3,
                                 "window": 300})";
    EXPECT_EQ(refusal(good), "accepted");
    for (const char* bad : {"", "[]", "{", R"({"plan_version": 2})", R"({"plan_version": "1"})"})
        EXPECT_THAT(refusal(bad), HasSubstr("plan_version")) << bad;
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        return refusal(text.replace(text.find(from), from.size(), to));
    };
    EXPECT_THAT(with("\"filter\"", "\"composite\""), HasSubstr("no plan of a filter"));
    EXPECT_THAT(with("\"filter\"", "7"), HasSubstr("no plan of a filter"));
    EXPECT_EQ(with("2, \"rows\"", "1, \"rows\""), "accepted");
    EXPECT_THAT(with("2, \"rows\"", "3, \"rows\""), HasSubstr("at most as many as the 6 ranks"));
    EXPECT_THAT(with("300}", "301}"), HasSubstr("from 1 to 300"));
    EXPECT_THAT(with("2, \"rows\": 3", "2"), HasSubstr("rows"));
    const auto also = [&](const std::string& field) { return with("300}", "300, " + field + "}"); };
    EXPECT_EQ(also(R"("distribute": null, "collect": "flat-gather", "packs": true)"), "accepted");
    EXPECT_THAT(also(R"("distribute": "flat-scater")"), HasSubstr("did you mean flat-scatter"));
    EXPECT_THAT(also(R"("distribute": "flat-gather")"), HasSubstr("it does gather"));
    EXPECT_THAT(also(R"("collect": 7)"), HasSubstr("no name of a collective"));
    EXPECT_THAT(also(R"("packs": 1)"), HasSubstr("neither true nor false"));
}

} // namespace
} // namespace sextant::operation
