// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/motion.hpp"

#include <cmath>

namespace sextant::registration {

namespace {

Point turned(double alpha, Point v) {
    const double cosine = std::cos(alpha), sine = std::sin(alpha);
    return {cosine * v.x - sine * v.y, sine * v.x + cosine * v.y};
}

} // namespace

Point centre(ImageShape image) {
    return {static_cast<double>(image.width - 1) / 2, static_cast<double>(image.height - 1) / 2};
}

Point apply(const RigidMotion& motion, Point x, Point c) {
    const Point turn = turned(motion.alpha, {x.x - c.x, x.y - c.y});
    return {turn.x + c.x + motion.tx, turn.y + c.y + motion.ty};
}

RigidMotion compose(const RigidMotion& outer, const RigidMotion& inner) {
    const Point t = turned(outer.alpha, {inner.tx, inner.ty});
    return {outer.alpha + inner.alpha, t.x + outer.tx, t.y + outer.ty};
}

RigidMotion inverse(const RigidMotion& motion) {
    const Point t = turned(-motion.alpha, {motion.tx, motion.ty});
    return {-motion.alpha, -t.x, -t.y};
}

double rms_distance(const RigidMotion& phi, const RigidMotion& psi, ImageShape image,
                    double share) {
    // ‖(R(α) − R(β))v + d‖² has the mean |R(α) − R(β)|² mean‖v‖² + ‖d‖²: v has the mean 0.
    const double chord = 2 * std::sin((phi.alpha - psi.alpha) / 2);
    const auto variance = [&](std::int64_t size) {
        const double length = share * static_cast<double>(size);
        return length * length / 12;
    };
    const double spread = variance(image.width) + variance(image.height);
    return std::sqrt(chord * chord * spread + (phi.tx - psi.tx) * (phi.tx - psi.tx) +
                     (phi.ty - psi.ty) * (phi.ty - psi.ty));
}

} // namespace sextant::registration
