// SPDX-License-Identifier: BSD-3-Clause
// What smpirun takes for a platform: the world of one of ours, named by SEXTANT_PLATFORM.
#include "sextant/simulate/simgrid/zone.hpp"

#include <cstdlib>

#include <simgrid/s4u.hpp>

extern "C" void load_platform(const simgrid::s4u::Engine&);

void load_platform(const simgrid::s4u::Engine&) {
    // Its zone asks it for routes as long as the process lives.
    static const sextant::simulate::Platform platform =
        sextant::simulate::read_platform(std::getenv("SEXTANT_PLATFORM"));
    sextant::simulate::build_world(platform);
}
