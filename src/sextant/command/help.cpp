// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/help.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

std::string row(std::string_view left, std::string_view right) {
    return fmt::format("  {:<26} {}\n", left, right);
}

/// "IN...", "[FAMILY]" if optional, "--output OUT".
std::string in_usage(const Parameter& parameter) {
    if (parameter.positional)
        return parameter.required ? parameter.called() : fmt::format("[{}]", parameter.called());
    return fmt::format("{} {}", parameter.called(), parameter.value);
}

std::string usage_of(const Operation& operation) {
    std::string usage = fmt::format("Usage: sextant {}", operation.name);
    bool options = false;
    for (const Parameter& parameter : operation.parameters) {
        if (parameter.positional || parameter.required)
            usage += fmt::format(" {}", in_usage(parameter));
        else
            options = true;
    }
    return usage + (options ? " [OPTIONS]\n" : "\n");
}

std::string names_of(const Parameter& parameter) {
    if (parameter.positional)
        return parameter.called();
    const std::string names = fmt::format("{} {}", parameter.called(), parameter.value);
    return parameter.letter ? fmt::format("-{}, {}", parameter.letter, names) : names;
}

std::string explained(const Parameter& parameter) {
    std::string text(parameter.help);
    if (!parameter.choices.empty())
        text += fmt::format(": {}", fmt::join(parameter.choices, ", "));
    if (!parameter.fallback.empty())
        text += fmt::format(" [{}]", parameter.fallback);
    return text;
}

} // namespace

std::string help_of(const Operation& operation) {
    std::string help = fmt::format("{}\n{}\n", operation.summary, usage_of(operation));
    for (const Parameter& parameter : operation.parameters)
        help += row(names_of(parameter), explained(parameter));
    help += row("-h, --help", "this; what stands in [] is taken where nothing is given");
    return help + fmt::format("\nExample:\n{}\n", operation.example);
}

std::string help_of(const Commands& commands) {
    std::string help = "Parallel image computing: partial images of many ranks into one picture\n"
                       "Usage: sextant COMMAND [...]\n\n";
    for (const Operation& operation : commands.operations)
        help += row(operation.name, operation.summary);
    for (const LaboratoryCommand& command : commands.laboratory)
        help += row(command.name, command.summary);
    help += row("--version", "which sextant this is");
    return help + "\nsextant COMMAND --help explains a command and shows an example\n";
}

} // namespace sextant::command
