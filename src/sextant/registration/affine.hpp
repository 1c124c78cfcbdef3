// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"

namespace sextant::registration {

/// An affine motion φ(x) = M(x − c) + c + t about the centre c of an image, with M = (a, b; c, d)
/// and T∘φ ≈ R as for RigidMotion. Besides rotation, M describes a change of the magnification,
/// which may differ between directions.
struct AffineMotion {
    double a = 1, b = 0, c = 0, d = 1; ///< M, row by row
    double tx = 0, ty = 0;             ///< pixels
    bool operator==(const AffineMotion&) const = default;
};

AffineMotion as_affine(const RigidMotion& motion);

/// Returns the rigid motion nearest to an affine one: the translation and the rotation R(α) that
/// minimises ‖M − R(α)‖.
RigidMotion nearest_rigid(const AffineMotion& motion);

/// Returns φ(x) for images with centre c.
Point apply(const AffineMotion& motion, Point x, Point c);

/// Returns φ₁∘φ₂, the inner motion applied first.
AffineMotion compose(const AffineMotion& outer, const AffineMotion& inner);

/// Returns φ⁻¹. Throws InvalidTask if M has no inverse.
AffineMotion inverse(const AffineMotion& motion);

/// Returns L of the decomposition M = R(α)L, with t = 0, where R(α) is the nearest rotation: L is
/// symmetric. It is the motion without its rigid part.
AffineMotion stretch_of(const AffineMotion& motion);

/// Returns the RMS of ‖φ(x) − ψ(x)‖ over the central fraction `share` of an image along each axis.
double rms_distance(const AffineMotion& phi, const AffineMotion& psi, ImageShape image,
                    double share = 1);

} // namespace sextant::registration
