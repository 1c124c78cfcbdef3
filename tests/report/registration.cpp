// SPDX-License-Identifier: BSD-3-Clause
// The page of a registered series.
#include "sextant/core/error.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/picture_sections.hpp"
#include "sextant/report/registration_sections.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "tests/report/markup.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

CurveChart chart_of(std::vector<double> values) {
    CurveChart chart{"Chart", "", "frame", "px"};
    chart.curves = {{"x", std::move(values)}};
    return chart;
}

/// The part of a text between `start` and the next quotation mark.
std::string up_to_quote(const std::string& text, const std::string& start) {
    const std::size_t at = text.find(start) + start.size();
    return text.substr(at, text.find('"', at) - at);
}

std::string path_of(const std::string& picture) {
    return up_to_quote(picture, "<path class=\"curve curve-0\" d=\"");
}

TEST(Curves, connect_evenly_spaced_points_and_rise_with_the_value) {
    const std::string picture = curves(chart_of({0, 1, 0}));
    EXPECT_EQ(test::markup_error(picture), "");
    const std::string path = path_of(picture);
    double begin = 0, middle = 0, end = 0, x[3];
    ASSERT_EQ(std::sscanf(path.c_str(), "M%lf %lfL%lf %*fL%lf %lfL%lf %lf", &x[0], &begin, &x[0],
                          &x[1], &middle, &x[2], &end),
              7)
        << path;
    EXPECT_LT(middle, begin);
    EXPECT_EQ(begin, end);
    EXPECT_EQ(x[1] - x[0], x[2] - x[1]);
    EXPECT_THAT(picture, HasSubstr("<title>frame 1: x 1 px</title>"));
}

TEST(Curves, unknown_values_leave_a_gap) {
    const std::string path = path_of(curves(chart_of({1, 2, nothing, 3, nothing, 2})));
    EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 3) << path;
    EXPECT_THAT(path, Not(HasSubstr("nan")));
}

