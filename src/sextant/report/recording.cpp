// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/recording.hpp"

#include <fmt/format.h>

namespace sextant::report {

std::string_view name(Origin origin) {
    switch (origin) {
    case Origin::measured:
        return "measured";
    case Origin::predicted:
        return "predicted";
    case Origin::simulated:
        return "simulated";
    }
    return "";
}

std::string Recording::title() const {
    return fmt::format("{} ({})", name, report::name(origin));
}

} // namespace sextant::report
