// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::command {

namespace {

[[noreturn]] void refuse(const Parameter& parameter, std::string_view value,
                         const std::string& expected) {
    constexpr std::size_t most_shown = 100;
    throw InvalidTask(fmt::format("{} {}: expected {}", parameter.called(),
                                  value.empty() ? "''" : shortened(value, most_shown), expected));
}

/// `whole` is the parameter's value, `text` all or a part of it.
std::int64_t parse_integer(std::string_view text, const Parameter& parameter,
                           std::string_view whole) {
    const auto least = static_cast<std::int64_t>(parameter.least);
    const auto most = static_cast<std::int64_t>(parameter.most);
    const auto number = parsed_number<std::int64_t>(text);
    if (!number || *number < least || *number > most)
        refuse(parameter, whole, fmt::format("a whole number from {} to {}", least, most));
    return *number;
}

double parse_number(std::string_view text, const Parameter& parameter) {
    const auto number = parsed_number<double>(text);
    if (!number || *number < parameter.least || *number > parameter.most)
        refuse(parameter, text,
               fmt::format("a number from {} to {}", parameter.least, parameter.most));
    return *number;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    for (std::size_t start = 0;;) {
        const std::size_t end = text.find(separator, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string_view::npos)
            return parts;
        start = end + separator.size();
    }
}

void check_range(std::string_view range, const Parameter& parameter, std::string_view whole) {
    const auto ends = split(range, "..");
    if (ends.size() > 2)
        refuse(parameter, whole, "N or FIRST..LAST, or several with commas between");
    const auto first = parse_integer(ends.front(), parameter, whole);
    if (parse_integer(ends.back(), parameter, whole) < first)
        refuse(parameter, whole, "a first number that is not above the last");
}

void check_value(const Parameter& parameter, const std::string& value) {
    switch (parameter.type) {
    case Type::integer:
        parse_integer(value, parameter, value);
        break;
    case Type::integers:
        for (std::string_view part : split(value, ","))
            parse_integer(part, parameter, value);
        break;
    case Type::number:
        parse_number(value, parameter);
        break;
    case Type::ranges:
        for (std::string_view part : split(value, ","))
            check_range(part, parameter, value);
        break;
    case Type::choice:
        if (std::find(parameter.choices.begin(), parameter.choices.end(), value) ==
            parameter.choices.end()) {
            throw InvalidTask(unknown_name(fmt::format("value for {}:", parameter.called()), value,
                                           parameter.choices));
        }
        break;
    case Type::file:
    case Type::files:
        if (value.empty())
            throw InvalidTask(fmt::format("{} is empty: expected a name", parameter.called()));
        break;
    case Type::text:
    case Type::flag:
        break;
    }
}

/// The number; check_value has already accepted it.
template <class Number>
Number number_of(std::string_view text) {
    return parsed_number<Number>(text).value();
}

void check_count(const Parameter& parameter, std::size_t given) {
    if (given > 1 && parameter.type != Type::files)
        throw InvalidTask(fmt::format("{} is given {} times", parameter.called(), given));
}

} // namespace

std::string Parameter::called() const {
    return positional ? std::string(value) : fmt::format("--{}", name);
}

bool Parameter::is_numeric() const {
    return type == Type::integer || type == Type::integers || type == Type::number ||
           type == Type::ranges;
}

Values::Values(std::span<const Parameter> parameters,
               const std::map<std::string, std::vector<std::string>>& given) {
    for (const Parameter& parameter : parameters) {
        const std::string name(parameter.name);
        const auto found = given.find(name);
        if (found != given.end() && !found->second.empty()) {
            check_count(parameter, found->second.size());
            values_[name] = found->second;
            given_.insert(name);
            if (parameter.type != Type::file && parameter.type != Type::files)
                settings_ += fmt::format("{} {}\n", name, found->second.front());
        } else if (!parameter.fallback.empty()) {
            values_[name] = {std::string(parameter.fallback)};
        } else if (parameter.required) {
            throw InvalidTask(fmt::format("{} is missing: {}", parameter.called(), parameter.help));
        }
        for (const std::string& value : values_[name])
            check_value(parameter, value);
    }
}

bool Values::given(std::string_view name) const {
    return given_.contains(name);
}

