// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/row_places.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr double limitless = std::numeric_limits<double>::infinity();

bool is_unit(const AffineMotion& motion) {
    return motion.a == 1 && motion.b == 0 && motion.c == 0 && motion.d == 1;
}

/// The translation of a motion that shifts rows, in the frame for row motions before d is added.
Point translation_of(const Transform& transform) {
    if (const auto* const rigid = std::get_if<RigidMotion>(&transform))
        return {rigid->tx, rigid->ty};
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return {affine->tx, affine->ty};
    const RigidMotion& motion = std::get<RowMotion>(transform).motion;
    return {motion.tx, motion.ty};
}

/// φ⁻¹ with what is needed at every pixel computed once.
class Reverse {
  public:
    Reverse(const Transform& transform, ImageShape shape)
        : transform_(transform), shape_(shape), centre_(centre(shape)) {
        if (const auto* const rigid = std::get_if<RigidMotion>(&transform))
            affine_ = inverse(as_affine(*rigid));
        else if (const auto* const affine = std::get_if<AffineMotion>(&transform))
            affine_ = inverse(*affine);
        else
            linear_ = false;
    }
    Point operator()(Point at) const {
        return linear_ ? apply(affine_, at, centre_) : apply_inverse(transform_, at, shape_);
    }

  private:
    const Transform& transform_;
    ImageShape shape_;
    Point centre_;
    AffineMotion affine_;
    bool linear_ = true;
};

} // namespace

bool shifts_rows(const Transform& transform) {
    if (const auto* const rigid = std::get_if<RigidMotion>(&transform))
        return rigid->alpha == 0;
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return is_unit(*affine);
    const auto* const rows = std::get_if<RowMotion>(&transform);
    return rows && rows->motion.alpha == 0;
}

RigidMotion whole_shift(const Transform& transform, ImageShape shape) {
    const Point c = centre(shape);
    Point t;
    if (const auto* const rows = std::get_if<RowMotion>(&transform))
        t = {rows->motion.tx, rows->motion.ty};
    else if (const auto* const field = std::get_if<DisplacementField>(&transform))
        t = displacement(*field, c);
    else if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        t = {affine->tx, affine->ty};
    else
        t = {std::get<RigidMotion>(transform).tx, std::get<RigidMotion>(transform).ty};
    return {0, std::floor(t.x + .5), std::floor(t.y + .5)};
}

void check_transform(const Transform& transform, ImageShape shape) {
    if (const auto* const field = std::get_if<DisplacementField>(&transform)) {
        if (field->image != shape)
            throw InvalidTask(fmt::format(
                "the displacement field is for frames of {}x{} pixels, but the frames have {}x{}",
                field->image.width, field->image.height, shape.width, shape.height));
    }
    if (const auto* const rows = std::get_if<RowMotion>(&transform)) {
        const auto height = static_cast<std::size_t>(shape.height);
        if (rows->dx.size() != height || rows->dy.size() != height)
            throw InvalidTask(
                fmt::format("the displacements are those of {} rows, but the frames have {} rows",
                            std::min(rows->dx.size(), rows->dy.size()), shape.height));
    }
}

RowPlaces::RowPlaces(const Transform& transform, const PixelArea& area, ImageShape shape, Rows rows)
    : width_(area.shape.width),
      rows_(rows),
      uniform_(shifts_rows(transform)),
      motion_(std::get_if<RowMotion>(&transform)) {
    const auto left = static_cast<double>(area.x), top = static_cast<double>(area.y);
    const Point c = centre(shape);
    const std::int64_t columns = uniform_ ? 1 : width_;
    places_.reserve(static_cast<std::size_t>(rows.count() * columns));
    const Point t = uniform_ ? translation_of(transform) : Point{};
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const double y = top + static_cast<double>(row);
        double there = y; // of the previous pixel: a good start
        for (std::int64_t column = 0; column < columns; ++column) {
            const Point from{left + static_cast<double>(column), y};
            Point at;
            if (motion_) {
                at = uniform_ ? Point{from.x + t.x, from.y + t.y} : apply(motion_->motion, from, c);
                there = displaced_row(*motion_, at.y, column == 0 ? at.y : there);
                at.y = there;
            } else if (uniform_) {
                at = {from.x + t.x, from.y + t.y};
            } else {
                at = apply(transform, from, shape);
            }
            places_.push_back(at);
        }
    }
    lowest_ = limitless;
    highest_ = -limitless;
    for (const Point& at : places_) {
        lowest_ = std::min(lowest_, at.y);
        highest_ = std::max(highest_, at.y);
    }
}

ReversePlaces::ReversePlaces(const Transform& transform, const PixelArea& area, ImageShape shape,
                             Rows rows)
    : width_(shape.width), rows_(rows), uniform_(shifts_rows(transform)) {
    const auto left = static_cast<double>(area.x), top = static_cast<double>(area.y);
    const auto* const motion = std::get_if<RowMotion>(&transform);
    const Reverse reverse(transform, shape);
    const std::int64_t columns = uniform_ ? 1 : width_;
    const Point t = uniform_ ? translation_of(transform) : Point{};
    places_.reserve(static_cast<std::size_t>(rows.count() * columns));
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        double lowest = limitless, highest = -limitless;
        for (std::int64_t column = 0; column < columns; ++column) {
            Point from{static_cast<double>(column), static_cast<double>(row)}, to;
            if (uniform_) {
                const Point d = motion ? displacement(*motion, from.y) : Point{};
                to = {from.x - d.x - t.x - left, from.y - d.y - t.y - top};
            } else {
                to = reverse(from);
                to = {to.x - left, to.y - top};
            }
            lowest = std::min(lowest, to.y);
            highest = std::max(highest, to.y);
            places_.push_back(to);
        }
        lowest_.push_back(lowest);
        highest_.push_back(highest);
    }
}

} // namespace sextant::registration
