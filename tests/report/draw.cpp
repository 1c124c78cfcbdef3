// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/graph_drawing.hpp"

#include <stdexcept>

#include "tests/report/markup.hpp"
#include "tests/report/schedules.hpp"
#include "tests/support/line_sums.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using test::compositing_schedule;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view arrow = "<path class=\"message ";

TEST(Draw, every_message_is_an_arrow_and_every_fold_a_box) {
    test::for_each_compositing_schedule([](const std::string& name, const Schedule& schedule) {
        SCOPED_TRACE(name);
        const std::string svg = draw(schedule);
        EXPECT_EQ(test::markup_error(svg), "");
        EXPECT_EQ(test::occurrences(svg, arrow), test::count_steps(schedule, Verb::send));
        EXPECT_EQ(test::occurrences(svg, "class=\"box fold "),
                  test::count_steps(schedule, Verb::fold));
        EXPECT_EQ(test::occurrences(svg, "class=\"box copy "),
                  test::count_steps(schedule, Verb::copy));
        EXPECT_THAT(svg, Not(HasSubstr("Aggregated")));
    });
}

TEST(Draw, the_heading_shows_the_totals) {
    const std::string svg = draw(compositing_schedule("radix-k", 8, {{4, 2}, 0}));
    EXPECT_THAT(svg, HasSubstr(">8</tspan><tspan class=\"quiet\" dx=\"4\">ranks<"));
    EXPECT_THAT(svg, HasSubstr(">32</tspan><tspan class=\"quiet\" dx=\"4\">messages<"));
    EXPECT_THAT(svg, HasSubstr(">6,720</tspan><tspan class=\"quiet\" dx=\"4\">elements moved<"));
    EXPECT_THAT(svg, HasSubstr(">16</tspan><tspan class=\"quiet\" dx=\"4\">folds<"));
    EXPECT_THAT(svg, HasSubstr(">4</tspan><tspan class=\"quiet\" dx=\"4\">levels<"));
}

TEST(Draw, the_tooltip_of_a_message_shows_both_sides) {
    const std::string svg = draw(compositing_schedule("direct-send", 2));
    EXPECT_THAT(svg,
                HasSubstr("rank 0, step 0: send to rank 1, round 0, group 0, 480 elements\n"
                          "    buffer 0: 480 to 959\n"
                          "rank 1, step 1: receive from rank 0, round 0, group 0, 480 elements\n"));
    EXPECT_THAT(svg, HasSubstr("fold of 2 operands"));
    EXPECT_THAT(svg, HasSubstr("<text class=\"operands\""));
}

TEST(Draw, every_kernel_step_is_a_diamond_with_its_inputs_and_outputs) {
    const std::string svg = draw(test::line_sums_case(3).schedule);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "class=\"box compute "), 9);
    EXPECT_THAT(svg, HasSubstr(">9</tspan><tspan class=\"quiet\" dx=\"4\">computations<"));
    EXPECT_THAT(svg, HasSubstr("compute with kernel 0, round 0, group 0, 2 elements\n"
                               "    buffer 0: 1 to 4\n    into buffer 1: 1 to 2"));
}

TEST(Draw, hostile_titles_are_escaped) {
    DrawOptions options;
    options.title = options.subtitle = test::hostile_name;
    const std::string svg = draw(compositing_schedule("binary-swap", 4), options);
    test::expect_escaped(svg);
}

TEST(Draw, the_same_schedule_gives_the_same_drawing) {
    const Schedule schedule = compositing_schedule("radix-k", 12, {{3, 4}, 0});
    EXPECT_EQ(draw(schedule), draw(schedule));
}

TEST(Draw, styles_of_two_drawings_do_not_interfere) {
    const auto scope = [](const std::string& svg) {
        const std::size_t begin = svg.find("class=\"") + 7;
        return svg.substr(begin, svg.find('"', begin) - begin);
    };
    const std::string one = draw(compositing_schedule("direct-send", 4));
    const std::string other = draw(compositing_schedule("direct-send", 5));
    EXPECT_THAT(scope(one), StartsWith("picture-"));
    EXPECT_NE(scope(one), scope(other));
    EXPECT_THAT(one, HasSubstr("\n." + scope(one) + " .r0{stroke:#"));
}

TEST(Draw, an_empty_schedule_can_be_drawn) {
    for (const Schedule& schedule : {Schedule{}, Schedule(1), Schedule(5)}) {
        const std::string svg = draw(schedule);
        EXPECT_EQ(test::markup_error(svg), "");
        EXPECT_THAT(svg, HasSubstr("Nothing to do"));
        EXPECT_EQ(test::occurrences(svg, ">rank "), static_cast<int>(schedule.size()));
    }
}

TEST(Draw, a_deadlock_names_its_ranks) {
    const std::string said = test::message_of<std::logic_error>([&] { draw(test::deadlock(4)); });
    EXPECT_THAT(said, HasSubstr("deadlock"));
    EXPECT_THAT(said, HasSubstr("rank 0 at step 0 (receive), rank 1 at step 0"));
    EXPECT_THAT(said, Not(HasSubstr("rank 2")));
}

TEST(Draw, an_unmatched_message_is_refused) {
    Schedule schedule = compositing_schedule("direct-send", 3);
    schedule[1].steps.clear();
    EXPECT_THROW(draw(schedule), std::logic_error);
}

TEST(Draw, many_messages_are_thin_lines_without_tooltips) {
    const Schedule schedule = compositing_schedule("direct-send", 9);
    DrawOptions options;
    options.most_detailed = 71;
    const std::string svg = draw(schedule, options);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, arrow), 72);
    EXPECT_THAT(svg, HasSubstr("<g class=\"thin\">"));
    EXPECT_EQ(test::occurrences(svg, "<title>"), 1);
    options.most_detailed = 72;
    EXPECT_THAT(draw(schedule, options), Not(HasSubstr("<g class=\"thin\">")));
}

TEST(Draw, too_many_messages_are_aggregated_with_a_note) {
    for (const char* algorithm : {"direct-send", "shift-based"}) {
        const std::string svg = draw(compositing_schedule(algorithm, 200, {{}, 0}));
        EXPECT_EQ(test::markup_error(svg), "");
        EXPECT_LE(test::occurrences(svg, arrow), 4000);
        EXPECT_THAT(svg, HasSubstr("Aggregated: 200 ranks in "));
        EXPECT_THAT(svg, HasSubstr("39,800 messages in "));
        EXPECT_THAT(svg, HasSubstr("Not shown: "));
        EXPECT_LT(svg.size(), 3'000'000U);
    }
}

TEST(Draw, too_many_ranks_share_lanes) {
    const std::string svg = draw(compositing_schedule("radix-k", 512, {{8, 8, 8}, 0}));
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_THAT(svg, HasSubstr("Aggregated: 512 ranks in 64 lanes, 10,752 messages in "));
    EXPECT_THAT(svg, HasSubstr(">504–511</text>"));
}

} // namespace
} // namespace sextant::report
