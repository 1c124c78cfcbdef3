// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/main.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/help.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sextant::command {

namespace {

constexpr int usage_error = 2, failure = 1;

using Given = std::map<std::string, std::vector<std::string>>;

/// CLI11 only splits the command line; the record of the options checks it, so that all error
/// messages have the same form.
void declare(CLI::App& command, const Field& field, Given& given) {
    std::vector<std::string>& values = given[field.name];
    std::string names = field.is_positional ? field.name : field.called();
    if (field.option_letter)
        names = fmt::format("-{},{}", field.option_letter, names);
    CLI::Option* option = command.add_option(names, values);
    if (!field.is_positional || field.kind != Field::Kind::texts) {
        option->expected(1)->allow_extra_args(false);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
}

/// True on the only process that prints: rank 0, or a process without a launcher.
bool speaks() {
    return detect_launcher().rank == 0;
}

/// The words of the command line, with those after the command assigned to options.
std::vector<std::string> assigned(const Commands& commands, std::vector<std::string> words) {
    for (const Operation* operation : commands.operations()) {
        if (words.empty() || words[0] != operation->name)
            continue;
        std::vector<std::string> all = assigned_words(*operation, std::span(words).subspan(1));
        all.insert(all.begin(), words[0]);
        return all;
    }
    return words;
}

void add_command(CLI::App& app, const Operation& operation, Given& given) {
    CLI::App& command = *app.add_subcommand(std::string(operation.name));
    command.allow_extras();
    command.formatter_fn([&operation](auto&&...) { return help_of(operation); });
    for (const Field& field : operation.options.fields)
        declare(command, field, given);
}

/// The message for an unknown option, with a suggestion, or for a surplus argument.
std::string unexpected(const std::string& word, const Operation& operation) {
    if (!word.starts_with('-'))
        return fmt::format("unexpected argument '{}'", word);
    std::vector<std::string> options = {"--help"};
    for (const Field& field : operation.options.fields) {
        if (!field.is_positional)
            options.push_back(field.called());
    }
    const std::vector<std::string_view> names(options.begin(), options.end());
    return unknown_name("option", word, names);
}

std::string no_command(const Commands& commands, const std::vector<std::string>& words) {
    std::vector<std::string_view> names;
    for (const Operation* operation : commands.operations())
        names.push_back(operation->name);
    for (const LaboratoryCommand& command : commands.laboratory)
        names.push_back(command.name);
    if (words.empty())
        return fmt::format("a command is missing; expected one of {}", fmt::join(names, ", "));
    if (!words[0].starts_with('-'))
        return unknown_name("command", words[0], names);
    return unknown_name("option", words[0], std::array<std::string_view, 2>{"--help", "--version"});
}

/// Prints an error on one process. The other processes wait a little before they exit: a launcher
/// may kill all processes when one fails, even before the error is printed, and processes cannot
/// synchronise without MPI.
int say(const std::string& what, int code) {
    if (speaks())
        std::fputs(fmt::format("sextant: {}\n", printable(bounded_message(what))).c_str(), stderr);
    else
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return code;
}

int run(const Operation& operation, const Given& given, const std::string& program) {
    try {
        return run_command(operation, given, program);
    } catch (const AgreedFailure& error) {
        const bool wrong_usage = error.fault() == AgreedFailure::Fault::task;
        const int code = wrong_usage ? usage_error : failure;
        return error.reported() ? code : say(error.what(), code);
    } catch (const InvalidData& error) {
        return say(error.what(), failure);
    } catch (const InvalidTask& error) {
        return say(error.what(), usage_error);
    } catch (const std::bad_alloc&) {
        return say("out of memory", failure);
    } catch (const std::logic_error& error) {
        return say(fmt::format("internal error, please report it: {}", error.what()), failure);
    } catch (...) {
        return say(text_of_current_exception(), failure);
    }
}

/// Runs the operation that the command line names.
int dispatch(const Commands& commands, const CLI::App& app,
             const std::map<const Operation*, Given>& given) {
    const auto refuse = [](const std::string& what, const std::string& command) {
        return say(fmt::format("{} (see sextant{} --help)", what, command), usage_error);
    };
    for (const Operation* const each : commands.operations()) {
        const Operation& operation = *each;
        const CLI::App& command = *app.get_subcommand(std::string(operation.name));
        if (!command.parsed() || app.remaining_size() > 0)
            continue;
        if (command.remaining_size() > 0) {
            return refuse(unexpected(command.remaining()[0], operation),
                          fmt::format(" {}", operation.name));
        }
        return operation.alone && !speaks()
                   ? 0
                   : run(operation, given.at(&operation), commands.program);
    }
    return refuse(no_command(commands, app.remaining()), "");
}

/// Opens /dev/null for standard streams that the caller closed, so that output does not go to the
/// next file opened; standard output cannot be written then, as if it were still closed. Ignores
/// SIGXFSZ, so that exceeding the file size limit is an error like a full disk.
void settle_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null",
                        stream == STDOUT_FILENO ? O_RDONLY : O_RDWR); // gets this number
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

/// Returns failure if standard output could not be written.
int finish(int code) {
    const bool flushed = std::fflush(stdout) == 0;
    const int error = flushed ? 0 : errno;
    if (code != 0 || (flushed && std::ferror(stdout) == 0))
        return code;
    const bool closed = error == EBADF;
    const std::string why = closed  ? ": it is closed"
                            : error ? ": " + std::generic_category().message(error)
                                    : "";
    return say("standard output: cannot be written" + why, failure);
}

/// Replaces this process by the program of a command, with the same command line. Returns only if
/// the program is missing.
int run_in_program(const LaboratoryCommand& command, char** argv) {
    const std::string program(command.program);
    for (const std::filesystem::path& folder : machine::installation().programs) {
        const std::string path = folder / program;
        if (access(path.c_str(), X_OK) == 0)
            execv(path.c_str(), argv);
    }
    execvp(program.c_str(), argv); // on the PATH
    return say(fmt::format("{} is a command of {}, which is not installed: install its package, or "
                           "build Sextant with -D{}=ON",
                           command.name, program, command.build_option),
               failure);
}

/// Parses the command line and runs the operation.
int obey(const Commands& commands, int argc, char** argv) {
    for (const LaboratoryCommand& command : commands.laboratory) {
        if (argc > 1 && argv[1] == command.name)
            return run_in_program(command, argv);
    }
    CLI::App app;
    app.set_version_flag("--version", fmt::format("sextant {}", version()));
    app.require_subcommand(0, 1);
    app.allow_extras();
    app.formatter_fn([&commands](auto&&...) { return help_of(commands); });
    std::map<const Operation*, Given> given;
    for (const Operation* operation : commands.operations())
        add_command(app, *operation, given[operation]);
    try {
        std::vector<std::string> words = assigned(commands, {argv + 1, argv + argc});
        std::reverse(words.begin(), words.end()); // the order that CLI11 expects
        app.parse(std::move(words));
    } catch (const CLI::Success& shown) { // --help or --version was given
        return speaks() ? app.exit(shown) : 0;
    } catch (const CLI::ArgumentMismatch& error) { // such as "--output: 1 required OUT missing"
        const std::string what = error.what();
        return say(fmt::format("{} needs a value", what.substr(0, what.find(':'))), usage_error);
    } catch (const CLI::ParseError& error) {
        return say(error.what(), usage_error);
    }
    return dispatch(commands, app, given);
}

} // namespace

int main_of(const Commands& commands, int argc, char** argv) {
    settle_streams();
    // "sextant help COMMAND" means "sextant COMMAND --help".
    std::vector<char*> words(argv, argv + argc);
    std::string option = "--help";
    if (argc > 1 && std::string_view(words[1]) == "help") {
        words.erase(words.begin() + 1);
        words.push_back(option.data());
    }
    words.push_back(nullptr);
    return finish(obey(commands, static_cast<int>(words.size()) - 1, words.data()));
}

} // namespace sextant::command
