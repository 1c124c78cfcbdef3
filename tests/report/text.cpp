// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/text.hpp"

#include "sextant/report/svg.hpp"

#include <limits>
#include <set>

#include "tests/report/markup.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

std::string base64_of(std::string_view text) {
    return base64(std::as_bytes(std::span(text.data(), text.size())));
}

TEST(Text, markup_is_escaped) {
    EXPECT_EQ(escape("a < b > c & \"d\" 'e'"), "a &lt; b &gt; c &amp; &quot;d&quot; &#39;e&#39;");
    EXPECT_EQ(escape("Größe 10 µm × 3 – 界 🧠"), "Größe 10 µm × 3 – 界 🧠");
    EXPECT_EQ(escape("two\nlines\tand"), "two\nlines\tand");
}

TEST(Text, invalid_bytes_are_replaced) {
    EXPECT_EQ(escape("\x01"), "\uFFFD");
    EXPECT_EQ(escape(std::string_view("\0", 1)), "\uFFFD");
    EXPECT_EQ(escape("a\xff\xfe"
                     "b"),
              "a\uFFFD\uFFFDb");
    EXPECT_EQ(escape("\xc0\xaf"), "\uFFFD\uFFFD");                     // overlong encoding
    EXPECT_EQ(escape("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");           // encoded surrogate
    EXPECT_EQ(escape("\xe4\xb8"), "\uFFFD\uFFFD");                     // truncated sequence
    EXPECT_EQ(escape("\xef\xbf\xbf"), "\uFFFD");                       // U+FFFF
    EXPECT_EQ(escape("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD"); // above U+10FFFF
}

TEST(Text, is_truncated_by_characters_not_bytes) {
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
    EXPECT_EQ(shortened("äöüß", 4), "äöüß");
    EXPECT_EQ(shortened("äöüßä", 4), "äöü…");
    EXPECT_EQ(shortened("", 4), "");
}

TEST(Text, numbers_have_thousands_separators) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(-123456), "-123,456");
    EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
    EXPECT_EQ(counted(1, "message"), "1 message");
    EXPECT_EQ(counted(1200, "copy"), "1,200 copies");
    EXPECT_EQ(counted(2, "box"), "2 boxes");
}

TEST(Text, durations_have_three_digits_and_a_unit) {
    EXPECT_EQ(to_text(0.0), "0 s");
    EXPECT_EQ(to_text(12.34e-6), "12.3 µs");
    EXPECT_EQ(to_text(4.5e-3), "4.50 ms");
    EXPECT_EQ(to_text(2.0), "2.00 s");
    EXPECT_EQ(to_text(0.99996), "1.00 s");
    EXPECT_EQ(to_text(0.412), "412 ms");
    EXPECT_EQ(to_text(150e-9), "150 ns");
    EXPECT_EQ(to_text(75.25), "75.2 s");
}

TEST(Text, correlations_have_two_digits_of_their_difference_from_one) {
    EXPECT_EQ(correlation_to_text(.83412), "0.834");
    EXPECT_EQ(correlation_to_text(.9913), "0.9913");
    EXPECT_EQ(correlation_to_text(.99957), "0.99957");
    EXPECT_EQ(correlation_to_text(.9999986), "0.9999986");
    EXPECT_EQ(correlation_to_text(-.99957), "-0.99957");
    EXPECT_EQ(correlation_to_text(0), "0.000");
    EXPECT_EQ(correlation_to_text(1), "1.000");
}

TEST(Text, base64_follows_the_standard) {
    EXPECT_EQ(base64_of(""), "");
    EXPECT_EQ(base64_of("f"), "Zg==");
    EXPECT_EQ(base64_of("fo"), "Zm8=");
    EXPECT_EQ(base64_of("foo"), "Zm9v");
    EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64_of("\xff\xfe\xfd"), "//79");
}

TEST(Palette, colours_are_distinct_up_to_24) {
    for (int count : {1, 2, 6, 7, 24, 1000}) {
        std::set<std::string> light, dark;
        for (const Colour& colour : ordered_colours(count)) {
            EXPECT_THAT(colour.light, testing::MatchesRegex("#[0-9a-f]{6}"));
            EXPECT_THAT(colour.dark, testing::MatchesRegex("#[0-9a-f]{6}"));
            light.insert(colour.light), dark.insert(colour.dark);
        }
        EXPECT_EQ(light.size(), static_cast<std::size_t>(std::min(count, 24)));
        EXPECT_EQ(dark.size(), light.size());
        EXPECT_EQ(colour_index(0, count), 0);
        EXPECT_EQ(colour_index(count - 1, count), std::min(count, 24) - 1);
    }
}

TEST(MarkupCheck, finds_errors_in_markup) {
    using test::markup_error;
    EXPECT_EQ(markup_error("<a b=\"c\">d<e/>&amp;</a>"), "");
    for (const char* wrong : {"<a>", "<a></b>", "<a b=c/>", "<a b=\"c\" b=\"d\"/>", "<a>&x</a>",
                              "<a>< </a>", "<a b=\"<\"/>", "<a/><b/>", "<a/>text", "",
                              "<a>\x01</a>", "<a b=\"&\"/>", "<a><b></a></b>"}) {
        EXPECT_NE(markup_error(wrong), "") << wrong;
    }
}

} // namespace
} // namespace sextant::report
