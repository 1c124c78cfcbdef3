// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

namespace sextant::registration {

/// A position in an image, in pixels to the right and downward. The centre of the top left pixel is
/// (0, 0); all pixel centres have integer coordinates.
struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};

inline Point operator+(Point a, Point b) {
    return {a.x + b.x, a.y + b.y};
}
inline Point operator-(Point a, Point b) {
    return {a.x - b.x, a.y - b.y};
}
double distance(Point a, Point b);

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

/// Returns φ₁∘φ₂ (the inner motion is applied first): α = α₁ + α₂ between −π and π, t = R(α₁)t₂ +
/// t₁.
RigidMotion compose(const RigidMotion& outer, const RigidMotion& inner);

/// Returns φ⁻¹, with angle −α and translation −R(−α)t.
RigidMotion inverse(const RigidMotion& motion);

/// Returns the RMS of ‖φ(x) − ψ(x)‖ over the central `fraction` of an image along each
/// axis.
double rms_distance(const RigidMotion& phi, const RigidMotion& psi, ImageShape image,
                    double fraction = 1);

/// A non-rigid motion φ(x) = x + u(x) of an image, with T∘φ ≈ R as for RigidMotion. u is stored at
/// nodes that are `spacing` pixels apart. It is bilinear between nodes and constant beyond the
/// outermost nodes. With a spacing of 8, a frame of 1920x1856 pixels has a field of 450 kB instead
/// of 28.5 MB with a vector per pixel.
struct DisplacementField {
    ImageShape image;         ///< shape of the frames
    Elements spacing = 1;     ///< node (i, j) is at pixel (i · spacing, j · spacing)
    ImageShape nodes;         ///< number of nodes along each axis
    std::vector<float> x, y;  ///< u in pixels, per node, row by row
    std::vector<float> sigma; ///< standard deviation of u along an axis, pixels; may be empty
    std::vector<std::uint8_t> known; ///< per node; 0 if u is extrapolated; may be empty

    std::size_t count() const { return static_cast<std::size_t>(nodes.elements()); }
};

/// Returns the field u = 0 on nodes that cover the image. Throws InvalidTask unless spacing > 0 and
/// the image is not empty.
DisplacementField no_displacement(ImageShape image, Elements spacing);

/// Returns the displacement field of a rigid motion.
DisplacementField as_field(const RigidMotion& motion, ImageShape image, Elements spacing);

/// Returns u(x).
Point displacement(const DisplacementField& field, Point x);

/// Returns φ(x) = x + u(x).
Point apply(const DisplacementField& field, Point x);

/// Returns φ⁻¹(y) = y + v, by the iteration v ← −u(y + v), until v changes by less than 10⁻⁴ px.
/// Requires  a field that does not fold: ‖Du‖ < 1, so that the iteration contracts. Throws
///           InvalidTask with the position if the iteration does not converge.
Point apply_inverse(const DisplacementField& field, Point y);

/// Returns the RMS of ‖φ − ψ‖ over the central `fraction` of the pixels along each axis
/// where both fields are known.
double rms_distance(const DisplacementField& phi, const DisplacementField& psi,
                    double fraction = 1);

/// An affine motion φ(x) = M(x − c) + c + t about the centre c of an image, with M = (a, b; c, d)
/// and T∘φ ≈ R as for RigidMotion. Besides rotation, M describes a change of the magnification,
/// which may differ between directions.
struct AffineMotion {
    double a = 1, b = 0, c = 0, d = 1; ///< M, row by row
    double tx = 0, ty = 0;             ///< pixels
    bool operator==(const AffineMotion&) const = default;
};

AffineMotion as_affine(const RigidMotion& motion);

/// Returns the rigid motion nearest to an affine motion: the same translation, and the rotation
/// R(α) that minimises ‖M − R(α)‖.
RigidMotion nearest_rigid(const AffineMotion& motion);

/// Returns φ(x) for images with centre c.
// In the header, because it is called for every pixel.
inline Point apply(const AffineMotion& motion, Point x, Point c) {
    const double u = x.x - c.x, v = x.y - c.y;
    return {motion.a * u + motion.b * v + c.x + motion.tx,
            motion.c * u + motion.d * v + c.y + motion.ty};
}

/// Returns φ₁∘φ₂, the inner motion applied first.
AffineMotion compose(const AffineMotion& outer, const AffineMotion& inner);

/// Returns φ⁻¹. Throws InvalidTask if M has no inverse.
AffineMotion inverse(const AffineMotion& motion);

/// Returns the motion without its rigid part: the symmetric L of the polar decomposition M = R(α)L,
/// with t = 0.
AffineMotion stretch_of(const AffineMotion& motion);

/// Returns the RMS of ‖φ(x) − ψ(x)‖ over the central `fraction` of an image along each
/// axis.
double rms_distance(const AffineMotion& phi, const AffineMotion& psi, ImageShape image,
                    double fraction = 1);

/// A motion of a frame whose rows are recorded one after another, as in a scanning microscope. Each
/// row y of the frame is displaced by d(y) in addition to a rigid motion φ: the feature at x in the
/// reference is at p = φ(x) + d(p.y) in the frame. d is linear between rows and constant beyond the
/// first and the last row.
struct RowMotion {
    RigidMotion motion;        ///< φ
    std::vector<float> dx, dy; ///< d per row of the frame, to the right and downward, pixels
    std::vector<float> sigma;  ///< standard deviation of dx, pixels; may be empty
};

/// Interpolates per-row values linearly at a position between rows. Requires at least one value.
inline double between_rows(const std::vector<float>& values, double y) {
    const auto last = static_cast<double>(values.size() - 1);
    const double at = y > 0 ? (y < last ? y : last) : 0;
    const auto above = static_cast<std::size_t>(at);
    const std::size_t below = above + 1 < values.size() ? above + 1 : above;
    const double v = at - static_cast<double>(above);
    return (1 - v) * static_cast<double>(values[above]) + v * static_cast<double>(values[below]);
}

/// Returns d(y).
Point displacement(const RowMotion& motion, double y);

/// Returns the y coordinate, in the frame, of a feature that the rigid motion maps to `y`: the
/// solution p of p = y + d(p).y. The iteration starts at `start`, which need not be near the
/// solution.
/// Requires  rows that keep their order: |d.y'| < 1. Throws InvalidTask with the row otherwise.
double displaced_row(const RowMotion& motion, double y, double start);

/// Returns the position in a frame with centre c of the feature at x in the reference. Throws the
/// same exceptions as displaced_row().
Point apply(const RowMotion& motion, Point x, Point c);

/// Returns the position in the reference of the feature at p in a frame with centre c.
Point apply_inverse(const RowMotion& motion, Point p, Point c);

/// A motion φ that registers a frame T to a reference R: T∘φ ≈ R.
using Transform = std::variant<RigidMotion, DisplacementField, AffineMotion, RowMotion>;

/// Returns the transform of a frame. Called only when the frame is needed, because displacement
/// fields take much memory.
using TransformOf = std::function<Transform(std::int64_t frame)>;

/// Returns φ(x) for images of the given shape.
Point apply(const Transform& transform, Point x, ImageShape shape);
/// Returns φ⁻¹(y). Throws InvalidTask if a displacement field folds.
Point apply_inverse(const Transform& transform, Point y, ImageShape shape);

} // namespace sextant::registration
