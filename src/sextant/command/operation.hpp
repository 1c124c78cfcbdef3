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

/// A call of a command: its options with their values, and which of them the user gave.
struct Call {
    Record options;
    std::set<std::string, std::less<>> given;
    std::string program = {}; ///< the shell command that starts this program; empty: its path

    std::string own_command() const { return program.empty() ? sextant::own_command() : program; }

    bool has(std::string_view option) const { return given.contains(option); }
    /// Throws InvalidTask if the user gave any of these options, naming the first and why it has no
    /// effect here: options are never ignored silently.
    void refuse(const std::vector<std::string_view>& names, std::string_view why) const;
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

/// Declares the fields of a record as options of a command line.
Record on_command_line(Record record);

/// Which of the processes started by a launcher, such as mpirun, run a command.
enum class RunOn { every_rank, one_rank };

/// Declares a command whose options are a struct. Requires a function `Record record_of(Options&)`.
template <class Options>
Operation declare_command(std::string_view name, std::string_view summary, std::string_view example,
                          int (*run)(const Options& options, const Call& call),
                          RunOn ranks = RunOn::every_rank) {
    const auto options = std::make_shared<Options>();
    return {name,
            summary,
            example,
            on_command_line(record_of(*options)),
            [options, run](const Call& call) { return run(*options, call); },
            ranks == RunOn::one_rank};
}

/// Sets the options to the given values, by field name, and checks that all required ones are
/// present. Throws InvalidTask.
Call call_of(const Operation& operation,
             const std::map<std::string, std::vector<std::string>>& given);

/// Runs a command with the given values, by field name, for a program that `program` starts
/// (Call::program). Throws sextant::Error.
int run_command(const Operation& operation,
                const std::map<std::string, std::vector<std::string>>& given,
                const std::string& program = {});

/// A command of `sextant-lab`, which may not be installed.
struct LaboratoryCommand {
    std::string_view name, summary;
};

/// Commands for one purpose.
struct Group {
    std::string_view title;
    std::vector<Operation> operations;
};

/// The commands of a program, in the order of help.
struct Commands {
    std::span<const Group> groups;
    std::span<const LaboratoryCommand> laboratory = {}; ///< commands that start `sextant-lab`
    /// The shell command that starts the program, if an interpreter runs it; empty: its path.
    std::string program = {};

    /// The operations of all groups.
    std::vector<const Operation*> operations() const;
};

/// The commands of `sextant`.
Commands catalogue();

} // namespace sextant::command
