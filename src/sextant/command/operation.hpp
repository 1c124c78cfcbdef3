// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/child_process.hpp"
#include "sextant/core/record.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// States when some options of a command have an effect. The function `Effects
/// effects_of(Options&)` of a command, next to the record that declares the options, lists the
/// options that do not always have one. If the user gives such an option in vain, it is refused:
/// options are never ignored.
struct Effect {
    std::vector<std::string_view> options;
    std::string why; ///< why they have none, or what they need: "expected --follow"
    /// True if they have an effect, given the values of all options; null if this depends only on
    /// the input.
    std::function<bool()> condition = nullptr;
    /// The only kind of input on which they have an effect, such as "a volume"; "": any.
    std::string_view input = "";
};
using Effects = std::vector<Effect>;

/// A call of a command: its options with their values, and which of them the user gave.
struct Call {
    Record options;
    std::set<std::string, std::less<>> given;
    std::string program = {}; ///< the shell command that starts this program; empty: its path
    Effects effects = {};     ///< as the command declares them

    std::string own_command() const { return program.empty() ? sextant::own_command() : program; }

    bool has(std::string_view option) const { return given.contains(option); }
    /// Throws InvalidTask if the user gave an option that has no effect with the values of the
    /// others, naming the option and why.
    void check_effects() const;
    /// Throws InvalidTask if the user gave an option that has no effect on the input, which is
    /// `kind`: "a volume".
    void check_effects_on(std::string_view kind, const std::string& input) const;

  private:
    void refuse(const Effect& effect, std::string_view why) const;
};

/// A command: one source file and one row of the catalogue.
struct Operation {
    std::string_view name;
    std::string_view summary;
    std::string_view example; ///< command lines shown by --help
    Record options;           ///< named as on the command line
    /// Runs the command. Returns the exit code: 0, or 1 if a check failed. Throws sextant::Error.
    std::function<int(const Call& call)> run;
    /// True if one rank suffices: under a launcher, a single process runs the command.
    bool alone = false;
    std::string_view notes = {}; ///< lines that --help shows between options and examples
};

/// True for an option that takes several values: separated by commas, in several words, or by
/// repeating the option.
bool is_list(const Field& field);

/// Declares the fields of a record as options of a command line.
Record on_command_line(Record record);

/// The processes of a launch, such as one of mpirun, that run a command.
enum class RunOn { every_rank, one_rank };

/// Declares a command whose options are a struct. Requires a function `Record record_of(Options&)`;
/// calls `Effects effects_of(Options&)` if there is one.
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
    bool help = false;   ///< true if one of them is --help or -h
    std::string mistake; ///< for the first word that is not accepted; or empty
};

/// Splits the words after a command into the values of its options, so that no option that takes a
/// varying number of words takes one that is meant as an input. A number that follows a list of
/// numbers is a further number. Other words go to the arguments without a name, such as inputs, as
/// long as there are any left, and then to the option that they follow, if it is a list or its
/// value is optional. Throws InvalidTask if the value of the last option is missing.
CommandLine split_words(const Operation& operation, std::span<const std::string> words);

/// Sets the options to the given values, and checks that all required ones are present. Throws
/// InvalidTask.
Call call_of(const Operation& operation, const Given& given);

/// Runs a command with the given values, for a program that `program` starts (Call::program).
/// Throws sextant::Error.
int run_command(const Operation& operation, const Given& given, const std::string& program = {});

/// A command of another program, which may not be installed.
struct LaboratoryCommand {
    std::string_view name, summary;
    std::string_view program = "sextant-lab";
    std::string_view build_option = "SEXTANT_LAB"; ///< of CMake, which builds the program
};

/// Commands for one purpose.
struct Group {
    std::string_view title;
    std::vector<Operation> operations;
};

/// The commands of a program, in the order of help.
struct Commands {
    std::span<const Group> groups;
    std::span<const LaboratoryCommand> laboratory = {}; ///< commands of other programs
    /// The shell command that starts the program, if an interpreter runs it; empty: its path.
    std::string program = {};

    /// The operations of all groups.
    std::vector<const Operation*> operations() const;
};

/// The commands of `sextant`.
Commands catalogue();

/// Runs the command that a command line names; each operation is a subcommand, made from its
/// declaration. Returns the exit code: 2 if the command line is wrong, 1 if the operation failed.
/// Commands of the laboratory and of the papers are run by their programs.
int main_of(const Commands& commands, int argc, char** argv);

} // namespace sextant::command
