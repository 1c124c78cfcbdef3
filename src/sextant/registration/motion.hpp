// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

namespace sextant::registration {

/// A place in an image, in pixels to the right and downward. The middle of the pixel at the top
/// left is (0, 0), and every pixel's middle has whole coordinates.
struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};

/// The middle of an image: ((width − 1)/2, (height − 1)/2).
Point centre(ImageShape image);

/// A rigid motion φ(x) = R(α)(x − c) + c + t about the centre c of an image, R(α) = (cos α, −sin α;
/// sin α, cos α): since y points downward, positive angles turn clockwise on a screen. A motion
/// registers a template T to a reference R where T∘φ ≈ R: it tells where what is seen at x of the
/// reference lies in the template.
struct RigidMotion {
    double alpha = 0;      ///< radians
    double tx = 0, ty = 0; ///< pixels
    bool operator==(const RigidMotion&) const = default;
};

/// φ(x), of images with that centre.
Point apply(const RigidMotion& motion, Point x, Point c);

/// φ₁∘φ₂, the inner applied first: α = α₁ + α₂, t = R(α₁)t₂ + t₁.
RigidMotion compose(const RigidMotion& outer, const RigidMotion& inner);

/// φ⁻¹: −α, −R(−α)t.
RigidMotion inverse(const RigidMotion& motion);

/// The root of the mean of ‖φ(x) − ψ(x)‖² over the central `share` of an image along each axis.
double rms_distance(const RigidMotion& phi, const RigidMotion& psi, ImageShape image,
                    double share = 1);

} // namespace sextant::registration
