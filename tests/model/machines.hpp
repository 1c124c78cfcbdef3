// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile_file.hpp"
#include "sextant/model/model.hpp"

#include <string>

#include "tests/support/source_dir.hpp"

namespace sextant::test {

/// The profile of a shipped machine.
inline machine::Profile shipped_machine(const std::string& name) {
    return machine::read_profile(source_dir() + "/machines/" + name + ".json");
}

/// Time predicted by a model.
inline Seconds predicted(const char* model, const Schedule& schedule,
                         const machine::Profile& machine, Bytes element_size) {
    return model::find(model)
        .predict({.schedule = schedule, .machine = machine, .element_size = element_size})
        .seconds;
}

} // namespace sextant::test
