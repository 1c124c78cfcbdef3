// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::command {

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

/// A remark if an option with an optional value took a word that was probably meant as the
/// positional argument.
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
            return fmt::format("; {} was taken as the value of {}: give that option last", word,
                               field.called());
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
    Call call{.options = operation.options, .given = {}};
    for (const Field& field : call.options.fields) {
        const auto found = given.find(field.name);
        if (found == given.end() || found->second.empty()) {
            const std::string taken =
                field.is_positional ? word_taken(call.options, field, given) : "";
            if (field.is_required || (!taken.empty() && !field.choices.empty()))
                throw InvalidTask(fmt::format("{} is missing{}{}{}", field.called(),
                                              field.meaning.empty() ? "" : ": ", field.meaning,
                                              taken));
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
                const std::map<std::string, std::vector<std::string>>& given,
                const std::string& program) {
    Call call = call_of(operation, given);
    call.program = program;
    return operation.run(call);
}

} // namespace sextant::command