TEST(Curves, of_many_points_show_minima_and_maxima_in_bounded_size) {
    std::vector<double> values(96'000, 1.);
    values[50'000] = 9;
    const std::string picture = curves(chart_of(values));
    EXPECT_LT(picture.size(), 50'000U);
    EXPECT_THAT(picture, HasSubstr("96 frames share each line"));
    values[50'000] = 1;
    EXPECT_NE(path_of(curves(chart_of(values))), path_of(picture));
    EXPECT_THAT(picture, Not(HasSubstr("<circle")));
}

TEST(Curves, have_a_band_of_one_standard_deviation) {
    CurveChart chart = chart_of({1, 1, nothing, 1});
    chart.curves[0].deviations = {.5, .25, 0, .5};
    const std::string band = up_to_quote(curves(chart), "<path class=\"band band-0\" d=\"");
    EXPECT_EQ(std::count(band.begin(), band.end(), 'Z'), 2) << band;
    chart.curves[0].deviations.pop_back();
    EXPECT_THROW(curves(chart), std::logic_error);
}

TEST(Curves, of_none_or_one_value_can_be_drawn) {
    for (const std::vector<double>& values :
         {std::vector<double>(), {5.}, {nothing}, {7., 7.}, {1e-300, 0}, {1e300, -1e300}}) {
        const std::string picture = curves(chart_of(values));
        EXPECT_EQ(test::markup_error(picture), "");
        EXPECT_THAT(picture, Not(HasSubstr("nan")));
        EXPECT_THAT(picture, Not(HasSubstr("inf")));
    }
}

std::vector<RegisteredFrame> five_frames() {
    std::vector<RegisteredFrame> frames(5);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        frames[i].frame = static_cast<std::int64_t>(i);
        frames[i].x = static_cast<double>(i);
        frames[i].ncc_after = .8, frames[i].ncc_before = .99957;
        frames[i].sigma_x = frames[i].sigma = .03;
    }
    frames[2].flags = {"mended", "gaps"};
    frames[4].flags = {"mended"};
    frames[3] = {.frame = 3, .left_out = "every sample is <0>"};
    return frames;
}

TEST(DriftSection, shows_motions_of_registered_frames) {
    const std::string html = drift_section(five_frames(), 0, "0.5 nm").html;
    EXPECT_EQ(test::markup_error("<main>" + html + "</main>"), "");
    EXPECT_THAT(html, HasSubstr(">4.00 px</tspan>"));
    EXPECT_THAT(html, HasSubstr(">0.5 nm</tspan>"));
    EXPECT_THAT(html, Not(HasSubstr("<table")));
    EXPECT_THAT(html, Not(HasSubstr("frame 3: x")));
    EXPECT_THAT(html, HasSubstr("frame 4: x 4 ± 0.03 px"));
}

TEST(RotationSection, lists_flags_and_left_out_frames) {
    const std::string html = rotation_section(five_frames()).html;
    EXPECT_EQ(test::markup_error("<main>" + html + "</main>"), "");
    EXPECT_THAT(html, HasSubstr("<th scope=\"row\">mended</th><td class=\"number\">2</td>"
                                "<td class=\"words\">2, 4: disagreed with"));
    EXPECT_THAT(html, HasSubstr("<th scope=\"row\">frame 3</th><td class=\"number\"></td>"
                                "<td class=\"words\">left out: every sample is &lt;0&gt;</td>"));
}

TEST(RotationSection, lists_only_some_of_many_flags) {
    std::vector<RegisteredFrame> frames(3000);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        frames[i].frame = static_cast<std::int64_t>(i);
        if (i % 2 == 0)
            frames[i].flags = {"ambiguous"};
        else
            frames[i].left_out = "dark";
    }
    EXPECT_LT(drift_section(frames, 0, "").html.size(), 200'000U);
    const std::string html = rotation_section(frames).html;
    EXPECT_THAT(html, HasSubstr("20, 22 and 1,488 more: another motion"));
    EXPECT_EQ(test::occurrences(html, "left out: dark"), 20);
    EXPECT_LT(html.size(), 200'000U);
}

TEST(NccSection, shows_the_medians_of_used_frames) {
    const std::string html = likeness_section(five_frames(), "as they are").html;
    EXPECT_EQ(test::markup_error("<main>" + html + "</main>"), "");
    EXPECT_THAT(html,
                HasSubstr(">0.800</tspan><tspan class=\"quiet\" dx=\"4\">registered (median)"));
    EXPECT_THAT(html, HasSubstr(">0.99957</tspan>"));
    EXPECT_THAT(html, HasSubstr("frame 4: as they are 0.99957</title>"));
    EXPECT_THAT(html, HasSubstr(">0.36</tspan>")); // 1 - .8²
    EXPECT_THAT(html, HasSubstr(">as they are (median)</tspan>"));
    EXPECT_THAT(html, HasSubstr(">0.03</tspan>"));
    EXPECT_EQ(test::markup_error("<main>" + likeness_section({}, "").html + "</main>"), "");
}

/// The header of a PNG file of 7x5 pixels.
std::vector<std::byte> header_of_png() {
    std::vector<std::byte> header;
    for (const int byte : {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13,
                           0x49, 0x48, 0x44, 0x52, 0,    0,    0,    7,    0, 0, 0, 5})
        header.push_back(static_cast<std::byte>(byte));
    return header;
}

const std::vector<std::byte> png = header_of_png();

TEST(BeforeAfterSection, has_two_images_and_a_slider_and_requires_png) {
    const Section section = before_after_section({png, png, "a & b", "Both"});
    EXPECT_EQ(test::markup_error("<main>" + section.html + "</main>"), "");
    EXPECT_EQ(test::occurrences(section.html, "width=\"7\" height=\"5\""), 2);
    EXPECT_EQ(test::occurrences(section.html, "type=\"range\""), 1);
    EXPECT_THAT(section.html, HasSubstr("a &amp; b"));
    EXPECT_FALSE(section.script.empty());
    EXPECT_THROW(before_after_section({png, {}, "", ""}), std::logic_error);
}

TEST(Curves, for_phones_are_narrow_and_show_the_whole_subtitle) {
    CurveChart chart = chart_of({1, 2, 3, 2});
    chart.subtitle = "motion relative to frame 0, to the right (x) and downward (y); bands: one "
                     "standard deviation of the motion";
    chart.figures = {{"3 px", "at most"}, {"2 px", "median"}};
    const std::string phone = curves(chart, ChartWidth::phone);
    EXPECT_EQ(test::markup_error(phone), "");
    const auto width = [](const std::string& svg) {
        return std::stod(up_to_quote(svg, "viewBox=\"0 0 "));
    };
    EXPECT_LE(width(phone), 400);
    EXPECT_GE(width(curves(chart)), 1000);
    EXPECT_THAT(phone, HasSubstr(" motion</text>"));
    EXPECT_THAT(phone, Not(HasSubstr("…")));
    EXPECT_EQ(test::occurrences(phone, "class=\"figures\""), 2) << "one per line";
    EXPECT_EQ(test::occurrences(phone, "<circle"), 0);
    EXPECT_EQ(test::markup_error(curves(chart_of({}), ChartWidth::phone)), "");
}

TEST(ScaleBar, is_a_round_length_of_about_a_fifth_of_the_picture) {
    for (const double pixels : {37., 100., 512., 4096.}) {
        for (const double size : {.0123, .2, 3., 700.}) {
            const ScaleBar bar = scale_bar(pixels, size, "nm");
            EXPECT_GE(bar.fraction, .07) << bar.text;
            EXPECT_LE(bar.fraction, .25) << bar.text;
            const double length = std::stod(bar.text);
            EXPECT_NEAR(length, bar.fraction * pixels * size, 1e-6 * length);
            const double power = std::pow(10, std::floor(std::log10(length) + 1e-9));
            const double digit = std::round(length / power * 1e6) / 1e6;
            EXPECT_TRUE(digit == 1 || digit == 2 || digit == 5) << bar.text;
            EXPECT_TRUE(bar.text.ends_with(" nm"));
        }
    }
    EXPECT_EQ(scale_bar(512, 0, "").text, "100 px");
}

TEST(BeforeAfterSection, has_a_scale_bar) {
    const Section section = before_after_section({png, png, "", "", {"20 <nm>", .25}});
    EXPECT_EQ(test::markup_error("<main>" + section.html + "</main>"), "");
    EXPECT_THAT(section.html, HasSubstr("style=\"width:25.000%\"><i></i>20 &lt;nm&gt;</div>"));
}

TEST(SideBySideSection, has_two_images_and_no_slider) {
    const Section section = side_by_side_section({png, png, "a & b", "Spectra"});
    EXPECT_EQ(test::markup_error("<main>" + section.html + "</main>"), "");
    EXPECT_EQ(test::occurrences(section.html, "<img"), 2);
    EXPECT_EQ(test::occurrences(section.html, "<input"), 0);
    EXPECT_THAT(section.html, HasSubstr("a &amp; b"));
    EXPECT_THROW(side_by_side_section({{}, png, "", ""}), std::logic_error);
}

TEST(FramesSection, shows_pictures_reasons_and_flags) {
    std::vector<PicturedFrame> frames(3);
    frames[0].frame.frame = 4;
    frames[0].frame.left_out = "every sample is <0>";
    frames[0].png = png;
    frames[1].frame.frame = 7;
    frames[1].frame.flags = {"mended", "gaps"};
    frames[1].frame.x = 12.345;
    frames[1].png = png;
    frames[2].frame.frame = 9;
    frames[2].frame.left_out = "cannot be read";
    const Section section = frames_section(frames, 1234);
    EXPECT_EQ(test::markup_error("<main>" + section.html + "</main>"), "");
    EXPECT_EQ(test::occurrences(section.html, "<img"), 2) << "one frame cannot be read";
    EXPECT_THAT(section.html, HasSubstr("left out: every sample is &lt;0&gt;"));
    EXPECT_THAT(section.html, HasSubstr("<p>mended, gaps</p>"));
    EXPECT_THAT(section.html, HasSubstr("x 12.35"));
    EXPECT_THAT(section.html, HasSubstr("1,234 more"));
    EXPECT_EQ(frames_section({}, 0).html, "");
}

TEST(FieldSection, draws_arrows_enlarged_by_a_round_factor) {
    FieldPicture field{3, 480, 240, 24, {}};
    field.arrows = {{100, 50, 3, 0, true}, {200, 50, 0, -1.5, true}, {300, 50, 40, 40, false}};
    const Section section = field_section(field);
    EXPECT_EQ(test::markup_error("<main>" + section.html + "</main>"), "");
    // The longest known arrow, of 3 px, is enlarged to 30 px, at most 1.5 times the spacing.
    EXPECT_THAT(section.html, HasSubstr("at most 3.00 px, with arrows 10 times as long"));
    EXPECT_THAT(section.html, HasSubstr("M100.0 50.0l30.0 0.0"));
    EXPECT_THAT(section.html, HasSubstr("M200.0 50.0l0.0 -15.0"));
    EXPECT_THAT(section.html, HasSubstr("<path class=\"unknown\" d=\"M300.0 50.0l400.0 400.0"));
    field.arrows = {{100, 50, 0, 0, true}};
    EXPECT_EQ(test::markup_error(field_section(field).html), "");
    EXPECT_THROW(field_section({}), std::logic_error);
}

TEST(Page, shows_its_first_section_with_its_script) {
    Page page;
    page.title = "Shown";
    page.shown = {{"First", "<p>seen</p>", "// moves it\n"}};
    page.facts = {{"a", "b"}};
    const std::string html = render(page);
    EXPECT_LT(html.find("<p>seen</p>"), html.find("<dl>"));
    EXPECT_THAT(html, HasSubstr("// moves it"));
    EXPECT_THAT(html, HasSubstr("script-src 'unsafe-inline'"));
}

TEST(ReportDocument, is_read_back_as_written) {
    Page page;
    page.title = std::string(test::hostile_name);
    page.subtitle = "below";
    page.shown = {{"First", "<p>seen</p>", "// moves it\n"}};
    page.sections = {{"Last", "<p>told</p>", "// draws it\n"}};
    const std::string html = render(page);
    const Document document = read_document("a.html", html);
    EXPECT_EQ(to_html(document), html);
    EXPECT_EQ(document.scripts.size(), 2U);
}

TEST(ReportDocument, from_another_program_or_truncated_is_refused) {
    Page page;
    page.title = "Whole";
    const std::string html = render(page);
    for (const std::string& text :
         {std::string(), std::string("<html></html>\n"), html.substr(0, html.size() - 3),
          html.substr(0, 200), "<title>other</title>" + html}) {
        EXPECT_EQ(test::message_of<InvalidFile>([&] { read_document("a.html", text); }),
                  "a.html: is not a complete page written by --report");
    }
}

TEST(JoinedReports, contain_pages_in_order_with_links_and_each_script_once) {
    Page one, two;
    one.title = std::string(test::hostile_name);
    two.title = "Two";
    one.shown = two.shown = {{"Moving", "<p>seen</p>", "// moves it\n"}};
    two.facts = {{"label", "value"}};
    const std::vector<Document> pages = {read_document("1", render(one)),
                                         read_document("2", render(two))};
    const std::string html = to_html(joined("Both & more", pages));
    EXPECT_EQ(test::markup_error(html), "");
    EXPECT_EQ(test::occurrences(html, "// moves it"), 1);
    EXPECT_EQ(test::occurrences(html, "<p>seen</p>"), 2);
    EXPECT_THAT(html, HasSubstr("<a href=\"#run-2\">Two</a>"));
    EXPECT_THAT(html, HasSubstr("<h1>Both &amp; more</h1>"));
    EXPECT_LT(html.find("id=\"run-1\""), html.find("id=\"run-2\""));
    EXPECT_EQ(to_html(read_document("3", html)), html); // joined pages can be read like others
}

} // namespace
} // namespace sextant::report
