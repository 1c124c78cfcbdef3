// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstdint>
#include <vector>

namespace sextant::registration {

/// A position in an image, in pixels to the right and downward. The centre of the top left pixel is
/// (0, 0); all pixel centres have integer coordinates.
struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};

/// Returns the centre of an image: ((width − 1)/2, (height − 1)/2).
Point centre(ImageShape image);

/// A rigid motion φ(x) = R(α)(x − c) + c + t about the centre c of an image, with R(α) = (cos α,
/// −sin α; sin α, cos α). Since y points downward, positive angles rotate clockwise on a screen. A
/// motion registers a template T to a reference R if T∘φ ≈ R: φ(x) is the position in the template
/// of the feature at x in the reference.
struct RigidMotion {
    double alpha = 0;      ///< radians
    double tx = 0, ty = 0; ///< pixels
    bool operator==(const RigidMotion&) const = default;
};

/// Returns φ(x) for images with centre c.
Point apply(const RigidMotion& motion, Point x, Point c);

/// Returns φ₁∘φ₂, the inner motion applied first: α = α₁ + α₂, between −π and π, t = R(α₁)t₂ + t₁.
RigidMotion compose(const RigidMotion& outer, const RigidMotion& inner);

/// Returns φ⁻¹: −α, −R(−α)t.
RigidMotion inverse(const RigidMotion& motion);

/// Returns the RMS of ‖φ(x) − ψ(x)‖ over the central fraction `share` of an image along each axis.
double rms_distance(const RigidMotion& phi, const RigidMotion& psi, ImageShape image,
                    double share = 1);

/// A non-rigid motion φ(x) = x + u(x) of an image, with T∘φ ≈ R as for RigidMotion. u is stored at
/// nodes `spacing` pixels apart, bilinear between them and constant beyond the last ones. With a
/// spacing of 8, a frame of 1920x1856 pixels has a field of 450 kB instead of 28.5 MB with a vector
/// per pixel.
struct DisplacementField {
    ImageShape image;         ///< shape of the frames
    Elements spacing = 1;     ///< node (i, j) is at pixel (i · spacing, j · spacing)
    ImageShape nodes;         ///< number of nodes along each axis
    std::vector<float> x, y;  ///< u in pixels, per node, row by row
    std::vector<float> sigma; ///< standard deviation of u along an axis, pixels; may be empty
    std::vector<std::uint8_t> known; ///< per node; 0 if u is extrapolated; may be empty

    std::size_t count() const { return static_cast<std::size_t>(nodes.elements()); }
};

/// Returns u = 0 on nodes that cover the image. Throws InvalidTask unless spacing > 0 and the image
/// is not empty.
DisplacementField no_displacement(ImageShape image, Elements spacing);

/// Returns the displacement field of a rigid motion.
DisplacementField as_field(const RigidMotion& motion, ImageShape image, Elements spacing);

/// Returns u(x).
Point displacement(const DisplacementField& field, Point x);

/// Returns φ(x) = x + u(x).
Point apply(const DisplacementField& field, Point x);

/// Returns φ⁻¹(y) = y + v, by the iteration v ← −u(y + v), until v changes by less than 10⁻⁴ px.
/// Requires  a field that does not fold: ‖Du‖ < 1, for which the iteration contracts. Throws
///           InvalidTask with the position if it does not converge.
Point apply_inverse(const DisplacementField& field, Point y);

/// Returns the RMS of ‖φ − ψ‖ over the central fraction `share` of the pixels along each axis where
/// both fields are known.
double rms_distance(const DisplacementField& phi, const DisplacementField& psi, double share = 1);

} // namespace sextant::registration
