// SPDX-License-Identifier: BSD-3-Clause
// The given options are checked against the declaration of an operation.
#include "sextant/command/help.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/core/error.hpp"
#include "sextant/filter/filter_options.hpp"
#include "sextant/label/label.hpp"
#include "sextant/registration/series/records.hpp"

#include "tests/support/list_options.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;

struct Trial {
    std::vector<std::string> inputs;
    std::string kind = "all", output;
    std::vector<int> ranks = {1, 2, 3};
    bool fast = false;
};

Record record_of(Trial& trial) {
    Record record;
    record.add("inputs", trial.inputs, "IN...", "images").file().positional().required();
    record.add("kind", trial.kind, "KIND", "which").one_of({"all", "some"}).positional();
    record.add("output", trial.output, "OUT", "the picture").file().letter('o').required();
    record.add_ranges("ranks", trial.ranks, "how many").between(1, 70);
    record.add("fast", trial.fast, "skip checks");
    return record;
}

Effects effects_of(Trial& trial) {
    return {{{"fast"}, "only with KIND all", [&] { return trial.kind == "all"; }}};
}

/// A command that returns the number of its inputs.
Operation trial() {
    return declare_command<Trial>("try", "tries", "  sextant try a -o b",
                                  [](const Trial& options, const Call& call) {
                                      EXPECT_EQ(call.has("fast"), options.fast);
                                      return static_cast<int>(options.inputs.size());
                                  });
}

const Given enough = {{"inputs", {"a", "b"}}, {"output", {"c"}}};

Given with(const std::string& name, std::vector<std::string> values) {
    Given given = enough;
    given[name] = std::move(values);
    return given;
}

std::string refusal(const Given& given) {
    return test::message_of<InvalidTask>([&] { run_command(trial(), given); });
}

TEST(Call, refuses_empty_values_of_lists_and_values_of_flags_other_than_true_and_false) {
    for (const char* const text : {"1,", ",1", "1,,2", ""})
        EXPECT_THAT(refusal(with("ranks", {text})), HasSubstr("ranks")) << text;
    EXPECT_EQ(refusal(with("ranks", {"1,2,"})),
              "--ranks 1,2,: a value is empty, expected values separated by single commas");
    for (const char* const text : {"", "maybe", "1", "True"})
        EXPECT_THAT(refusal(with("fast", {text})), HasSubstr(": expected true or false")) << text;
    EXPECT_EQ(run_command(trial(), with("fast", {"false"})), 2);
}

TEST(Call, returns_given_values_and_defaults) {
    const Operation operation = trial();
    EXPECT_EQ(run_command(operation, with("fast", {"true"})), 2);
    const Operation other = trial();
    const Call call = call_of(other, with("ranks", {"4,2..3"}));
    EXPECT_EQ(call.options.find("ranks")->text(), "2..4");
    EXPECT_EQ(call.options.find("kind")->text(), "all");
    EXPECT_TRUE(call.has("ranks"));
    EXPECT_FALSE(call.has("kind"));
}

