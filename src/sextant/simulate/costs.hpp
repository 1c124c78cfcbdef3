// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <vector>

namespace sextant::simulate {

/// What ranks do themselves costs; what the network does is the platform's. What costs nothing here
/// takes no time.
struct Costs {
    /// A rank spends this on each message that it sends or receives, on one after another.
    Seconds send_overhead = 0, receive_overhead = 0;
    /// The same, for each byte of it.
    double send_seconds_per_byte = 0, receive_seconds_per_byte = 0;
    /// Combining one more operand, for each element.
    double seconds_per_application = 0;
    double copy_seconds_per_byte = 0;
    /// Of each kernel, by number: making one element. Those that are missing take no time.
    std::vector<double> seconds_per_computed_element = {};

    Seconds sending(Bytes bytes) const {
        return send_overhead + send_seconds_per_byte * static_cast<double>(bytes);
    }
    Seconds receiving(Bytes bytes) const {
        return receive_overhead + receive_seconds_per_byte * static_cast<double>(bytes);
    }
    Seconds computing(int kernel, Elements elements) const {
        const auto k = static_cast<std::size_t>(kernel);
        const bool known = k < seconds_per_computed_element.size();
        return known ? seconds_per_computed_element[k] * static_cast<double>(elements) : 0;
    }
    bool operator==(const Costs&) const = default;
};

} // namespace sextant::simulate
