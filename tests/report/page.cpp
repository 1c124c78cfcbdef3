// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/page.hpp"

#include "sextant/report/graph_drawing.hpp"

#include <limits>
#include <stdexcept>

#include "tests/report/markup.hpp"
#include "tests/report/schedules.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The start of a PNG file of 640 by 400 pixels: the part that a page reads.
std::vector<std::byte> png_header() {
    std::vector<std::byte> bytes;
    for (int b : {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0,    0, 0, 13, 0x49, 0x48, 0x44,
                  0x52, 0,    0,    2,    0x80, 0,    0,    1,    0x90, 8, 6, 0,  0,    0}) {
        bytes.push_back(static_cast<std::byte>(b));
    }
    return bytes;
}

Page full_page() {
    Page page;
    page.title = "Composite of 4 frames";
    page.subtitle = "4 ranks";
    page.picture = {png_header(), "A head", "frame.png"};
    page.facts = {{"Algorithm", "radix-k"}, {"Why", "a rule"}};
    page.phases = {{"read", 0.3}, {"composite", 0.1}};
    page.figures = {{draw(test::compositing_schedule("direct-send", 4)), "Who sends to whom"}};
    page.next_steps = {{"Compare.", "sextant composite *.exr -o a.png > log"}};
    return page;
}

TEST(Page, contains_all_its_parts) {
    const std::string html = render(full_page());
    EXPECT_EQ(test::markup_error(html), "");
    EXPECT_THAT(html, HasSubstr("<h1>Composite of 4 frames</h1>"));
    EXPECT_THAT(
        html, HasSubstr("width=\"640\" height=\"400\" alt=\"A head\" "
                        "src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAGQCAYAAAA=\""));
    EXPECT_THAT(html, HasSubstr("<dt>Why</dt><dd>a rule</dd>"));
    EXPECT_THAT(html,
                HasSubstr("<td class=\"number\">300 ms</td><td class=\"number\">75.0 %</td>"));
    EXPECT_THAT(html, HasSubstr("width:33.33%"));
    EXPECT_THAT(html, HasSubstr("Sum</th><td class=\"number\">400 ms</td>"));
    EXPECT_THAT(html, HasSubstr("<code>sextant composite *.exr -o a.png &gt; log</code>"));
    EXPECT_EQ(test::occurrences(html, "<path class=\"message "), 12);
}

TEST(Page, requires_no_other_files) {
    const std::string html = render(full_page());
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("<link")));
    EXPECT_THAT(html, Not(HasSubstr("@import")));
    EXPECT_THAT(html, Not(HasSubstr("url(")));
    EXPECT_EQ(test::occurrences(html, "http"), // only in XML namespaces and in http-equiv
              test::occurrences(html, "xmlns=\"http://www.w3.org/") + 1);
}

TEST(Page, empty_parts_are_omitted) {
    Page page;
    page.title = "Nothing";
    const std::string html = render(page);
    EXPECT_EQ(test::markup_error(html), "");
    for (const char* part : {"<section", "<figure", "<img", "<table", "<dl", "<ol", "<p>"}) {
        EXPECT_THAT(html, Not(HasSubstr(part)));
    }
}

TEST(Page, hostile_text_is_escaped_everywhere) {
    const std::string name(test::hostile_name);
    Page page = full_page();
    page.title = page.subtitle = page.picture.alternative = page.picture.caption = name;
    page.facts = {{name, name}};
    page.phases = {{name, 1}};
    page.figures[0].caption = name;
    page.next_steps = {{name, name}};
    const std::string html = render(page);
    test::expect_escaped(html);
    EXPECT_EQ(test::occurrences(html, "é.png"), 11);
}

TEST(Page, an_image_always_has_an_alternative_text) {
    Page page = full_page();
    page.picture.alternative.clear();
    EXPECT_THAT(render(page), HasSubstr("alt=\"frame.png\""));
    page.picture.caption.clear();
    EXPECT_THAT(render(page), HasSubstr("alt=\"The image produced by this run\""));
}

TEST(Page, phases_that_take_no_time_are_shown_as_zero_percent) {
    Page page;
    page.phases = {{"read", 0}, {"write", 0}};
    const std::string html = render(page);
    EXPECT_EQ(test::markup_error(html), "");
    EXPECT_EQ(test::occurrences(html, "0.0 %"), 2);
    EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(Page, invalid_content_is_refused) {
    Page page;
    page.picture.png.assign(40, std::byte{'x'});
    EXPECT_THROW(render(page), std::logic_error);
    page.picture.png.assign(3, std::byte{0x89});
    EXPECT_THROW(render(page), std::logic_error);
    page = {};
    page.phases = {{"read", -1}};
    EXPECT_THROW(render(page), std::logic_error);
    page.phases = {{"read", std::numeric_limits<double>::quiet_NaN()}};
    EXPECT_THROW(render(page), std::logic_error);
    page = {};
    page.figures = {{"<p>no drawing</p>", ""}};
    EXPECT_THROW(render(page), std::logic_error);
}

TEST(Page, equal_pages_give_the_same_text) {
    EXPECT_EQ(render(full_page()), render(full_page()));
}

} // namespace
} // namespace sextant::report
