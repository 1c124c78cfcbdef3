// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/affine.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"

#include <cmath>

#include <fmt/format.h>

namespace sextant::registration {

AffineMotion as_affine(const RigidMotion& motion) {
    const double cosine = std::cos(motion.alpha), sine = std::sin(motion.alpha);
    return {cosine, -sine, sine, cosine, motion.tx, motion.ty};
}

RigidMotion nearest_rigid(const AffineMotion& motion) {
    return {std::atan2(motion.c - motion.b, motion.a + motion.d), motion.tx, motion.ty};
}

Point apply(const AffineMotion& motion, Point x, Point c) {
    const double u = x.x - c.x, v = x.y - c.y;
    return {motion.a * u + motion.b * v + c.x + motion.tx,
            motion.c * u + motion.d * v + c.y + motion.ty};
}

AffineMotion compose(const AffineMotion& outer, const AffineMotion& inner) {
    return {outer.a * inner.a + outer.b * inner.c,
            outer.a * inner.b + outer.b * inner.d,
            outer.c * inner.a + outer.d * inner.c,
            outer.c * inner.b + outer.d * inner.d,
            outer.a * inner.tx + outer.b * inner.ty + outer.tx,
            outer.c * inner.tx + outer.d * inner.ty + outer.ty};
}

AffineMotion inverse(const AffineMotion& motion) {
    const double determinant = motion.a * motion.d - motion.b * motion.c;
    constexpr double least = 1e-9; // those of real motions are near 1
    if (!(std::abs(determinant) > least))
        throw InvalidData(fmt::format("an affine motion has the matrix ({:g}, {:g}; {:g}, {:g}), "
                                      "which has no inverse",
                                      motion.a, motion.b, motion.c, motion.d));
    const double a = motion.d / determinant, b = -motion.b / determinant,
                 c = -motion.c / determinant, d = motion.a / determinant;
    return {a, b, c, d, -(a * motion.tx + b * motion.ty), -(c * motion.tx + d * motion.ty)};
}

AffineMotion stretch_of(const AffineMotion& motion) {
    const RigidMotion rigid = nearest_rigid(motion);
    AffineMotion stretch = compose(as_affine({-rigid.alpha, 0, 0}), motion);
    stretch.tx = stretch.ty = 0;
    return stretch;
}

double rms_distance(const AffineMotion& phi, const AffineMotion& psi, ImageShape image,
                    double share) {
    // The mean of ‖Dv + d‖² is mean‖Dv‖² + ‖d‖², because v has mean 0.
    const auto variance = [&](std::int64_t size) {
        const double length = share * static_cast<double>(size);
        return length * length / 12;
    };
    const auto square = [](double value) { return value * value; };
    return std::sqrt(variance(image.width) * (square(phi.a - psi.a) + square(phi.c - psi.c)) +
                     variance(image.height) * (square(phi.b - psi.b) + square(phi.d - psi.d)) +
                     square(phi.tx - psi.tx) + square(phi.ty - psi.ty));
}

} // namespace sextant::registration
