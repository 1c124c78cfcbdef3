// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/cramer_rao.hpp"

#include "sextant/registration/pair/motion.hpp"

#include <cmath>

#include <Eigen/Dense>

namespace sextant::lab {

double cramer_rao(const registration::Specimen& specimen, ImageShape shape, double dose,
                  double share) {
    Eigen::Matrix3d information = Eigen::Matrix3d::Zero();
    const registration::Point c = registration::centre(shape);
    constexpr double h = 1e-3;
    for (Elements j = 0; j < shape.height; j += 2) {
        for (Elements i = 0; i < shape.width; i += 2) {
            const double x = static_cast<double>(i) - c.x, y = static_cast<double>(j) - c.y;
            const double by_x = (specimen({x + h, y}) - specimen({x - h, y})) / (2 * h);
            const double by_y = (specimen({x, y + h}) - specimen({x, y - h})) / (2 * h);
            const Eigen::Vector3d by_motion(by_y * x - by_x * y, by_x, by_y);
            information += 4 * dose * by_motion * by_motion.transpose() / (2 * specimen({x, y}));
        }
    }
    const Eigen::Matrix3d least = information.inverse();
    const double width = share * static_cast<double>(shape.width);
    const double height = share * static_cast<double>(shape.height);
    return std::sqrt(least(0, 0) * (width * width + height * height) / 12 + least(1, 1) +
                     least(2, 2));
}

} // namespace sextant::lab
