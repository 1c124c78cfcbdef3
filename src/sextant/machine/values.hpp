// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::machine {

/// One measured value of a profile and what it is of.
struct NamedValue {
    std::string group; ///< "same node full nn datatype", "over f32": a curve or an operator
    std::string what;  ///< "4096 B in 64": a point of it
    Value value;
};

/// Every value of a profile that was measured: of messages, operators and copies, in its order.
std::vector<NamedValue> values_of(const Profile& profile);

/// How well a profile is known.
struct Worth {
    int values = 0;
    int wide = 0;                       ///< of them, whose half interval is more than was asked
    double median = 0, nine_in_ten = 0; ///< half intervals as shares of their medians
};

Worth worth_of(const Profile& profile, double asked);

} // namespace sextant::machine
