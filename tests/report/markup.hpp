// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {

/// Checks that markup is well-formed XML: elements closed in order, attributes quoted and unique,
/// only known references, no stray < or &. Covers only what pages contain.
class MarkupCheck {
  public:
    explicit MarkupCheck(std::string_view text) : text_(text) {}

    /// The first error, or "".
    std::string error() {
        while (error_.empty() && at_ < text_.size()) {
            if (text_[at_] == '<')
                element();
            else
                character();
        }
        if (error_.empty() && !open_.empty())
            fail("never closed: " + open_.back());
        if (error_.empty() && roots_ != 1)
            fail("has " + std::to_string(roots_) + " roots");
        return error_;
    }

  private:
    void fail(const std::string& what) {
        const std::size_t from = at_ < 30 ? 0 : at_ - 30;
        error_ = what + " near '" + std::string(text_.substr(from, 60)) + "'";
    }
    bool next_is(std::string_view text) const { return text_.substr(at_, text.size()) == text; }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            ++at_;
    }
    std::string word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                      text_[at_] == '-' || text_[at_] == ':')) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    void character() {
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (c < 0x20 && c != '\n' && c != '\t')
            return fail("control character");
        if (open_.empty() && !std::isspace(c))
            return fail("text outside the root");
        if (c != '&') {
            ++at_;
            return;
        }
        for (std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
            if (!next_is(known))
                continue;
            at_ += known.size();
            return;
        }
        fail("unknown reference");
    }

    void element() {
        if (open_.empty() && next_is("<!DOCTYPE html>")) {
            at_ += std::string_view("<!DOCTYPE html>").size();
        } else if (next_is("<![CDATA[")) {
            at_ = std::min(text_.find("]]>", at_), text_.size());
            close("]]>");
        } else if (next_is("</")) {
            at_ += 2;
            const std::string name = word();
            if (open_.empty() || open_.back() != name)
                return fail("closes '" + name + "'");
            open_.pop_back();
            close(">");
        } else {
            ++at_;
            start();
        }
    }

    void start() {
        const std::string name = word();
        if (name.empty())
            return fail("stray <");
        if (open_.empty())
            ++roots_;
        std::set<std::string> names;
        for (skip_space(); error_.empty() && !next_is(">") && !next_is("/>"); skip_space()) {
            const std::string attribute = word();
            if (attribute.empty() || !names.insert(attribute).second)
                return fail("attribute");
            close("=\"");
            while (error_.empty() && at_ < text_.size() && text_[at_] != '"') {
                if (text_[at_] == '<')
                    return fail("< in an attribute");
                if (text_[at_] == '&')
                    reference_in_attribute();
                else
                    ++at_;
            }
            close("\"");
        }
        if (next_is("/>"))
            return close("/>");
        open_.push_back(name);
        close(">");
    }

    void reference_in_attribute() {
        open_.push_back("attribute");
        character();
        open_.pop_back();
    }

    void close(std::string_view expected) {
        if (!error_.empty())
            return;
        if (!next_is(expected))
            return fail("expected " + std::string(expected));
        at_ += expected.size();
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int roots_ = 0;
    std::vector<std::string> open_;
    std::string error_;
};

/// The first error of markup, or "".
inline std::string markup_error(std::string_view text) {
    return MarkupCheck(text).error();
}

/// Number of occurrences of a text.
inline int occurrences(std::string_view text, std::string_view part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

/// A name that breaks any markup in which it is not escaped.
inline constexpr std::string_view hostile_name =
    "</title></style><script>alert('1')</script>\" onload=\"x\" & ]]> \x01\xff \xc0\xaf é.png";

/// Expects that the markup contains this name, escaped.
inline void expect_escaped(std::string_view text) {
    EXPECT_EQ(markup_error(text), "");
    EXPECT_EQ(occurrences(text, "<script"), 0);
    EXPECT_EQ(occurrences(text, "onload=\"x\""), 0);
    EXPECT_GT(occurrences(text, "é.png"), 0);
}

} // namespace sextant::test
