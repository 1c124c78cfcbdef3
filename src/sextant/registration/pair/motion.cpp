// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/motion.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

Point rotate(double alpha, Point v) {
    const double cosine = std::cos(alpha), sine = std::sin(alpha);
    return {cosine * v.x - sine * v.y, sine * v.x + cosine * v.y};
}

} // namespace

double distance(Point a, Point b) {
    return std::hypot(a.x - b.x, a.y - b.y);
}

Point centre(ImageShape image) {
    return {static_cast<double>(image.width - 1) / 2, static_cast<double>(image.height - 1) / 2};
}

Point apply(const RigidMotion& motion, Point x, Point c) {
    const Point by_alpha = rotate(motion.alpha, x - c);
    return {by_alpha.x + c.x + motion.tx, by_alpha.y + c.y + motion.ty};
}

RigidMotion compose(const RigidMotion& outer, const RigidMotion& inner) {
    const Point t = rotate(outer.alpha, {inner.tx, inner.ty});
    // std::remainder does not change sums up to a half turn.
    return {std::remainder(outer.alpha + inner.alpha, 2 * std::numbers::pi), t.x + outer.tx,
            t.y + outer.ty};
}

RigidMotion inverse(const RigidMotion& motion) {
    const Point t = rotate(-motion.alpha, {motion.tx, motion.ty});
    return {-motion.alpha, -t.x, -t.y};
}

double rms_distance(const RigidMotion& phi, const RigidMotion& psi, ImageShape image,
                    double fraction) {
    // The mean of ‖(R(α) − R(β))v + d‖² is |R(α) − R(β)|² mean‖v‖² + ‖d‖², because v has mean 0.
    const double chord = 2 * std::sin((phi.alpha - psi.alpha) / 2);
    const auto variance = [&](std::int64_t size) {
        const double length = fraction * static_cast<double>(size);
        return length * length / 12;
    };
    const double spread = variance(image.width) + variance(image.height);
    return std::sqrt(chord * chord * spread + (phi.tx - psi.tx) * (phi.tx - psi.tx) +
                     (phi.ty - psi.ty) * (phi.ty - psi.ty));
}

namespace {

/// A position between two nodes of an axis; `weight` is the weight of the second node.
struct Along {
    std::size_t first, next;
    double weight;
};

Along along(double at, Elements spacing, std::int64_t nodes) {
    const double last = static_cast<double>(nodes - 1);
    const double position = std::clamp(at / static_cast<double>(spacing), 0., last);
    const double first = std::min(std::floor(position), std::max(last - 1, 0.));
    const auto index = static_cast<std::size_t>(first);
    return {index, std::min(index + 1, static_cast<std::size_t>(nodes - 1)), position - first};
}

/// The four nodes around a position and their bilinear weights.
struct Corners {
    std::size_t node[4];
    double weight[4];
};

Corners corners(const DisplacementField& field, Point at) {
    const Along x = along(at.x, field.spacing, field.nodes.width);
    const Along y = along(at.y, field.spacing, field.nodes.height);
    const auto width = static_cast<std::size_t>(field.nodes.width);
    return {{y.first * width + x.first, y.first * width + x.next, y.next * width + x.first,
             y.next * width + x.next},
            {(1 - y.weight) * (1 - x.weight), (1 - y.weight) * x.weight, y.weight * (1 - x.weight),
             y.weight * x.weight}};
}

double weighted_mean(const Corners& at, const std::vector<float>& values) {
    double sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += at.weight[k] * static_cast<double>(values[at.node[k]]);
    return sum;
}

/// True if all nodes with non-zero weight are known.
bool known(const Corners& at, const DisplacementField& field) {
    if (field.known.empty())
        return true;
    for (int k = 0; k < 4; ++k) {
        if (at.weight[k] > 0 && !field.known[at.node[k]])
            return false;
    }
    return true;
}

Point position_of(const DisplacementField& field, std::size_t node) {
    const auto width = static_cast<std::size_t>(field.nodes.width);
    return {static_cast<double>(node % width) * static_cast<double>(field.spacing),
            static_cast<double>(node / width) * static_cast<double>(field.spacing)};
}

void set(DisplacementField& field, std::size_t node, Point u) {
    field.x[node] = static_cast<float>(u.x);
    field.y[node] = static_cast<float>(u.y);
}

} // namespace

DisplacementField no_displacement(ImageShape image, Elements spacing) {
    if (image.width < 1 || image.height < 1 || spacing < 1)
        throw InvalidTask(fmt::format("a displacement field of {}x{} pixels with node spacing {}: "
                                      "expected at least 1x1 pixels and a spacing of at least 1",
                                      image.width, image.height, spacing));
    const auto reaching = [spacing](std::int64_t size) {
        return (size - 1 + spacing - 1) / spacing + 1;
    };
    DisplacementField field{image, spacing, {reaching(image.width), reaching(image.height)}, {}, {},
                            {},    {}};
    field.x.resize(field.count());
    field.y.resize(field.count());
    return field;
}

