// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// The kind of value that a parameter takes.
enum class Type { text, file, files, choice, integer, integers, number, ranges, flag };

/// A parameter of an operation. Its declaration is used for the command line, the help and the
/// checks.
struct Parameter {
    std::string_view name; ///< "ranks" for the option --ranks
    Type type = Type::text;
    std::string_view value = {};    ///< placeholder or unit in help: "N", "FILE"
    std::string_view fallback = {}; ///< default as text; "": none
    std::string_view help = {};     ///< one line
    char letter = 0;                ///< short option, if any
    bool positional = false;
    bool required = false;
    std::vector<std::string_view> choices = {}; ///< for Type::choice
    /// The range of a number or of each number in a list, both ends included. Required for numeric
    /// types; within what a double holds exactly, and within int for lists.
    double least = 0, most = 0;

    /// The name in usage: "--ranks", or "IN..." if positional.
    std::string called() const;
    bool is_numeric() const; ///< a number, or a list of numbers
};

/// The values of an operation's parameters, checked against their declarations.
class Values {
  public:
    /// `given`: the user's values, by name; defaults fill the rest. Throws InvalidTask, naming the
    /// parameter, the value and what was expected.
    Values(std::span<const Parameter> parameters,
           const std::map<std::string, std::vector<std::string>>& given);

    bool has(std::string_view name) const;   ///< given, or with a default
    bool given(std::string_view name) const; ///< by the user
    std::string text(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::vector<int> integers(std::string_view name) const; ///< "8,4"
    double number(std::string_view name) const;             ///< "1.5e-6"
    std::vector<int> ranges(std::string_view name) const;   ///< "1..8,13": sorted, no duplicates
    bool flag(std::string_view name) const;

    /// The user's values except file names, one per line: "sigma 3".
    const std::string& settings() const { return settings_; }

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
    std::string settings_;
    std::set<std::string, std::less<>> given_;
};

/// Throws InvalidTask if the user gave any of these options, naming the first and why it has no
/// effect here: no option is silently ignored.
void refuse_given(const Values& values, std::initializer_list<std::string_view> names,
                  std::string_view why);

/// A call of a command: its options with their values, and which of them the user gave.
struct Call {
    Record options;
    std::set<std::string, std::less<>> given;

    bool has(std::string_view option) const { return given.contains(option); }
    /// Throws InvalidTask if the user gave any of these options, naming the first and why it has no
    /// effect here: no option is silently ignored.
    void refuse(const std::vector<std::string_view>& names, std::string_view why) const;
};

/// A command: one source file and one row of the catalogue.
struct Operation {
    std::string_view name;
    std::string_view summary;
    std::string_view example; ///< command lines, for help
    std::vector<Parameter> parameters = {};
    /// Throws sextant::Error. Returns the exit code: 0, or 1 if what was examined is not in order.
    int (*run)(const Values& values) = nullptr;
    /// True if it needs no other rank: one of the processes of a launcher runs it.
    bool alone = false;
    /// The declared options, as on a command line, and the run.
    Record options = {};
    std::function<int(const Call& call)> obey = {};
};

/// Declares the fields of a record as options of a command line.
Record on_command_line(Record record);

/// A command whose options are a declared struct: there is `Record record_of(Options&)`.
template <class Options>
Operation declare_command(std::string_view name, std::string_view summary, std::string_view example,
                          int (*run)(const Options& options, const Call& call),
                          bool alone = false) {
    const auto options = std::make_shared<Options>();
    Operation operation = {name, summary, example};
    operation.alone = alone;
    operation.options = on_command_line(record_of(*options));
    operation.obey = [options, run](const Call& call) { return run(*options, call); };
    return operation;
}

/// Sets the options to what the user gave, by field name, and checks that all required are there.
/// Throws InvalidTask.
Call call_of(const Operation& operation,
             const std::map<std::string, std::vector<std::string>>& given);

/// Runs a command with what the user gave, by field name. Throws sextant::Error.
int run_command(const Operation& operation,
                const std::map<std::string, std::vector<std::string>>& given);

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

    /// Those of all groups.
    std::vector<const Operation*> operations() const;
};

/// The commands of `sextant`.
Commands catalogue();

} // namespace sextant::command
