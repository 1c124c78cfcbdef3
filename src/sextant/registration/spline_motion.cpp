// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/spline_motion.hpp"

#include <cmath>

namespace sextant::registration {

Point SplineMotion::operator()(Point x) const {
    Point to = apply(motion, x, centre);
    if (coefficients.empty())
        return to;
    const SplineBasis along_x = grid->along_x(x.x), along_y = grid->along_y(x.y);
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t at = grid->unknown(along_x.first + i, along_y.first + j);
            const double weight = along_x.weight[i] * along_y.weight[j];
            to.x += weight * static_cast<double>(coefficients[at]);
            to.y += weight * static_cast<double>(coefficients[at + 1]);
        }
    }
    return to;
}

/// With places x − c about the middle and m the mean of φ(x) − c, the angle whose turn brings the
/// one nearest to the other in squares (Procrustes in the plane).
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape) {
    constexpr int places = 16; // along an axis, evenly about the middle
    const Point c = centre(shape);
    double sine = 0, cosine = 0, x = 0, y = 0;
    for (int j = 0; j < places; ++j) {
        for (int i = 0; i < places; ++i) {
            const double from_x = ((i + .5) / places - .5) * static_cast<double>(shape.width);
            const double from_y = ((j + .5) / places - .5) * static_cast<double>(shape.height);
            const Point to = phi({c.x + from_x, c.y + from_y});
            x += (to.x - c.x) / (places * places);
            y += (to.y - c.y) / (places * places);
            cosine += from_x * to.x + from_y * to.y;
            sine += from_x * to.y - from_y * to.x;
        }
    }
    return {std::atan2(sine, cosine), x, y};
}

FieldStart start_at(const Displacement& phi, ImageShape shape) {
    const RigidMotion motion = nearest_rigid(phi, shape);
    return {motion, [phi, motion, c = centre(shape)](Point x) {
                const Point to = phi(x), by_motion = apply(motion, x, c);
                return Point{to.x - by_motion.x, to.y - by_motion.y};
            }};
}

Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y) {
    const RigidMotion back = inverse(near);
    Point x = apply(back, y, centre);
    constexpr int most = 30;
    for (int i = 0; i < most; ++i) {
        // What is missed is brought back by the rigid motion's inverse.
        const Point there = phi(x);
        const Point missed{y.x - there.x, y.y - there.y};
        const Point step = apply({back.alpha, 0, 0}, missed, {0, 0});
        x = {x.x + step.x, x.y + step.y};
        if (std::hypot(step.x, step.y) < 1e-3)
            break;
    }
    return x;
}

} // namespace sextant::registration
