// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/help.hpp"

#include "sextant/comm/provenance.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

/// Formats a row, broken between words into lines of at most 100 characters.
std::string row(std::string_view left, std::string_view right) {
    constexpr std::size_t widest = 100;
    std::string text = fmt::format("  {:<26} {}", left, right);
    for (std::size_t line = 0; text.size() - line > widest;) {
        const std::size_t space = text.rfind(' ', line + widest);
        if (space == std::string::npos || space <= line + 29)
            break;
        text.replace(space, 1, "\n" + std::string(29, ' '));
        line = space + 1;
    }
    return text + "\n";
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

namespace {

/// Escapes text for a manual page: backslashes, hyphens, and periods and quotes that begin a line.
std::string roff(std::string_view text) {
    std::string escaped;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\''))
            escaped += "\\&";
        begins_line = c == '\n';
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    }
    return escaped;
}

std::string heading(std::string_view page) {
    std::string title(page);
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    return fmt::format(".TH {} 1 \"\" \"Sextant {}\" \"Sextant\"\n", roff(title), version());
}

/// Formats a section whose lines are shown as they are (.nf).
std::string verbatim(std::string_view title, std::string_view lines) {
    return fmt::format(".SH {}\n.nf\n{}\n.fi\n", title, roff(lines));
}

/// Formats the section NAME, which must be one line.
std::string name_section(std::string_view page, std::string_view summary) {
    return fmt::format(".SH NAME\n{} \\- {}\n", roff(page), roff(summary));
}

/// Quotes text for a shell, in single quotes.
std::string in_quotes(std::string_view text) {
    std::string all = "'";
    for (const char c : text)
        all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

/// Escapes a description for zsh, where brackets, colons and backslashes are special.
std::string described(std::string_view text) {
    std::string all;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\')
            all += '\\';
        all += c;
    }
    return all;
}

std::vector<std::string> spellings(const Field& field) {
    std::vector<std::string> all = {field.called()};
    if (field.option_letter)
        all.push_back(fmt::format("-{}", field.option_letter));
    return all;
}

} // namespace

std::string manual_of(const Operation& operation) {
    const std::string page = fmt::format("sextant-{}", operation.name);
    std::string usage = usage_of(operation);
    usage = usage.substr(usage.find(' ') + 1);
    std::string text = heading(page) + name_section(page, operation.summary) +
                       fmt::format(".SH SYNOPSIS\n{}.SH OPTIONS\n", roff(usage));
    for (const Field& field : operation.options.fields) {
        const std::string letter =
            field.option_letter ? fmt::format("\\fB\\-{}\\fR, ", field.option_letter) : "";
        text += fmt::format(".TP\n{}\\fB{}\\fR\n{}\n", letter, roff(with_value(field)),
                            roff(explained(field)));
    }
    text += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow a summary of the options; [] shows the "
            "default\n";
    if (!operation.notes.empty())
        text += verbatim("NOTES", operation.notes);
    return text + verbatim("EXAMPLES", operation.example) +
           ".SH EXIT STATUS\n0 on success, 1 if a check or a run failed, 2 for incorrect usage.\n"
           ".SH SEE ALSO\n.BR sextant (1)\n";
}

std::string manual_of(const Commands& commands) {
    std::string text = heading("sextant") + name_section("sextant", "parallel image computing") +
                       ".SH SYNOPSIS\n" + roff("sextant COMMAND [OPTIONS]\n") +
                       ".SH DESCRIPTION\nSextant measures the machine, predicts how long each "
                       "algorithm would take on it, runs the fastest, and shows the prediction "
                       "next to the measurement. Most commands also run on the processes of\n"
                       ".BR mpirun (1).\n";
    const auto row = [&](std::string_view name, std::string_view summary) {
        text += fmt::format(".TP\n.BR {} (1)\n{}\n", roff(fmt::format("sextant-{}", name)),
                            roff(summary));
    };
    for (const Group& group : commands.groups) {
        text += fmt::format(".SH {}\n", roff(group.title));
        for (const Operation& operation : group.operations)
            row(operation.name, operation.summary);
    }
    if (!commands.laboratory.empty())
        text += ".SH Laboratory\n";
    for (const LaboratoryCommand& command : commands.laboratory)
        row(command.name, command.summary);
    return text;
}

std::string bash_completion(std::span<const Operation* const> operations) {
    std::vector<std::string_view> names;
    for (const Operation* operation : operations)
        names.push_back(operation->name);
    std::string options, values;
    for (const Operation* operation : operations) {
        std::vector<std::string> all = {"--help"};
        for (const Field& field : operation->options.fields) {
            if (field.is_positional)
                continue;
            const std::vector<std::string> spelt = spellings(field);
            all.insert(all.end(), spelt.begin(), spelt.end());
            if (field.kind == Field::Kind::flag || field.choices.empty())
                continue;
            for (const std::string& each : spelt)
                values += fmt::format("    {}) words={} ;;\n",
                                      in_quotes(fmt::format("{} {}", operation->name, each)),
                                      in_quotes(fmt::format("{}", fmt::join(field.choices, " "))));
        }
        options += fmt::format("    {}) words={} ;;\n", operation->name,
                               in_quotes(fmt::format("{}", fmt::join(all, " "))));
    }
    return fmt::format(R"(# Completion of sextant for bash, made from the declared options.
_sextant() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
        return
    fi
    case "${{COMP_WORDS[1]}} $before" in
{}    esac
    if [ -z "$words" ]; then
        [[ $current == -* ]] || return # a file
        case ${{COMP_WORDS[1]}} in
{}        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _sextant sextant
)",
                       fmt::join(names, " "), values, options);
}

std::string zsh_completion(std::span<const Operation* const> operations) {
    std::string names, cases;
    for (const Operation* operation : operations) {
        names += fmt::format("        {}\n", in_quotes(fmt::format("{}:{}", operation->name,
                                                                   described(operation->summary))));
        std::string arguments;
        for (const Field& field : operation->options.fields) {
            if (field.is_positional)
                continue;
            std::string value;
            if (field.kind != Field::Kind::flag)
                value = fmt::format(
                    "{}:{}:{}", field.without_value.empty() ? "" : ":", described(field.value_name),
                    !field.choices.empty() ? fmt::format("({})", fmt::join(field.choices, " "))
                    : field.is_file        ? "_files"
                                           : " ");
            const char* const equals = field.without_value.empty() ? "" : "=-";
            for (const std::string& spelling : spellings(field))
                arguments += fmt::format(" \\\n            {}",
                                         in_quotes(fmt::format("{}{}[{}]{}", spelling, equals,
                                                               described(field.meaning), value)));
        }
        cases += fmt::format("    {})\n        _arguments{} \\\n            '*:file:_files' ;;\n",
                             operation->name, arguments);
    }
    return fmt::format(R"(#compdef sextant
# Completion of sextant for zsh, made from the declared options.
_sextant() {{
    local -a commands
    commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
_sextant "$@"
)",
                       names, cases);
}

} // namespace sextant::command
