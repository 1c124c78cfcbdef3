// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/help.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

std::string row(std::string_view left, std::string_view right) {
    return fmt::format("  {:<26} {}\n", left, right);
}

std::string command_row(std::string_view name, std::string_view summary) {
    return fmt::format("  {:<11} {}\n", name, summary);
}

} // namespace

std::string with_value(const Field& field) {
    if (field.is_positional || field.kind == Field::Kind::flag)
        return field.called();
    return fmt::format(fmt::runtime(field.without_value.empty() ? "{} {}" : "{}[={}]"),
                       field.called(), field.value_name);
}

std::string usage_of(const Operation& operation) {
    std::string usage = fmt::format("Usage: sextant {}", operation.name);
    bool others = false;
    for (const Field& field : operation.options.fields) {
        if (field.is_required)
            usage += fmt::format(" {}", with_value(field));
        else if (field.is_positional)
            usage += fmt::format(" [{}]", field.called());
        else
            others = true;
    }
    return usage + (others ? " [OPTIONS]\n" : "\n");
}

std::string explained(const Field& field) {
    std::string text = field.meaning;
    if (!field.choices.empty())
        text += fmt::format("{}{}", text.empty() ? "" : ": ", fmt::join(field.choices, ", "));
    if (const std::string usual = field.text(); !usual.empty() && field.kind != Field::Kind::flag)
        text += fmt::format(" [{}]", usual);
    return text;
}

std::string help_of(const Operation& operation) {
    std::string help = fmt::format("{}\n{}\n", operation.summary, usage_of(operation));
    for (const Field& field : operation.options.fields) {
        const std::string letter =
            field.option_letter ? fmt::format("-{}, ", field.option_letter) : "";
        help += row(letter + with_value(field), explained(field));
    }
    help += row("-h, --help", "show this help; [] shows the default");
    if (!operation.notes.empty())
        help += fmt::format("\n{}\n", operation.notes);
    return help + fmt::format("\nExample:\n{}\n", operation.example);
}

std::string help_of(const Commands& commands) {
    std::string help =
        "Parallel image computing: measures the machine, predicts the time of each algorithm, "
        "and runs\nthe fastest.\nUsage: sextant COMMAND [OPTIONS]\n";
    for (const Group& group : commands.groups) {
        help += fmt::format("\n{}\n", group.title);
        for (const Operation& operation : group.operations)
            help += command_row(operation.name, operation.summary);
    }
    if (!commands.laboratory.empty())
        help += "\nLaboratory\n";
    for (const LaboratoryCommand& command : commands.laboratory)
        help += command_row(command.name, command.summary);
    return help + "\nsextant COMMAND --help describes a command and shows an example.\nsextant "
                  "--version prints the version.\n";
}

} // namespace sextant::command
