// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

namespace sextant::registration {

/// Returns a symmetric matrix from its entries (0,0) (0,1) (0,2) (1,1) (1,2) (2,2).
inline Eigen::Matrix3d symmetric(const double (&upper)[6]) {
    Eigen::Matrix3d matrix;
    matrix << upper[0], upper[1], upper[2], upper[1], upper[3], upper[4], upper[2], upper[4],
        upper[5];
    return matrix;
}

} // namespace sextant::registration
