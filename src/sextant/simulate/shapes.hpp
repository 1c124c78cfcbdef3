// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/field.hpp"
#include "sextant/simulate/network.hpp"

#include <span>
#include <string_view>

namespace sextant::simulate {

/// What all links of a network are like, unless its shape says otherwise.
struct Wire {
    double bytes_per_second = 0;
    Seconds latency = 0;
};

/// A shape of network: one file of code and one row of the catalogue.
struct Shape {
    std::string_view name;
    std::string_view summary;
    /// The network that the `network` of a platform file describes. Throws InvalidFile.
    Network (*build)(const machine::Field& network, const Wire& wire);
};

std::span<const Shape> shapes();

/// At most this many hosts, so that a wrong number in a file is an error and not a full memory.
inline constexpr int most_hosts = 1 << 17;

/// Hosts n0, n1, ...
std::vector<std::string> numbered_hosts(int count);

} // namespace sextant::simulate
