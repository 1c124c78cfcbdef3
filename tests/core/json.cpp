// SPDX-License-Identifier: BSD-3-Clause
// The JSON reader used for all files: accepted texts, and limits on the memory that small files can
// demand.
#include "sextant/core/json.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tests/support/message_of.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Parsed = nlohmann::json;
using testing::ElementsAre;
using testing::StartsWith;

std::string refusal(std::string_view text, const JsonLimits& limits = {}) {
    return test::message_of<InvalidFile>([&] { parse_json(text, "f.json", limits); });
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

std::string with_keys(int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
        text += fmt::format("{}\"k{}\": {}", i > 0 ? "," : "", i, i);
    return text + "}";
}

TEST(Json, is_parsed_as_by_the_nlohmann_library) {
    const std::string text =
        R"({"a": [1, -2, 2.5, true, null, "é\n", {}, []], "b": {"c": {"d": [[3]]}}, "": 0})";
    EXPECT_EQ(parse_json(text, "f.json"), Parsed::parse(text));
    EXPECT_EQ(parse_json("3", "f.json"), 3);
}

TEST(Json, nested_too_deeply_is_refused) {
    EXPECT_EQ(refusal(nested(100)), "");
    EXPECT_EQ(refusal(nested(101)), "f.json: is nested more than 100 levels deep");
    EXPECT_EQ(refusal(std::string(1'000'000, '[')), "f.json: is nested more than 100 levels deep");
}

TEST(Json, with_duplicate_or_too_many_keys_is_refused) {
    EXPECT_EQ(refusal(R"({"a": {"b": 1}, "c": {"b": 1}})"), "");
    EXPECT_EQ(refusal(R"({"a": 1, "b": 2, "a": 1})"),
              "f.json: has the key \"a\" twice in one object");
    EXPECT_EQ(refusal(with_keys(1000)), "");
    EXPECT_EQ(refusal(with_keys(1001)), "f.json: has an object of more than 1000 keys");
}

TEST(Json, with_too_many_values_is_refused) {
    const JsonLimits four{.values = 4};
    EXPECT_EQ(refusal("[1, 2, 3]", four), "");
    EXPECT_EQ(refusal("[1, 2, 3, 4]", four), "f.json: holds more than 4 values");
    EXPECT_EQ(refusal("[[], {}, [0], 1]", four), "f.json: holds more than 4 values");
}

TEST(Json, with_syntax_errors_is_refused_with_a_short_message) {
    EXPECT_THAT(refusal("{\"size\": [7,,"),
                StartsWith("f.json: is not JSON: parse error at line 1, column 13"));
    EXPECT_EQ(refusal("[1, 2"),
              "f.json: is not JSON: unexpected end of the text: the file is truncated");
    EXPECT_THAT(refusal("[1] 2"), StartsWith("f.json: is not JSON"));
    EXPECT_THAT(refusal(""), StartsWith("f.json: is not JSON"));
    EXPECT_THAT(refusal("\x1b[31m"), Not(testing::HasSubstr("\x1b")));
    const std::string digits(10'000'000, '9');
    EXPECT_EQ(refusal("[" + digits + "]"),
              "f.json: is not JSON: number overflow parsing '" + digits.substr(0, 60) + "...'");
    EXPECT_LT(refusal("[\"" + std::string(100'000, 'x')).size(), 500U);
    EXPECT_LT(refusal("{\"" + std::string(100'000, 'x') + "\" 1}").size(), 500U);
    const std::string key(100'000, 'k');
    EXPECT_LT(refusal(fmt::format("{{\"{0}\": 1, \"{0}\": 2}}", key)).size(), 200U);
}

TEST(Json, streams_the_entries_of_a_list_without_keeping_them) {
    const auto streamed = [](const std::string& text, const JsonLimits& limits) {
        std::vector<std::string> entries;
        const Parsed rest =
            parse_json(text, "f.json", limits,
                       {"frames", [&](Parsed&& entry) { entries.push_back(entry.dump()); }});
        entries.push_back(rest.dump());
        return entries;
    };
    const std::string text =
        R"({"frames": [{"frames": [1, 2], "x": {"y": 1}}, 7, [], {}], "other": [8, {"frames": [9]}]})";
    EXPECT_THAT(streamed(text, {}), ElementsAre(R"({"frames":[1,2],"x":{"y":1}})", "7", "[]", "{}",
                                                R"({"frames":[],"other":[8,{"frames":[9]}]})"));
    std::string many = "{\"frames\": [0";
    for (int i = 1; i < 1000; ++i)
        many += ",[1,{\"a\":2}]";
    EXPECT_EQ(streamed(many + "]}", {.values = 8}).size(), 1001U)
        << "few values are held at a time";
    EXPECT_THAT(streamed("{\"frames\": 3}", {}), ElementsAre("{\"frames\":3}"));
    EXPECT_THAT(streamed("[[1]]", {}), ElementsAre("[[1]]"));
}

TEST(Json, is_valid_for_strings_of_any_bytes) {
    const Parsed json = {{"name", "a\xff\x1b[31m\x7f\xc2\x9b\xe2\x80\xae"}};
    const std::string text = to_text(json, -1);
    EXPECT_EQ(text, "{\"name\":\"a\xef\xbf\xbd\\u001b[31m\\u007f\\u009b\\u202e\"}");
    EXPECT_EQ(Parsed::parse(text)["name"], "a\xef\xbf\xbd\x1b[31m\x7f\xc2\x9b\xe2\x80\xae");
    EXPECT_EQ(to_text(nlohmann::ordered_json{{"b", 1}, {"a", "\xe9"}}, -1),
              "{\"b\":1,\"a\":\"\xef\xbf\xbd\"}");
}

TEST(Json, values_are_abbreviated_in_messages) {
    EXPECT_EQ(shown(Parsed::array({1, 2})), "an array of 2");
    EXPECT_EQ(shown(2.5), "2.5");
    EXPECT_EQ(shown(std::string(100'000, 'x')), "\"" + std::string(59, 'x') + "...");
}

TEST(Json, keeps_the_order_of_members_and_the_bits_of_numbers) {
    Json json = {{"b", 1}, {"a", .1}, {"list", std::vector{2, 3}}, {"pair", {{"x", true}}}};
    json.set("none", std::optional<int>());
    json.set("some", std::optional(std::string("")));
    json.set("b", Json::array({1., std::uint64_t{1} << 63, "two", Json()}));
    EXPECT_EQ(json.text(-1), R"({"b":[1.0,9223372036854775808,"two",null],"a":0.1,"list":[2,3],)"
                             R"("pair":{"x":true},"none":null,"some":""})");
}

TEST(Json, becomes_an_object_or_array_when_values_are_added) {
    Json json, copy = json;
    EXPECT_EQ(json.text(), "null");
    json.set("inner", Json::object());
    copy.add(json);
    json.set("inner", Json::array());
    copy.add(json);
    EXPECT_EQ(copy.text(-1), R"([{"inner":{}},{"inner":[]}])");
}

} // namespace
} // namespace sextant
