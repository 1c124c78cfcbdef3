// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/text.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Printable, printable_text_is_unchanged) {
    for (const char* text : {"", "frame 17: 3×4 µm", "日本語", "\\x1b", "C:\\x \U0001F52C"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, control_sequences_are_escaped) {
    EXPECT_EQ(printable("\x1b[2J\r\n\t\x7f"), "\\x1b[2J\\x0d\\n\\x09\\u007f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\u009b31m");
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "fig.exe"),
              "a\\u202efig.exe");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable_lines("one\ntwo\x1b\n"), "one\ntwo\\x1b\n");
}

TEST(Printable, invalid_utf_8_bytes_are_escaped_one_by_one) {
    EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80") << "longer than it has to be";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
    EXPECT_EQ(printable("\xe2\x80"
                        "a"),
              "\\xe2\\x80a");
}

TEST(Printable, long_text_is_truncated) {
    EXPECT_EQ(shortened("abc", 3), "abc");
    EXPECT_EQ(shortened("abcd", 3), "abc...");
}

} // namespace
} // namespace sextant
