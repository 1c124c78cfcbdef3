// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/help.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sextant::command {

namespace {

constexpr int usage_error = 2, failure = 1;

/// Returns true on the only process that prints: rank 0, or a process without a launcher.
bool speaks() {
    return detect_launcher().rank == 0;
}

std::string no_command(const Commands& commands, std::span<const std::string> words) {
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

/// Opens /dev/null for standard streams that the caller closed, so that the next file opened does
/// not receive their output. Standard output is opened read-only, so that writing to it still
/// fails. Ignores SIGXFSZ, so that exceeding the file size limit is an error like a full disk.
void settle_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null",
                        stream == STDOUT_FILENO ? O_RDONLY : O_RDWR); // gets this descriptor
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

/// Returns the exit code `code`, or a failure if standard output could not be written.
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

/// Replaces this process with the program of a command, with the same command line. Returns only if
/// the program is missing.
int run_in_program(const LaboratoryCommand& command, char* own_name,
                   std::vector<std::string> words) {
    const std::string program(command.program);
    std::vector<char*> arguments = {own_name};
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (const std::filesystem::path& folder : machine::installation().programs) {
        const std::string path = folder / program;
        if (access(path.c_str(), X_OK) == 0)
            execv(path.c_str(), arguments.data());
    }
    execvp(program.c_str(), arguments.data()); // searches the PATH
    return say(fmt::format("{} is a command of {}, which is not installed: install its package, or "
                           "build Sextant with -D{}=ON",
                           command.name, program, command.build_option),
               failure);
}

const Operation* find_operation(const Commands& commands, const std::string& name) {
    for (const Operation* operation : commands.operations()) {
        if (operation->name == name)
            return operation;
    }
    return nullptr;
}

int print_once(const std::string& text) {
    if (speaks())
        std::fputs(text.c_str(), stdout);
    return 0;
}

int refuse(const std::string& what, std::string_view command = {}) {
    return say(
        fmt::format("{} (see sextant{}{} --help)", what, command.empty() ? "" : " ", command),
        usage_error);
}

/// Runs a command with the options given by `words`.
int run_with(const Operation& operation, std::span<const std::string> words,
             const std::string& program) {
    CommandLine line;
    try {
        line = split_words(operation, words);
    } catch (const InvalidTask& error) {
        return say(error.what(), usage_error);
    }
    if (line.help)
        return print_once(help_of(operation));
    if (!line.mistake.empty())
        return refuse(line.mistake, operation.name);
    return operation.alone && !speaks() ? 0 : run(operation, line.given, program);
}

/// Handles a command line that does not begin with a command.
int run_without_command(const Commands& commands, std::span<const std::string> words) {
    const Operation* operation = nullptr;
    bool help = false;
    for (const std::string& word : words) {
        if (word == "--version")
            return print_once(fmt::format("sextant {}\n", version()));
        help = help || word == "--help" || word == "-h";
        operation = find_operation(commands, word);
        if (operation)
            break;
    }
    if (help)
        return print_once(operation ? help_of(*operation) : help_of(commands));
    return refuse(no_command(commands, words));
}

} // namespace

int main_of(const Commands& commands, int argc, char** argv) {
    settle_streams();
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    // "sextant help COMMAND" means "sextant COMMAND --help".
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    const std::string first = words.empty() ? "" : words.front();
    for (const LaboratoryCommand& command : commands.laboratory) {
        if (command.name == first)
            return finish(run_in_program(command, argv[0], words));
    }
    const Operation* const operation = find_operation(commands, first);
    return finish(operation ? run_with(*operation, std::span(words).subspan(1), commands.program)
                            : run_without_command(commands, words));
}

} // namespace sextant::command
