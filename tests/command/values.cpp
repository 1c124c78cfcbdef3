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
    constexpr double exact = 1LL << 53, int_most = 2147483647, int_least = -2147483648.;
    int numbers = 0;
    const auto expect_bounds = [&](const std::string& where, double least, double most, bool whole,
                                   bool list) {
        ++numbers;
        EXPECT_LT(least, most) << where;
        EXPECT_LE(most, list ? int_most : whole ? exact : most) << where;
        EXPECT_GE(least, list ? int_least : whole ? -exact : least) << where;
    };
    using Kind = Field::Kind;
    for (const Operation* each : catalogue().operations()) {
        const Operation& operation = *each;
        const std::string name(operation.name);
        for (const Parameter& parameter : operation.parameters) {
            if (parameter.is_numeric())
                expect_bounds(name + " " + parameter.called(), parameter.least, parameter.most,
                              parameter.type != Type::number,
                              parameter.type == Type::integers || parameter.type == Type::ranges);
        }
        for (const Field& field : operation.options.fields) {
            const bool list = field.kind == Kind::integers;
            if (list || field.kind == Kind::integer || field.kind == Kind::number)
                expect_bounds(name + " " + field.called(), field.least, field.most,
                              field.kind != Kind::number, list);
        }
    }
    EXPECT_GT(numbers, 60);
}

struct Listing {
    std::string what = "all", file, json;
};

Record record_of(Listing& listing) {
    Record record;
    record.add("what", listing.what, "WHAT", "which").positional().one_of({"all", "some"});
    record.add("file", listing.file, "FILE", "read").positional().required();
    record.add("json", listing.json, "FILE", "results").file().or_without("-");
    return record;
}

TEST(Call, says_which_option_took_the_word_that_is_missing) {
    const Operation operation =
        declare_command<Listing>("try", "", "", [](const Listing& listing, const Call&) {
            return listing.json == "-" ? 1 : 0;
        });
    const auto refused = [&](const Given& given) -> std::string {
        try {
            run_command(operation, given);
        } catch (const InvalidTask& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused({{"json", {"a.npy"}}}),
              "FILE is missing: read; a.npy is the value of --json, which goes last");
    EXPECT_EQ(refused({{"file", {"a"}}, {"json", {"some"}}}),
              "WHAT is missing: which; some is the value of --json, which goes last");
    EXPECT_EQ(refused({{"file", {"a"}}, {"json", {"some.json"}}}), "");
    EXPECT_EQ(refused({{"json", {""}}}), "FILE is missing: read");
    EXPECT_EQ(run_command(operation, {{"file", {"a"}}, {"json", {""}}}), 1);
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
