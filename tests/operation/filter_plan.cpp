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
    return {{3, {"x", "y", "xx", "xy", "yy"}, {}}, image, element, ranks};
}

machine::Profile das() {
    return machine::read_profile(SEXTANT_SOURCE_DIR "/machines/das.json");
}

FilterPlan on_das(const FilterTask& task) {
    const machine::Profile machine = das();
    return plan_filter(task,
                       {.machine = machine, .element_size = 4, .kernel_names = filter_kernels});
}

TEST(FilterPlan, weighs_every_grid_and_takes_strips_where_what_is_collected_decides) {
    const FilterPlan plan = on_das(five_of({512, 512}, 16));
    EXPECT_EQ(plan.alternatives.size(), 5u);
    EXPECT_EQ(plan.columns, 1);
    EXPECT_EQ(plan.rows_of_tiles, 16);
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

TEST(FilterPlan, is_saved_and_read_again) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("plan.json");
    const FilterTask task = five_of({512, 300}, 6);
    FilterPlan plan = on_das(task);
    plan.window = 40;
    test::fill_file(path, to_json(plan));
    const FilterPlan again = read_filter_plan(path, task);
    EXPECT_EQ(again.columns, plan.columns);
    EXPECT_EQ(again.rows_of_tiles, plan.rows_of_tiles);
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
    EXPECT_THAT(with("2, \"rows\"", "3, \"rows\""), HasSubstr("as many as the 6 ranks"));
    EXPECT_THAT(with("300}", "301}"), HasSubstr("from 1 to 300"));
    EXPECT_THAT(with("2, \"rows\": 3", "2"), HasSubstr("rows"));
}

} // namespace
} // namespace sextant::operation
