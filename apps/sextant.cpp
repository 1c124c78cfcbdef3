// SPDX-License-Identifier: BSD-3-Clause
// The command: one subcommand an operation, made from the operations' own declarations.
#include "sextant/comm/agree.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/operation/provenance.hpp"

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using sextant::operation::Operation;
using sextant::operation::Parameter;
using sextant::operation::Type;

constexpr int usage_error = 2, failure = 1;

using Given = std::map<std::string, std::vector<std::string>>;

std::string help_of(const Parameter& parameter) {
    std::string help(parameter.help);
    if (!parameter.choices.empty()) {
        help += fmt::format(" ({})", fmt::join(parameter.choices, ", "));
    }
    return help;
}

void declare(CLI::App& command, const Parameter& parameter, Given& given) {
    std::vector<std::string>& values = given[std::string(parameter.name)];
    std::string names =
        parameter.positional ? std::string(parameter.name) : fmt::format("--{}", parameter.name);
    if (parameter.letter)
        names = fmt::format("-{},{}", parameter.letter, names);
    if (parameter.type == Type::flag) {
        command.add_flag_callback(
            names, [&values] { values = {"true"}; }, help_of(parameter));
        return;
    }
    CLI::Option* option = command.add_option(names, values, help_of(parameter));
    option->type_name(std::string(parameter.value));
    option->default_str(std::string(parameter.fallback));
    if (parameter.type != Type::files)
        option->expected(1);
}

/// One process of a group speaks for all.
bool speaks() {
    return sextant::detect_launcher().rank == 0;
}

/// One process tells. The others end a little later: a launcher may end all at the first that
/// fails, with them the one that tells, and without MPI they cannot wait for each other.
int say(const std::string& what, int code) {
    if (speaks())
        std::fputs(fmt::format("sextant: {}\n", what).c_str(), stderr);
    else
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return code;
}

int run(const Operation& operation, const Given& given) {
    try {
        return operation.run(sextant::operation::Values(operation.parameters, given));
    } catch (const sextant::AgreedFailure& error) {
        const int code = error.invalid_task() ? usage_error : failure;
        return error.told() ? code : say(error.what(), code);
    } catch (const sextant::InvalidTask& error) {
        return say(error.what(), usage_error);
    } catch (const std::bad_alloc&) {
        return say("out of memory", failure);
    } catch (const std::logic_error& error) {
        return say(fmt::format("a bug of sextant, please report it: {}", error.what()), failure);
    } catch (const std::exception& error) {
        return say(error.what(), failure);
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Parallel image computing: partial images of many ranks into one picture");
    app.name("sextant");
    app.set_version_flag("--version", fmt::format("sextant {}", sextant::operation::version()));
    app.require_subcommand(1);
    app.footer("sextant COMMAND --help explains a command and shows an example");

    std::map<const Operation*, Given> given;
    for (const Operation& operation : sextant::operation::catalogue()) {
        CLI::App* command =
            app.add_subcommand(std::string(operation.name), std::string(operation.summary));
        command->footer(fmt::format("Example:\n{}", operation.example));
        for (const Parameter& parameter : operation.parameters) {
            declare(*command, parameter, given[&operation]);
        }
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& shown) { // --help, --version
        return speaks() ? app.exit(shown) : 0;
    } catch (const CLI::ParseError& error) {
        return say(fmt::format("{} (see sextant --help)", error.what()), usage_error);
    }
    for (const Operation& operation : sextant::operation::catalogue()) {
        if (app.got_subcommand(std::string(operation.name)))
            return run(operation, given[&operation]);
    }
    return usage_error;
}
