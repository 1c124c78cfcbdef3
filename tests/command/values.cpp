// SPDX-License-Identifier: BSD-3-Clause
// What a user gave, against what an operation declares.
#include "sextant/command/help.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;
using Given = std::map<std::string, std::vector<std::string>>;

const std::vector<Parameter> parameters = {
    {"inputs", Type::files, "IN...", "", "images", 0, true, true},
    {"kind", Type::choice, "KIND", "all", "which", 0, true, false, {"all", "some"}},
    {"output", Type::file, "OUT", "", "the picture", 'o', false, true},
    {"ranks", Type::ranges, "A..B,C", "1..16", "how many", 0, false, false, {}, 1, 70},
    {"radices", Type::integers, "K,K", "", "factors", 0, false, false, {}, 2, 64},
    {"rate", Type::number, "N", "", "a quantity", 0, false, false, {}, 0, 1e6},
    {"json", Type::flag, "", "", "as JSON"}};

const Given enough = {{"inputs", {"a", "b"}}, {"output", {"c"}}};

Given with(const std::string& name, std::vector<std::string> values) {
    Given given = enough;
    given[name] = std::move(values);
    return given;
}

std::string refusal(const Given& given) {
    try {
        Values(parameters, given);
    } catch (const InvalidTask& error) {
        return error.what();
    }
    return "";
}

TEST(Values, are_what_was_given_or_the_defaults) {
    const Values values(parameters, with("radices", {"4,2"}));
    EXPECT_EQ(values.texts("inputs"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(values.text("kind"), "all");
    EXPECT_EQ(values.ranges("ranks").size(), 16U);
    EXPECT_EQ(values.integers("radices"), (std::vector<int>{4, 2}));
    EXPECT_FALSE(values.flag("json"));
    EXPECT_TRUE(Values(parameters, with("json", {"true"})).flag("json"));
}

TEST(Values, name_a_parameter_as_its_user_calls_it) {
    EXPECT_THAT(refusal({{"output", {"c"}}}), HasSubstr("IN... is missing"));
    EXPECT_THAT(refusal({{"inputs", {"a"}}}), HasSubstr("--output is missing"));
    EXPECT_THAT(refusal(with("kind", {"sme"})),
                HasSubstr("value for KIND: 'sme'; did you mean some"));
    EXPECT_THAT(refusal(with("ranks", {"0..3"})),
                HasSubstr("--ranks 0..3: expected a whole number from 1 to 70"));
}

TEST(Values, ranges_are_numbers_and_stretches_of_them_each_once_in_order) {
    const auto ranges = [](const char* text) {
        return Values(parameters, with("ranks", {text})).ranges("ranks");
    };
    EXPECT_EQ(ranges("1..4,13,70"), (std::vector<int>{1, 2, 3, 4, 13, 70}));
    EXPECT_EQ(ranges("13,2..4,3..5,13"), (std::vector<int>{2, 3, 4, 5, 13}));
    EXPECT_EQ(ranges("7"), std::vector<int>{7});
    EXPECT_THAT(refusal(with("ranks", {"1..3,71"})),
                HasSubstr("1..3,71: expected a whole number from 1 to 70"));
    EXPECT_THAT(refusal(with("ranks", {"5..3,7"})), HasSubstr("not above the last"));
    for (const char* wrong : {"", ",", "1,", "1..", "..2", "1 2"})
        EXPECT_THAT(refusal(with("ranks", {wrong})), HasSubstr("expected a whole number")) << wrong;
    EXPECT_THAT(refusal(with("ranks", {"1..2..3"})), HasSubstr("several with commas between"));
}

TEST(Values, quantities_are_within_their_bounds) {
    EXPECT_DOUBLE_EQ(Values(parameters, with("rate", {"1.5e-6"})).number("rate"), 1.5e-6);
    EXPECT_DOUBLE_EQ(Values(parameters, with("rate", {"0"})).number("rate"), 0);
    EXPECT_DOUBLE_EQ(Values(parameters, with("rate", {"1e-320"})).number("rate"), 1e-320)
        << "a number that is not normal";
    for (const char* wrong :
         {"-1", "nan", "inf", "1e999", "1e7", "1s", "", "0x", "0x5", " 5", "5 "})
        EXPECT_THAT(refusal(with("rate", {wrong})),
                    HasSubstr("expected a number from 0 to 1000000"))
            << wrong;
    EXPECT_LT(refusal(with("rate", {std::string(100'000, '9')})).size(), 200U);
}

TEST(Values, every_number_of_every_operation_declares_its_bounds) {
    constexpr double exact = 1LL << 53;
    int numbers = 0;
    for (const Operation& operation : catalogue().operations) {
        for (const Parameter& parameter : operation.parameters) {
            if (!parameter.is_numeric())
                continue;
            ++numbers;
            const std::string where = std::string(operation.name) + " " + parameter.called();
            EXPECT_LT(parameter.least, parameter.most) << where;
            if (parameter.type == Type::number)
                continue;
            const bool list = parameter.type != Type::integer;
            EXPECT_LE(parameter.most, list ? 2147483647. : exact) << where;
            EXPECT_GE(parameter.least, list ? -2147483648. : -exact) << where;
        }
    }
    EXPECT_GT(numbers, 60);
}

TEST(Values, refuse_a_parameter_given_twice_unless_it_lists_files) {
    EXPECT_EQ(refusal(enough), "");
    EXPECT_EQ(refusal(with("output", {"c", "d"})), "--output is given 2 times");
}

TEST(Help, shows_what_must_be_given_and_what_is_taken_otherwise) {
    const Operation operation{"try", "tries", "  sextant try a -o b", parameters, nullptr};
    const std::string help = help_of(operation);
    EXPECT_THAT(help, HasSubstr("Usage: sextant try IN... [KIND] --output OUT [OPTIONS]\n"));
    EXPECT_THAT(help, HasSubstr("-o, --output OUT"));
    EXPECT_THAT(help, HasSubstr("which: all, some [all]"));
    EXPECT_THAT(help, HasSubstr("how many [1..16]"));
    EXPECT_THAT(help, HasSubstr("Example:\n  sextant try a -o b\n"));
}

} // namespace
} // namespace sextant::command
