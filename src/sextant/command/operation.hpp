// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// What kind of value a parameter takes.
enum class Type { text, file, files, choice, integer, integers, number, ranges, flag };

/// The most that a count of pixels, values or frames may be.
inline constexpr double most_count = std::int64_t{1} << 40;

/// A parameter of an operation, declared once: the command line, its help and its checks come from
/// here.
struct Parameter {
    std::string_view name; ///< "ranks"; the option is --ranks
    Type type = Type::text;
    std::string_view value = {};    ///< what its value is called in help, its unit: "N", "FILE"
    std::string_view fallback = {}; ///< the default as text; "" for none
    std::string_view help = {};     ///< one line
    char letter = 0;                ///< short option, if any
    bool positional = false;
    bool required = false;
    std::vector<std::string_view> choices = {}; ///< of a choice
    /// Of numbers, or of each one of a list: the range, both ends included. Every parameter that is
    /// a number declares it; whole numbers within what a double holds exactly, lists within int.
    double least = 0, most = 0;

    /// As a user calls it: "--ranks", or "IN..." where it is known by its place.
    std::string called() const;
    bool is_numeric() const; ///< a number, or a list of them
};

/// The values of an operation's parameters, checked against their declarations.
class Values {
  public:
    /// `given` holds what the user gave, by name; defaults fill the rest.
    /// Throws InvalidTask, naming parameter, value and what was expected.
    Values(std::span<const Parameter> parameters,
           const std::map<std::string, std::vector<std::string>>& given);

    bool has(std::string_view name) const;   ///< given, or with a default
    bool given(std::string_view name) const; ///< by the user
    std::string text(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::vector<int> integers(std::string_view name) const; ///< "8,4"
    double number(std::string_view name) const;             ///< "1.5e-6"
    std::vector<int> ranges(std::string_view name) const;   ///< "1..8,13": each once, ascending
    bool flag(std::string_view name) const;

    /// What the user gave but for names of files, a line each: "sigma 3".
    const std::string& settings() const { return settings_; }

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
    std::string settings_;
    std::set<std::string, std::less<>> given_;
};

/// What was asked for is done or refused, never passed over: throws InvalidTask that names the
/// first of these options that the user gave, and why it has no effect here.
void refuse_given(const Values& values, std::initializer_list<std::string_view> names,
                  std::string_view why);

/// Something a user can ask for: one file of code and one row of the catalogue.
struct Operation {
    std::string_view name;
    std::string_view summary;
    std::string_view example; ///< command lines, for help
    std::vector<Parameter> parameters;
    /// Throws sextant::Error. Returns the exit code: 0, or 1 where what was examined is not well.
    int (*run)(const Values& values);
    /// Needs no other rank: of the processes that a launcher started, one runs it.
    bool alone = false;
};

/// A command of the laboratory, `sextant-lab`, which need not be there.
struct LaboratoryCommand {
    std::string_view name, summary;
};

/// What a program can do, in the order of help.
struct Commands {
    std::span<const Operation> operations;
    std::span<const LaboratoryCommand> laboratory = {}; ///< that `sextant-lab` is started for
};

/// Those of `sextant`.
Commands catalogue();

} // namespace sextant::command
