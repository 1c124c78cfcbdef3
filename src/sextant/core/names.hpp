// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// The message for a name that is in no catalogue: "unknown KIND 'WANTED'; did you mean ...?", or
/// all the names where none is near.
std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names);

/// The row of a catalogue that has a name. Throws InvalidTask with near names.
template <class Row>
const Row& find_by_name(std::string_view kind, std::string_view wanted, std::span<const Row> rows) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) {
        if (row.name == wanted)
            return row;
        names.push_back(row.name);
    }
    throw InvalidTask(unknown_name(kind, wanted, names));
}

} // namespace sextant
