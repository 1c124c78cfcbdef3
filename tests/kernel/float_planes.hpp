// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

// Whole images of floats, for the tests of registration.
namespace sextant::test {

/// A plane of random samples from −1 to 1.
inline kernel::FloatPlane random_plane(ImageShape shape, unsigned seed) {
    Random random(seed);
    kernel::FloatPlane plane(shape);
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            plane.row(y)[x] = static_cast<float>(random.between(-1000, 1000)) / 1000;
    }
    return plane;
}

} // namespace sextant::test
