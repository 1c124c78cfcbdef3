// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

// Checks over all options of all commands of a program.
namespace sextant::command {

/// The values given to an option on a command line.
inline std::vector<std::string> values_of(const Field& field, const Operation& operation,
                                          const std::vector<std::string>& words) {
    return split_words(operation, words).given[field.name];
}

/// The words of a command line, without the option, that leave no argument to be given.
inline std::vector<std::string> all_arguments(const Operation& operation) {
    std::vector<std::string> words;
    for (const Field& field : operation.options.fields) {
        if (field.is_positional)
            words.emplace_back(field.choices.empty() ? "input" : field.choices.front());
    }
    return words;
}

/// The text of an option after a call with these values.
inline std::string text_with(Operation operation, const Field& field,
                             const std::vector<std::string>& values) {
    for (Field& each : operation.options.fields)
        each.is_required = false;
    return call_of(operation, {{field.name, values}}).options.find(field.name)->text();
}

/// Two or three valid values of a list.
inline std::vector<std::string> sample_of(const Field& field) {
    static const std::map<std::string_view, std::vector<std::string>, std::less<>> samples = {
        {"derivatives", {"x", "yy"}},
        {"before", {"smooth@2", "x@3"}},
        {"speedup", {"1", "1.5"}},
        {"sigma", {"4", "2", "3"}},
        {"quantiles", {"0.2", "0.4"}},
        {"thresholds", {"1", "2.5"}},
        {"frames", {"0", "2"}},
        {"jumps", {"2", "-3", "4"}},
        {"collectives", {"bcast", "reduce"}},
        {"algorithms", {"default", "ring"}}};
    const auto found = samples.find(field.name);
    if (found != samples.end())
        return found->second;
    return {fmt::format("{}", field.least + 1), fmt::format("{}", field.least + 3)};
}

/// Returns the number of lists: each takes values separated by commas, in several words, and by
/// repeating the option, also before an input.
inline int check_lists(const Commands& commands) {
    int lists = 0;
    for (const Operation* const operation : commands.operations()) {
        for (const Field& field : operation->options.fields) {
            if (field.is_positional || field.is_file || !is_list(field))
                continue;
            ++lists;
            SCOPED_TRACE(fmt::format("{} {}", operation->name, field.called()));
            const std::vector<std::string> sample = sample_of(field);
            const std::string commas = fmt::format("{}", fmt::join(sample, ","));
            const std::string expected = text_with(*operation, field, {commas});
            const auto expect = [&](std::vector<std::string> words) {
                EXPECT_EQ(text_with(*operation, field, values_of(field, *operation, words)),
                          expected)
                    << fmt::format("{}", fmt::join(words, " "));
            };
            std::vector<std::string> in_words = all_arguments(*operation), repeated;
            in_words.push_back(field.called());
            for (const std::string& value : sample) {
                in_words.push_back(value);
                repeated.insert(repeated.end(), {field.called(), value});
            }
            expect({field.called(), commas});
            expect({field.called() + "=" + commas});
            expect(in_words);
            in_words.push_back("--help");
            expect(in_words);
            if (!all_arguments(*operation).empty())
                repeated.emplace_back("input");
            expect(repeated);
        }
    }
    return lists;
}

/// Returns the number of options with an optional value: none takes a word that may be an input.
inline int check_optional_values(const Commands& commands) {
    int options = 0;
    for (const Operation* const operation : commands.operations()) {
        for (const Field& field : operation->options.fields) {
            if (field.without_value.empty())
                continue;
            ++options;
            SCOPED_TRACE(fmt::format("{} {}", operation->name, field.called()));
            const auto expect = [&](std::vector<std::string> words, const std::string& value) {
                EXPECT_EQ(values_of(field, *operation, words), std::vector{value})
                    << fmt::format("{}", fmt::join(words, " "));
            };
            const std::vector<std::string> arguments = all_arguments(*operation);
            std::vector<std::string> before = {field.called()};
            before.insert(before.end(), arguments.begin(), arguments.end());
            expect({field.called()}, field.without_value);
            expect(before, field.without_value);
            expect({field.called() + "=value"}, "value");
            std::vector<std::string> after = before;
            after.front() = field.called() + "=value";
            expect(after, "value");
        }
    }
    return options;
}

} // namespace sextant::command
