// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulate.hpp"

#include "sextant/core/error.hpp"

namespace sextant::simulate {

bool available() {
    return false;
}

Simulation simulate(const Question&) {
    throw Error("this build has no simulator: install libsimgrid-dev, then configure and build "
                "again");
}

} // namespace sextant::simulate
