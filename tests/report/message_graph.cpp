// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/graph_drawing.hpp"

#include "tests/report/schedules.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using test::compositing_schedule;
using testing::ElementsAre;

TEST(MessageGraphLevels, each_round_of_messages_and_each_fold_takes_one_level) {
    EXPECT_EQ(message_graph(compositing_schedule("radix-k", 8, {{4, 2}, 0})).levels(), 4);
    EXPECT_EQ(message_graph(compositing_schedule("binary-swap", 16)).levels(), 8);
    EXPECT_EQ(message_graph(compositing_schedule("direct-send", 7)).levels(), 2);
}

TEST(MessageGraphLevels, a_window_delays_later_rounds) {
    EXPECT_EQ(message_graph(compositing_schedule("shift-based", 12, {{}, 1})).levels(), 12);
    EXPECT_EQ(message_graph(compositing_schedule("direct-send", 12, {{}, 0})).levels(), 2);
}

TEST(MessageGraphLevels, both_sides_of_a_message_are_on_one_level) {
    test::for_each_compositing_schedule([](const std::string& name, const Schedule& schedule) {
        SCOPED_TRACE(name);
        const auto mates = match_messages(schedule);
        const Levels time = levels(schedule, mates);
        for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
            for (std::size_t i = 0; i < schedule[rank].steps.size(); ++i) {
                EXPECT_LT(time.of[rank][i], time.count);
                if (!is_message(schedule[rank].steps[i].verb))
                    continue;
                const StepOfRank mate = mates[rank][i];
                EXPECT_EQ(time.of[rank][i], time.of[static_cast<std::size_t>(mate.rank)]
                                                   [static_cast<std::size_t>(mate.step)]);
            }
        }
    });
}

TEST(MessageGraph, a_level_is_as_wide_as_the_largest_number_of_messages_of_a_rank) {
    const MessageGraph graph = message_graph(compositing_schedule("radix-k", 8, {{4, 2}, 0}));
    EXPECT_THAT(graph.level_begins, ElementsAre(0, 3, 4, 5));
    EXPECT_EQ(graph.columns, 6);
}

TEST(MessageGraph, aggregation_preserves_the_total_messages_elements_and_folds) {
    for (const char* algorithm : {"direct-send", "shift-based", "radix-k"}) {
        const bool radix = algorithm == std::string_view("radix-k");
        const MessageGraph graph = message_graph(compositing_schedule(
            algorithm, 60, radix ? compositing::Tuning{{5, 4, 3}, 0} : compositing::Tuning{}));
        for (std::size_t most : {1U, 10U, 200U}) {
            const MessageGraph coarse = aggregated(graph, most, 16);
            EXPECT_LE(coarse.arrows.size(), std::max<std::size_t>(most, graph.level_begins.size()));
            EXPECT_LE(coarse.lanes, 16);
            std::int64_t messages = 0, folds = 0;
            Elements moved = 0;
            for (const Arrow& sum : coarse.arrows) {
                messages += sum.messages, moved += sum.elements;
                EXPECT_LT(std::max(sum.from, sum.to), coarse.lanes);
                EXPECT_LT(sum.column, coarse.columns);
            }
            for (const Box& sum : coarse.boxes) {
                folds += sum.steps;
                EXPECT_LT(sum.column, coarse.columns);
            }
            EXPECT_EQ(messages, graph.messages);
            EXPECT_EQ(moved, graph.moved);
            EXPECT_EQ(folds, graph.folds + graph.copies);
        }
    }
}

TEST(MessageGraph, levels_stay_separate_when_columns_are_merged) {
    const MessageGraph graph = message_graph(compositing_schedule("direct-send", 60));
    const MessageGraph coarse = aggregated(graph, 200, 16);
    ASSERT_GT(coarse.merged_columns, 1);
    ASSERT_EQ(coarse.levels(), 2);
    for (const Arrow& sum : coarse.arrows)
        EXPECT_LT(sum.column, coarse.level_begins[1]);
    for (const Box& sum : coarse.boxes)
        EXPECT_EQ(sum.column, coarse.level_begins[1]);
}

} // namespace
} // namespace sextant::report