void refuse_given(const Values& values, std::initializer_list<std::string_view> names,
                  std::string_view why) {
    for (const std::string_view name : names) {
        if (values.given(name))
            throw InvalidTask(fmt::format("--{} has no effect here: {}", name, why));
    }
}

bool Values::has(std::string_view name) const {
    const auto found = values_.find(name);
    return found != values_.end() && !found->second.empty();
}

std::vector<std::string> Values::texts(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw std::logic_error(fmt::format("no parameter {}", name));
    return found->second;
}

std::string Values::text(std::string_view name) const {
    const std::vector<std::string> all = texts(name);
    return all.empty() ? "" : all.back();
}

std::int64_t Values::integer(std::string_view name) const {
    return number_of<std::int64_t>(text(name));
}

std::vector<int> Values::integers(std::string_view name) const {
    std::vector<int> numbers;
    const std::string all = text(name);
    if (all.empty())
        return numbers;
    for (std::string_view part : split(all, ","))
        numbers.push_back(number_of<int>(part));
    return numbers;
}

double Values::number(std::string_view name) const {
    return number_of<double>(text(name));
}

std::vector<int> Values::ranges(std::string_view name) const {
    struct Span {
        int first, last;
    };
    std::vector<Span> spans;
    const std::string all = text(name);
    for (std::string_view part : split(all, ",")) {
        const auto ends = split(part, "..");
        spans.push_back({number_of<int>(ends.front()), number_of<int>(ends.back())});
    }
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.first < b.first; });
    std::vector<int> numbers;
    for (const Span& span : spans) {
        const int first = numbers.empty() ? span.first : std::max(span.first, numbers.back() + 1);
        for (int each = first; each <= span.last; ++each)
            numbers.push_back(each);
    }
    return numbers;
}

bool Values::flag(std::string_view name) const {
    return has(name) && text(name) == "true";
}

void Call::refuse(const std::vector<std::string_view>& names, std::string_view why) const {
    for (const std::string_view name : names) {
        if (has(name))
            throw InvalidTask(
                fmt::format("{} has no effect here: {}", options.find(name)->called(), why));
    }
}

std::vector<const Operation*> Commands::operations() const {
    std::vector<const Operation*> all;
    for (const Group& group : groups) {
        for (const Operation& operation : group.operations)
            all.push_back(&operation);
    }
    return all;
}

Record on_command_line(Record record) {
    for (Field& field : record.fields)
        field.on_command_line = true;
    return record;
}

namespace {

/// A remark if the word for a positional went to an option before it whose value may be left out.
std::string word_taken(const Record& options, const Field& positional,
                       const std::map<std::string, std::vector<std::string>>& given) {
    for (const Field& field : options.fields) {
        const auto found = given.find(field.name);
        if (field.without_value.empty() || found == given.end() || found->second.empty())
            continue;
        const std::string& word = found->second.front();
        const auto& choices = positional.choices;
        if (!word.empty() &&
            (choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end()))
            return fmt::format("; {} is the value of {}, which goes last", word, field.called());
    }
    return "";
}

} // namespace

Call call_of(const Operation& operation,
             const std::map<std::string, std::vector<std::string>>& given) {
    for (const auto& [name, values] : given) {
        if (!operation.options.find(name))
            throw std::logic_error(fmt::format("{} has no field {}", operation.name, name));
    }
    Call call = {operation.options, {}};
    for (const Field& field : call.options.fields) {
        const auto found = given.find(field.name);
        if (found == given.end() || found->second.empty()) {
            const std::string taken =
                field.is_positional ? word_taken(call.options, field, given) : "";
            if (field.is_required || (!taken.empty() && !field.choices.empty()))
                throw InvalidTask(
                    fmt::format("{} is missing: {}{}", field.called(), field.meaning, taken));
            continue;
        }
        if (found->second.size() > 1 && field.kind != Field::Kind::texts)
            throw InvalidTask(
                fmt::format("{} is given {} times", field.called(), found->second.size()));
        const std::string& first = found->second.front();
        if (field.kind == Field::Kind::texts)
            field.set_all(found->second);
        else
            field.set(first.empty() && !field.without_value.empty() ? field.without_value : first);
        call.given.insert(field.name);
    }
    return call;
}

int run_command(const Operation& operation,
                const std::map<std::string, std::vector<std::string>>& given) {
    return operation.obey ? operation.obey(call_of(operation, given))
                          : operation.run(Values(operation.parameters, given));
}

} // namespace sextant::command
