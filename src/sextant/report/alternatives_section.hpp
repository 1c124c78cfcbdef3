// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// A way to do something, and what it was expected to take.
struct Alternative {
    std::string name;
    std::optional<Seconds> seconds;   ///< predicted
    std::optional<Seconds> low, high; ///< its interval
    std::optional<Seconds> bound;     ///< no run is predicted to take less
    std::string remark;
};

/// What was weighed, and what the chosen then took.
struct Alternatives {
    std::string by;                  ///< "p3pc-extended on dell": who predicted
    std::vector<Alternative> all;    ///< the chosen first
    std::optional<Seconds> measured; ///< of the chosen
    std::string frame;               ///< in which run of several: ", second frame"
};

/// The alternatives as a picture, intervals beside each other and the time measured across them,
/// and all of them as a table; nothing where nothing was weighed.
Section alternatives_section(const Alternatives& alternatives);

} // namespace sextant::report
