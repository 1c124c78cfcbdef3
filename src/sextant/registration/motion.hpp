// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstdint>
#include <vector>

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

/// A non-rigid motion φ(x) = x + u(x) of an image, with T∘φ ≈ R as RigidMotion has it: u at nodes
/// that lie `spacing` pixels apart, bilinear between them and constant beyond the last ones.
/// With the spacing of 8 a frame of 1920x1856 pixels has a field of 450 kB, where one vector for
/// each pixel would be 28.5 MB.
struct DisplacementField {
    ImageShape image;         ///< of the frames
    Elements spacing = 1;     ///< node (i, j) lies at pixel (i · spacing, j · spacing)
    ImageShape nodes;         ///< how many
    std::vector<float> x, y;  ///< u in pixels, of each node, row after row
    std::vector<float> sigma; ///< its standard deviation along an axis in pixels; may be none
    std::vector<std::uint8_t> known; ///< 0: extrapolated, the frames say nothing there; may be none

    std::size_t count() const { return static_cast<std::size_t>(nodes.elements()); }
};

/// u = 0 at nodes that reach every pixel. Requires  spacing > 0 and an image that is not empty;
/// otherwise throws InvalidTask.
DisplacementField no_displacement(ImageShape image, Elements spacing);

/// A rigid motion as a field.
DisplacementField as_field(const RigidMotion& motion, ImageShape image, Elements spacing);

/// u(x).
Point displacement(const DisplacementField& field, Point x);

/// φ(x) = x + u(x).
Point apply(const DisplacementField& field, Point x);

/// φ⁻¹(y) = y + v, from v = −u(y + v) by iterating it to 10⁻⁴ px.
/// Requires  a field that does not fold: ‖Du‖ < 1, for which the iteration contracts; throws
///           InvalidTask, naming the place, where it does not settle.
Point apply_inverse(const DisplacementField& field, Point y);

/// The root of the mean of ‖φ − ψ‖² over the pixels of the central `share` along each axis, and
/// where both are known.
double rms_distance(const DisplacementField& phi, const DisplacementField& psi, double share = 1);

} // namespace sextant::registration
