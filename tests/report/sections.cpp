// SPDX-License-Identifier: BSD-3-Clause
// The sections of pages about runs.
#include "sextant/report/alternatives_section.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/picture_sections.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <stdexcept>

#include "tests/report/markup.hpp"
#include "tests/report/recordings.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::vector<Recording>& recordings) {
    return render(comparison("Runs", recordings));
}

TEST(Comparison, shows_every_run_on_one_self_contained_page) {
    Recording predicted = test::relay();
    predicted.origin = Origin::predicted;
    const std::string page = page_of({predicted, test::ring(4, 3)});
    EXPECT_EQ(test::markup_error(page), "");
    EXPECT_THAT(page, HasSubstr("<dt>relay (predicted)</dt><dd>30.0 µs on 3 ranks; 2 messages of "
                                "6.00 kB in total</dd>"));
    EXPECT_THAT(page, HasSubstr("<li>ring (measured): "));
    EXPECT_THAT(page, HasSubstr("data-show=\"apart\""));
    EXPECT_EQ(test::occurrences(page, "<figure class=\"timeline\">"), 1);
    EXPECT_EQ(test::occurrences(page, "class Timeline"), 1);
    EXPECT_THAT(page, HasSubstr("script-src 'unsafe-inline'"));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    for (const char* outside : {"<link", "@import", "url(", "src=\"http", "fetch(", "import("})
        EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(Comparison, hostile_names_are_escaped_in_markup_and_in_data) {
    Recording recording = test::relay();
    recording.name = std::string(test::hostile_name) + "</script><script>alert(1)";
    const std::string page = page_of({recording});
    EXPECT_EQ(test::markup_error(page), "");
    EXPECT_EQ(test::occurrences(page, "<script"), 2); // one for the data, one for the page
    EXPECT_THAT(page, Not(HasSubstr("alert(1)<")));
}

TEST(Comparison, a_run_without_events_has_a_page) {
    const std::string page = page_of({Recording{.name = "nothing", .ranks = 2, .trace = {}}});
    EXPECT_EQ(test::markup_error(page), "");
    EXPECT_THAT(page, Not(HasSubstr("Communication: ")));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(Comparison, ten_thousand_events_fit_into_a_page_of_1_5_megabytes) {
    const Recording recording = test::ring(25, 100);
    ASSERT_EQ(recording.trace.events.size(), 10'000u);
    EXPECT_LT(page_of({recording}).size(), 1'500'000u);
}

TEST(Comparison, a_million_events_are_aggregated_with_a_note) {
    const Recording recording = test::ring(256, 1000);
    ASSERT_EQ(recording.trace.events.size(), 1'024'000u);
    const std::string page = page_of({recording});
    EXPECT_THAT(page, HasSubstr("Aggregated: 1,024,000 events in "));
    EXPECT_THAT(page, HasSubstr("The run has too many messages to draw arrows"));
    EXPECT_LT(page.size(), 12'000'000u);
}

TEST(Comparison, thousands_of_ranks_share_lanes) {
    const Recording recording = test::ring(4096, 2);
    const std::string page = page_of({recording});
    EXPECT_THAT(page, HasSubstr("on 4,096 ranks, 16 of which share each lane"));
    EXPECT_THAT(page, HasSubstr("\"lanes\":256,\"shared\":16"));
    EXPECT_LT(page.size(), 1'500'000u);
}

TEST(Comparison, clocks_that_disagree_are_reported) {
    Recording recording = test::relay();
    for (Event& event : recording.trace.events) {
        if (event.rank == 0)
            event.begin += 20e-6, event.end += 20e-6; // sent at 30 µs, received at 14 µs
    }
    EXPECT_THAT(page_of({recording}), HasSubstr("the clocks differ by 16.0 µs or more"));
}

std::vector<std::byte> png_header() {
    std::vector<std::byte> png;
    for (const int byte : {0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13,
                           0x49, 0x48, 0x44, 0x52, 0,  0,  0,  4,  0, 0, 0, 3})
        png.push_back(static_cast<std::byte>(byte));
    return png;
}

TEST(OutlinesSection, draws_each_line_on_the_image_with_its_length) {
    OutlinedPicture picture{.title = "Lines", .caption = "a < b"};
    EXPECT_EQ(outlines_section(picture).html, "");
    picture.png = png_header();
    picture.width = 40;
    picture.height = 30;
    picture.outlines = {{{{3, 4}, {4, 4}, {4, 5}}, 1200, true}, {{{9, 9}}, 1, false}};
    const std::string html = outlines_section(picture).html;
    EXPECT_EQ(test::markup_error("<div>" + html + "</div>"), "");
    EXPECT_THAT(html, HasSubstr("viewBox=\"0 0 40 30\""));
    EXPECT_THAT(html, HasSubstr("d=\"M3.5 4.5l1 0 0 1z\""));
    EXPECT_THAT(html, HasSubstr("d=\"M9.5 9.5l0 0\""));
    EXPECT_THAT(html, HasSubstr("1: 1,200 points, closed"));
    EXPECT_THAT(html, HasSubstr("a &lt; b"));
    picture.png.resize(5);
    EXPECT_THROW(outlines_section(picture), std::logic_error);
}

TEST(TimelineSection, contains_every_event_once_and_every_message_as_an_arrow) {
    const std::vector<Recording> all = {test::relay()};
    const std::string html = timeline_section(all).html;
    EXPECT_THAT(html, HasSubstr("\"rank\":[0,1,1,2,0,1,1,2,2]"));
    EXPECT_THAT(html, HasSubstr("\"tick\":1e-12"));
    EXPECT_THAT(html, HasSubstr("\"arrows\":[0,10000000,1,14000000,1,20000000,2,26000000]"));
    // Only pages of several runs have this control.
    EXPECT_THAT(html, Not(HasSubstr("data-show=\"apart\"")));
}

TEST(TimelineSection, too_many_events_in_total_are_aggregated_with_a_note) {
    const std::vector<Recording> all = {test::ring(8, 7'000)};
    ASSERT_GT(all[0].trace.events.size(), 200'000u);
    const std::string html = timeline_section(all).html;
    EXPECT_THAT(html, HasSubstr("Aggregated: 224,000 events in "));
    EXPECT_LT(html.size(), 12'000'000u);
}

TEST(AlternativesSection, shows_intervals_bounds_and_measurements) {
    Alternatives alternatives{"Candidates", "loggp on a cluster", {}};
    alternatives.all = {
        {"radix-k", TimeRange{2e-3, 1e-3, 3e-3}, TimeRange{5e-3, 5e-3, 5e-3}, 1e-3, ""},
        {"direct <send>", {}, {}, 4e-3, "not walked"}};
    const Section section = alternatives_section(alternatives);
    EXPECT_EQ(section.title, "Candidates");
    EXPECT_EQ(test::markup_error("<p>" + section.html + "</p>"), "");
    EXPECT_EQ(test::occurrences(section.html, "class=\"predicted-median\""),
              2); // in the chart and in the legend
    EXPECT_EQ(test::occurrences(section.html, "class=\"measured-median\""), 2);
    EXPECT_THAT(section.html, HasSubstr(">2.00 ms, 5.00 ms<"));
    EXPECT_THAT(section.html, HasSubstr("<td class=\"number\">1.00 ms to 3.00 ms</td>"));
    EXPECT_THAT(section.html, HasSubstr("direct &lt;send&gt;"));
    EXPECT_THAT(section.html, HasSubstr("<td>not walked</td>"));
    EXPECT_THAT(section.html, Not(HasSubstr("Times at the right edge")));
    EXPECT_TRUE(alternatives_section({}).html.empty());
}

TEST(AlternativesSection, times_far_above_predictions_are_drawn_at_the_edge) {
    Alternatives alternatives{"", "", {}};
    alternatives.all = {{"a", TimeRange{1e-3, 1e-3, 1e-3}, TimeRange{9e-3, 9e-3, 9e-3}, {}, ""}};
    EXPECT_THAT(alternatives_section(alternatives).html, HasSubstr("Times at the right edge"));
    alternatives.all[0].predicted.reset(); // without a prediction, the chart covers all times
    EXPECT_THAT(alternatives_section(alternatives).html, Not(HasSubstr("Times at the right edge")));
}

TEST(ColumnChart, lets_many_positions_share_columns_with_a_note) {
    ColumnChart chart;
    chart.places.assign(1000, "x");
    chart.kinds = {{"bytes", std::vector<double>(1000, 1.0)}};
    chart.kinds[0].values[500] = 8;
    chart.text = bytes_to_text;
    const std::string svg = columns(chart);
    EXPECT_EQ(test::markup_error(svg), "");
    EXPECT_EQ(test::occurrences(svg, "class=\"column "), 250);
    EXPECT_THAT(svg, HasSubstr("4 values share a column"));
    EXPECT_EQ(test::occurrences(svg, "bytes 8 B"), 1);
    chart.kinds[0].values.pop_back();
    EXPECT_THROW(columns(chart), std::logic_error);
}

TEST(BandwidthMatrix, has_one_cell_per_pair_of_ranks_or_of_groups_of_ranks) {
    const std::string few = bandwidth_matrix(test::ring(5, 2));
    EXPECT_EQ(test::markup_error(few), "");
    EXPECT_EQ(test::occurrences(few, "<title>rank "), 5);
    EXPECT_THAT(few, HasSubstr("rank 0 to rank 1: 341 MB/s in 2 messages"));
    const std::string many = bandwidth_matrix(test::ring(200, 1));
    EXPECT_EQ(test::markup_error(many), "");
    EXPECT_THAT(many, HasSubstr("4 ranks share a row and a column"));
    EXPECT_EQ(test::markup_error(bandwidth_histogram(test::ring(5, 2))), "");
}

TEST(JsonText, cannot_end_a_script_element) {
    EXPECT_EQ(json_text("a</script>&\"\xff"), "\"a\\u003c/script\\u003e\\u0026\\\"\xEF\xBF\xBD\"");
}

TEST(Bytes, are_shown_with_three_significant_digits) {
    EXPECT_EQ(bytes_to_text(0), "0 B");
    EXPECT_EQ(bytes_to_text(999), "999 B");
    EXPECT_EQ(bytes_to_text(2.5), "2.50 B");
    EXPECT_EQ(bytes_to_text(12'345), "12.3 kB");
    EXPECT_EQ(bytes_to_text(999'600), "1.00 MB");
    EXPECT_EQ(bytes_to_text(4.5e15), "4500 TB");
}

} // namespace
} // namespace sextant::report
