// SPDX-License-Identifier: BSD-3-Clause
// The platform for smpirun: that of the file named by SEXTANT_PLATFORM.
#include "sextant/simulate/simgrid/zone.hpp"

#include <cstdlib>
#include <numeric>
#include <vector>

#include <simgrid/s4u.hpp>

extern "C" void load_platform(const simgrid::s4u::Engine&);

void load_platform(const simgrid::s4u::Engine&) {
    // SimGrid asks its zone for routes until the process ends.
    static const sextant::simulate::Platform platform =
        sextant::simulate::read_platform(std::getenv("SEXTANT_PLATFORM"));
    std::vector<int> cores(platform.network.hosts.size()); // each host has one core
    std::iota(cores.begin(), cores.end(), 0);
    sextant::simulate::build_world(platform, cores);
}