TEST(Call, names_options_by_their_command_line_spelling_in_errors) {
    EXPECT_EQ(refusal(enough), "");
    EXPECT_THAT(refusal({{"output", {"c"}}}), HasSubstr("IN... is missing"));
    EXPECT_THAT(refusal({{"inputs", {"a"}}}), HasSubstr("--output is missing"));
    EXPECT_THAT(refusal(with("kind", {"sme"})), HasSubstr("'sme'; did you mean some"));
    EXPECT_THAT(refusal(with("ranks", {"0..3"})), HasSubstr("--ranks 0..3: expected N or"));
    EXPECT_EQ(refusal(with("output", {"c", "d"})), "--output is given 2 times");
    EXPECT_LT(refusal(with("ranks", {std::string(100'000, '9')})).size(), 300U);
}

TEST(Call, refuses_options_without_effect_and_unknown_fields) {
    EXPECT_EQ(refusal(with("fast", {"true"})), "");
    Given given = with("fast", {"true"});
    given["kind"] = {"some"};
    EXPECT_EQ(refusal(given), "--fast has no effect here: only with KIND all");
    const Operation operation = trial();
    Call call = call_of(operation, with("ranks", {"3"}));
    call.effects = {{{"ranks"}, "expected a volume", nullptr, "a volume"}};
    EXPECT_NO_THROW(call.check_effects());
    EXPECT_NO_THROW(call.check_effects("a volume", "a.npy"));
    EXPECT_THROW(call.check_effects("an image", "a.npy"), InvalidTask);
    EXPECT_THROW(run_command(trial(), with("outptu", {"c"})), std::logic_error);
}

/// Checks that the effects of options name declared options.
template <class Options>
void expect_declared() {
    Options options;
    const Record record = record_of(options);
    for (const Effect& effect : effects_of(options)) {
        for (const std::string_view name : effect.options)
            EXPECT_NE(record.find(name), nullptr) << name;
    }
}

TEST(Call, effects_of_the_library_name_declared_options) {
    expect_declared<CompositeOptions>();
    expect_declared<ContoursOptions>();
    expect_declared<FilterOptions>();
    expect_declared<LabelOptions>();
    expect_declared<RegistrationOptions>();
}

/// The values that a command line gives to the options of the trial.
Given given_by(const std::vector<std::string>& words) {
    const CommandLine line = split_words(trial(), words);
    EXPECT_FALSE(line.help);
    EXPECT_EQ(line.mistake, "");
    return line.given;
}

TEST(CommandLine, gives_values_after_options_or_an_equals_sign) {
    const Given given = {{"inputs", {"a", "b"}}, {"output", {"c"}}};
    EXPECT_EQ(given_by({"-o", "c", "a", "b"}), given);
    EXPECT_EQ(given_by({"a", "-oc", "b"}), given);
    EXPECT_EQ(given_by({"a", "b", "-o=c"}), given);
    EXPECT_EQ(given_by({"a", "--output=c", "b"}), given);
    EXPECT_EQ(given_by({"a", "--output", "c", "b"}), given);
    EXPECT_EQ(given_by({"--output=", "-o", "--fast", "--output=a=b"}),
              (Given{{"output", {"", "--fast", "a=b"}}}));
    EXPECT_EQ(given_by({"--fast", "a", "--fast=no"}),
              (Given{{"inputs", {"a"}}, {"fast", {"true", "no"}}}));
}

TEST(CommandLine, gives_words_after_two_dashes_and_numbers_to_arguments) {
    EXPECT_EQ(given_by({"-", "-5", "--", "--fast", "--"}),
              (Given{{"inputs", {"-", "-5", "--fast", "--"}}}));
}

TEST(CommandLine, gives_further_inputs_only_words_that_no_option_takes) {
    Operation one = trial();
    one.options["inputs"].is_required = false;
    one.options["kind"].is_positional = false;
    one.options["output"].or_without("-");
    const auto given = [&](const std::vector<std::string>& words) {
        return split_words(one, words).given;
    };
    EXPECT_EQ(given({"a", "b", "-o"}), (Given{{"inputs", {"a", "b"}}, {"output", {"-"}}}));
    EXPECT_EQ(given({"a", "-o", "b", "c"}), (Given{{"inputs", {"a", "c"}}, {"output", {"b"}}}));
    one.options["output"].one_of({"b", "d"});
    EXPECT_EQ(given({"-o", "b", "c"}), (Given{{"inputs", {"c"}}, {"output", {"b"}}}));
    EXPECT_EQ(given({"a", "-o", "c"}), (Given{{"inputs", {"a", "c"}}, {"output", {"-"}}}));
}

TEST(CommandLine, states_the_first_mistake_and_whether_help_is_requested) {
    Operation one = trial();
    one.options["inputs"].kind = Field::Kind::text;
    one.options["kind"].is_positional = false;
    const auto split = [&](const std::vector<std::string>& words) {
        return split_words(one, words);
    };
    EXPECT_EQ(split({"a", "--outptu", "b"}).mistake,
              "unknown option '--outptu'; did you mean --output?");
    EXPECT_EQ(split({"a", "b", "-x"}).mistake, "unexpected argument 'b'");
    EXPECT_EQ(split({"a", "--", "--fast"}).mistake, "unexpected argument '--fast'");
    EXPECT_TRUE(split({"a", "--help", "b"}).help);
    EXPECT_TRUE(split({"-h"}).help);
}

TEST(CommandLine, refuses_an_option_whose_value_is_missing) {
    for (const char* const option : {"-o", "--output"}) {
        EXPECT_THAT(
            [&] {
                split_words(trial(), std::vector<std::string>{"a", option});
            },
            testing::ThrowsMessage<InvalidTask>("--output needs a value"));
    }
}

TEST(Call, every_numeric_option_of_every_command_declares_its_range) {
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
        for (const Field& field : operation.options.fields) {
            const bool list = field.kind == Kind::integers;
            if (list || field.kind == Kind::integer || field.kind == Kind::number)
                expect_bounds(name + " " + field.called(), field.least, field.most,
                              field.kind != Kind::number, list);
        }
    }
    EXPECT_GT(numbers, 60);
}

TEST(Call, lists_take_commas_words_and_repetition_in_every_command) {
    EXPECT_GT(check_lists(catalogue()), 20);
}

TEST(Call, an_optional_value_needs_an_equals_sign_in_every_command) {
    EXPECT_GT(check_optional_values(catalogue()), 15);
}

TEST(Help, shows_required_options_and_defaults) {
    const std::string help = help_of(trial());
    EXPECT_THAT(help, HasSubstr("Usage: sextant try IN... [KIND] --output OUT [OPTIONS]\n"));
    EXPECT_THAT(help, HasSubstr("-o, --output OUT"));
    EXPECT_THAT(help, HasSubstr("which: all, some [all]"));
    EXPECT_THAT(help, HasSubstr("how many [1..3]"));
    EXPECT_THAT(help, HasSubstr("Example:\n  sextant try a -o b\n"));
}

} // namespace
} // namespace sextant::command