DisplacementField as_field(const RigidMotion& motion, ImageShape image, Elements spacing) {
    DisplacementField field = no_displacement(image, spacing);
    for (std::size_t i = 0; i < field.count(); ++i) {
        const Point from = position_of(field, i), to = apply(motion, from, centre(image));
        set(field, i, to - from);
    }
    return field;
}

Point displacement(const DisplacementField& field, Point x) {
    const Corners at = corners(field, x);
    return {weighted_mean(at, field.x), weighted_mean(at, field.y)};
}

Point apply(const DisplacementField& field, Point x) {
    return x + displacement(field, x);
}

Point apply_inverse(const DisplacementField& field, Point y) {
    constexpr int most = 200;
    Point v;
    for (int i = 0; i < most; ++i) {
        const Point u = displacement(field, y + v);
        const double change = std::hypot(u.x + v.x, u.y + v.y);
        v = {-u.x, -u.y};
        if (change < 1e-4)
            return y + v;
    }
    throw InvalidData(fmt::format(
        "the displacement field folds near ({:.0f}, {:.0f}) and has no inverse", y.x, y.y));
}

double rms_distance(const DisplacementField& phi, const DisplacementField& psi, double fraction) {
    const auto beyond = [fraction](std::int64_t size) {
        return static_cast<std::int64_t>(static_cast<double>(size) * (1 - fraction) / 2);
    };
    double sum = 0;
    std::int64_t pixels = 0;
    for (auto y = beyond(phi.image.height); y < phi.image.height - beyond(phi.image.height); ++y) {
        for (auto x = beyond(phi.image.width); x < phi.image.width - beyond(phi.image.width); ++x) {
            const Point at{static_cast<double>(x), static_cast<double>(y)};
            if (!known(corners(phi, at), phi) || !known(corners(psi, at), psi))
                continue;
            const Point u = displacement(phi, at), v = displacement(psi, at);
            sum += (u.x - v.x) * (u.x - v.x) + (u.y - v.y) * (u.y - v.y);
            ++pixels;
        }
    }
    return pixels > 0 ? std::sqrt(sum / static_cast<double>(pixels)) : 0;
}

AffineMotion as_affine(const RigidMotion& motion) {
    const double cosine = std::cos(motion.alpha), sine = std::sin(motion.alpha);
    return {cosine, -sine, sine, cosine, motion.tx, motion.ty};
}

RigidMotion nearest_rigid(const AffineMotion& motion) {
    return {std::atan2(motion.c - motion.b, motion.a + motion.d), motion.tx, motion.ty};
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
    constexpr double least = 1e-9; // determinants of real motions are near 1
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
                    double fraction) {
    // The mean of ‖Dv + d‖² is mean‖Dv‖² + ‖d‖², because v has mean 0.
    const auto variance = [&](std::int64_t size) {
        const double length = fraction * static_cast<double>(size);
        return length * length / 12;
    };
    const auto square = [](double value) { return value * value; };
    return std::sqrt(variance(image.width) * (square(phi.a - psi.a) + square(phi.c - psi.c)) +
                     variance(image.height) * (square(phi.b - psi.b) + square(phi.d - psi.d)) +
                     square(phi.tx - psi.tx) + square(phi.ty - psi.ty));
}

Point displacement(const RowMotion& motion, double y) {
    return {between_rows(motion.dx, y), between_rows(motion.dy, y)};
}

double displaced_row(const RowMotion& motion, double y, double start) {
    constexpr int most = 200;
    constexpr double close = 1e-7;
    double row = start;
    for (int i = 0; i < most; ++i) {
        const double next = y + between_rows(motion.dy, row);
        const double change = std::abs(next - row);
        row = next;
        if (change < close)
            return row;
    }
    throw InvalidTask(
        fmt::format("the row displacements change the order of the rows near row {:.0f}, expected "
                    "downward displacements that change by less than a pixel per row",
                    y));
}

Point apply(const RowMotion& motion, Point x, Point c) {
    const Point moved = apply(motion.motion, x, c);
    const double y = displaced_row(motion, moved.y, moved.y);
    return {moved.x + between_rows(motion.dx, y), y};
}

Point apply_inverse(const RowMotion& motion, Point p, Point c) {
    return apply(inverse(motion.motion), p - displacement(motion, p.y), c);
}

Point apply(const Transform& transform, Point x, ImageShape shape) {
    if (const auto* const field = std::get_if<DisplacementField>(&transform))
        return apply(*field, x);
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return apply(*affine, x, centre(shape));
    if (const auto* const rows = std::get_if<RowMotion>(&transform))
        return apply(*rows, x, centre(shape));
    return apply(std::get<RigidMotion>(transform), x, centre(shape));
}

Point apply_inverse(const Transform& transform, Point y, ImageShape shape) {
    if (const auto* const field = std::get_if<DisplacementField>(&transform))
        return apply_inverse(*field, y);
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return apply(inverse(*affine), y, centre(shape));
    if (const auto* const rows = std::get_if<RowMotion>(&transform))
        return apply_inverse(*rows, y, centre(shape));
    return apply(inverse(std::get<RigidMotion>(transform)), y, centre(shape));
}

} // namespace sextant::registration
