// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/effects.hpp"

#include "sextant/core/error.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace sextant {

void check_effects(const Effects& effects, const Record& options, const IsGiven& is_given,
                   std::string_view kind, std::string_view input) {
    for (const Effect& effect : effects) {
        const bool is_other = !kind.empty() && !effect.input.empty() && effect.input != kind;
        for (const std::string_view name : effect.options) {
            const Field* const option = options.find(name);
            if (!option)
                throw std::logic_error(fmt::format("an effect names the unknown option {}", name));
            // The condition is evaluated last because it may read files.
            if (!is_given(name) || (!is_other && (!effect.condition || effect.condition())))
                continue;
            std::string why = (is_other ? fmt::format("{} is {}, ", input, kind) : "") + effect.why;
            for (const Field& field : options.fields) {
                const std::string mentioned = "{" + field.name + "}";
                if (const std::size_t at = why.find(mentioned); at != why.npos)
                    why.replace(at, mentioned.size(), field.called());
            }
            throw InvalidTask(fmt::format("{} has no effect here: {}", option->called(), why));
        }
    }
}

IsGiven differs_from(const Record& options, const Record& usual, bool probes) {
    return [&options, &usual, probes](std::string_view name) {
        const std::string text = options.find(name)->text();
        return name == "probe" ? probes && text == "now" : text != usual.find(name)->text();
    };
}

} // namespace sextant
