// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// States when some options have an effect. A function `Effects effects_of(Options&)`, next to the
/// record of options, lists those that do not always have one. An option given without an effect is
/// refused: options are never ignored.
struct Effect {
    std::vector<std::string_view> options;
    /// Why the options have no effect, or what they need, with names of options in braces:
    /// "expected {grid}".
    std::string why;
    /// Returns true if the options have an effect, given the values of all options; null: always.
    std::function<bool()> condition = nullptr;
    /// The only kind of input on which the options have an effect, such as "a volume"; "": any.
    std::string_view input = "";
};
using Effects = std::vector<Effect>;

/// Returns true for the name of an option that the user gave.
using IsGiven = std::function<bool(std::string_view option)>;

/// Throws InvalidTask, naming the option and the reason, if a given option has no effect with the
/// values of the other options or, if `kind` is set, on this kind of input, such as "a volume".
void check_effects(const Effects& effects, const Record& options, const IsGiven& is_given,
                   std::string_view kind = "", std::string_view input = "");

/// Returns a function that is true for options whose value differs from that in `usual`. The option
/// "probe" counts as given only if `probes` is set and its value is "now": other values are allowed
/// when there is nothing to plan.
IsGiven differs_from(const Record& options, const Record& usual, bool probes);

/// Throws InvalidTask if an option that differs from its default has no effect.
template <class Options>
void check_effects(const Options& options, const Record& record, bool probes = false,
                   std::string_view kind = "", std::string_view input = "") {
    static Options defaults;
    static const Record usual = record_of(defaults);
    check_effects(effects_of(options), record, differs_from(record, usual, probes), kind, input);
}

} // namespace sextant
