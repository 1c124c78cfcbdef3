// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/child_process.hpp"
#include "sextant/core/effects.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// A call of a command: the values of all its options, and the names of the options that the user
/// gave.
struct Call {
    Record options;
    std::set<std::string, std::less<>> given;
    std::string program = {}; ///< the shell command that starts this program; empty: its path
    Effects effects = {};     ///< the effects that the command declares

    std::string own_command() const { return program.empty() ? sextant::own_command() : program; }

    bool has(std::string_view option) const { return given.contains(option); }
    /// Throws InvalidTask if the user gave an option that has no effect with the values of the
    /// other options, or on this kind of input; see core/effects.hpp.
    void check_effects(std::string_view kind = "", std::string_view input = "") const {
        sextant::check_effects(
            effects, options, [&](std::string_view option) { return has(option); }, kind, input);
    }
};

/// A command: one source file and one row of the catalogue.
struct Operation {
    std::string_view name;
    std::string_view summary;
    std::string_view example; ///< command lines shown by --help
    Record options;           ///< the options, named as on the command line
    /// Runs the command. Returns the exit code: 0, or 1 if a check failed. Throws sextant::Error.
    std::function<int(const Call& call)> run;
    /// True if one rank suffices: under a launcher, only one process runs the command.
    bool alone = false;
    std::string_view notes = {}; ///< lines that --help shows between the options and the examples
};

/// Returns true for an option that takes several values: separated by commas, in several words, or
/// by repeating the option.
bool is_list(const Field& field);

/// Declares the fields of a record as command-line options.
Record on_command_line(Record record);

/// The processes of a launch (such as by mpirun) that run a command.
enum class RunOn { every_rank, one_rank };

/// Declares a command whose options are a struct. Requires a function `Record record_of(Options&)`;
/// also uses `Effects effects_of(Options&)` if it exists.
template <class Options>
Operation declare_command(std::string_view name, std::string_view summary, std::string_view example,
                          int (*run)(const Options& options, const Call& call),
                          RunOn ranks = RunOn::every_rank) {
    const auto options = std::make_shared<Options>();
    return {name,
            summary,
            example,
            on_command_line(record_of(*options)),
            [options, run](const Call& call) {
                Call own = call;
                if constexpr (requires { effects_of(*options); })
                    own.effects = effects_of(*options);
                own.check_effects();
                return run(*options, own);
            },
            ranks == RunOn::one_rank};
}

/// The values of options, by field name.
using Given = std::map<std::string, std::vector<std::string>>;

/// The parsed words after a command.
struct CommandLine {
    Given given;
    bool help = false;   ///< true if a word is --help or -h
    std::string mistake; ///< error message for the first invalid word; "" if none
};

/// Parses the words after a command into the values of its options, such that an option with a
/// variable number of values does not take a word that is meant as an input. A number that follows
/// a list of numbers is added to the list. Other words become positional arguments, such as inputs,
/// until all positional arguments have a value; further words become values of the preceding option
/// if it is a list or its value is optional, otherwise of a list of arguments that is not required.
/// Throws InvalidTask if the value of the last option is
/// missing.
CommandLine split_words(const Operation& operation, std::span<const std::string> words);

/// Sets the options to the given values, and checks that all required ones are present. Throws
/// InvalidTask.
Call call_of(const Operation& operation, const Given& given);

/// Runs a command with the given values. `program` is the command that starts the program
/// (Call::program). Throws sextant::Error.
int run_command(const Operation& operation, const Given& given, const std::string& program = {});

/// A command of another program, which may not be installed.
struct LaboratoryCommand {
    std::string_view name, summary;
    std::string_view program = "sextant-lab";
    std::string_view build_option = "SEXTANT_LAB"; ///< the CMake option that builds the program
};

/// A group of commands with one purpose.
struct Group {
    std::string_view title;
    std::vector<Operation> operations;
};

/// The commands of a program, in the order in which help lists them.
struct Commands {
    std::span<const Group> groups;
    std::span<const LaboratoryCommand> laboratory = {}; ///< commands of other programs
    /// The shell command that starts the program if an interpreter runs it; empty: the program's
    /// path.
    std::string program = {};

    /// Returns the operations of all groups.
    std::vector<const Operation*> operations() const;
};

/// Returns the commands of `sextant`.
Commands catalogue();

/// Runs the command that a command line names. Returns the exit code: 2 if the command line is
/// wrong, 1 if the command failed. Commands of the laboratory and of the papers are run by their
/// own programs.
int main_of(const Commands& commands, int argc, char** argv);

} // namespace sextant::command
