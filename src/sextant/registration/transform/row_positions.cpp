// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/row_positions.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/transform/sample_strips.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr double limitless = std::numeric_limits<double>::infinity();

bool is_unit(const AffineMotion& motion) {
    return motion.a == 1 && motion.b == 0 && motion.c == 0 && motion.d == 1;
}

/// Returns the translation at the centre c of a frame; for row motions, without the row
/// displacement d.
Point translation_of(const Transform& transform, Point c) {
    if (const auto* const rigid = std::get_if<RigidMotion>(&transform))
        return {rigid->tx, rigid->ty};
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return {affine->tx, affine->ty};
    if (const auto* const field = std::get_if<DisplacementField>(&transform))
        return displacement(*field, c);
    const RigidMotion& motion = std::get<RowMotion>(transform).motion;
    return {motion.tx, motion.ty};
}

/// Returns φ⁻¹ if φ is linear.
std::optional<AffineMotion> linear_inverse(const Transform& transform) {
    if (const auto* const rigid = std::get_if<RigidMotion>(&transform))
        return inverse(as_affine(*rigid));
    if (const auto* const affine = std::get_if<AffineMotion>(&transform))
        return inverse(*affine);
    return std::nullopt;
}

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
    const Point t = translation_of(transform, centre(shape));
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
                fmt::format("there are displacements for {} rows, but the frames have {} rows",
                            std::min(rows->dx.size(), rows->dy.size()), shape.height));
    }
}

PixelPositions::PixelPositions(const Transform& transform, std::int64_t width, Rows rows)
    : rows_(rows), uniform_(shifts_rows(transform)), columns_(uniform_ ? 1 : width) {
    positions_.reserve(static_cast<std::size_t>(rows.count() * columns_));
}

RowPositions::RowPositions(const Transform& transform, const PixelArea& area, ImageShape shape,
                           Rows rows)
    : PixelPositions(transform, area.shape.width, rows),
      motion_(std::get_if<RowMotion>(&transform)),
      lowest_(limitless),
      highest_(-limitless) {
    const auto left = static_cast<double>(area.x), top = static_cast<double>(area.y);
    const Point c = centre(shape);
    const Point t = uniform_ ? translation_of(transform, c) : Point{};
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const double y = top + static_cast<double>(row);
        double there = y; // result of the previous pixel, used as the start of the iteration
        for (std::int64_t column = 0; column < columns_; ++column) {
            const Point from{left + static_cast<double>(column), y};
            Point at = uniform_  ? from + t
                       : motion_ ? apply(motion_->motion, from, c)
                                 : apply(transform, from, shape);
            if (motion_)
                at.y = there = displaced_row(*motion_, at.y, column == 0 ? at.y : there);
            positions_.push_back(at);
            lowest_ = std::min(lowest_, at.y);
            highest_ = std::max(highest_, at.y);
        }
    }
}

ReversePositions::ReversePositions(const Transform& transform, const PixelArea& area,
                                   ImageShape shape, Rows rows)
    : PixelPositions(transform, shape.width, rows) {
    const Point first{static_cast<double>(area.x), static_cast<double>(area.y)};
    const Point c = centre(shape), t = uniform_ ? translation_of(transform, c) : Point{};
    const auto* const motion = std::get_if<RowMotion>(&transform);
    const std::optional<AffineMotion> linear = linear_inverse(transform);
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        double lowest = limitless, highest = -limitless;
        for (std::int64_t column = 0; column < columns_; ++column) {
            const Point from{static_cast<double>(column), static_cast<double>(row)};
            const Point d = uniform_ && motion ? displacement(*motion, from.y) : Point{};
            const Point to = (uniform_ ? from - d - t
                              : linear ? apply(*linear, from, c)
                                       : apply_inverse(transform, from, shape)) -
                             first;
            lowest = std::min(lowest, to.y);
            highest = std::max(highest, to.y);
            positions_.push_back(to);
        }
        lowest_.push_back(lowest);
        highest_.push_back(highest);
    }
}

FrameSplat::FrameSplat(const ReversePositions& positions, ImageShape result, ImageShape frame,
                       std::int64_t first_column, Rows band)
    : positions_(positions),
      result_(result),
      frame_(frame),
      first_column_(std::min(first_column, frame.width)),
      band_(band) {}

FrameSplat::Fall FrameSplat::fall_of(std::int64_t row, std::int64_t column) const {
    Point at = positions_.at(row, positions_.is_uniform() ? 0 : column);
    if (positions_.is_uniform())
        at.x += static_cast<double>(column);
    // Clamp positions far outside, so that indices do not overflow. Such positions are equivalent.
    const double y = std::clamp(at.y, -2., static_cast<double>(result_.height) + 1);
    const double x = std::clamp(at.x, -2., static_cast<double>(result_.width) + 1);
    const double top = std::floor(y), left = std::floor(x);
    return {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), y - top, x - left};
}

bool FrameSplat::reaches(std::int64_t row) const {
    const auto owner = [&](double y) {
        return std::clamp(y, 0., static_cast<double>(result_.height - 1));
    };
    return owner(std::floor(positions_.lowest(row))) < static_cast<double>(band_.last) &&
           owner(std::floor(positions_.highest(row)) + 1) >= static_cast<double>(band_.first);
}

/// Calls add(column, count, weight, result_row, result_column) for each run of consecutive pixels
/// of a row that are added with the same weight to consecutive pixels of the result.
template <class Add>
void FrameSplat::distribute(std::int64_t row, Rows to, const Add& add) const {
    const auto run = [&](std::int64_t column, std::int64_t count, const Fall& fall) {
        for (int j = 0; j < 2; ++j) {
            const double vertical = j == 0 ? 1 - fall.v : fall.v;
            const std::int64_t y = fall.row + j;
            if (vertical == 0 || y < to.first || y >= to.last)
                continue;
            for (int i = 0; i < 2; ++i) {
                const double horizontal = i == 0 ? 1 - fall.u : fall.u;
                const std::int64_t x = fall.column + i;
                const std::int64_t first = std::max<std::int64_t>(0, -x);
                const std::int64_t end = std::min(count, result_.width - x);
                if (horizontal != 0 && first < end)
                    add(column + first, end - first, vertical * horizontal, y, x + first);
            }
        }
    };
    if (!positions_.is_uniform()) {
        for (std::int64_t column = first_column_; column < frame_.width; ++column)
            run(column, 1, fall_of(row, column));
        return;
    }
    const Point& at = positions_.at(row, 0);
    const double left = std::floor(at.x);
    const Fall fall = fall_of(row, 0);
    const auto far = static_cast<double>(frame_.width + result_.width + 2);
    if (std::abs(left) > far || first_column_ == frame_.width)
        return;
    run(first_column_, frame_.width - first_column_,
        {fall.row, static_cast<std::int64_t>(left) + first_column_, fall.v, at.x - left});
}

/// Calls lose(column, weight) for the pixels of a row that are skipped or fall outside the result
/// completely or partly, if they belong to rows `to` of the result.
template <class Lose>
void FrameSplat::lose(std::int64_t row, Rows to, const Lose& lose) const {
    const auto inside = [](std::int64_t at, double share, std::int64_t length) {
        return (at >= 0 && at < length ? 1 - share : 0) +
               (at + 1 >= 0 && at + 1 < length ? share : 0);
    };
    for (std::int64_t column = 0; column < frame_.width; ++column) {
        const Fall fall = fall_of(row, column);
        const std::int64_t owner = std::clamp<std::int64_t>(fall.row, 0, result_.height - 1);
        if (owner < to.first || owner >= to.last)
            continue;
        const double kept = column < first_column_ ? 0
                                                   : inside(fall.row, fall.v, result_.height) *
                                                         inside(fall.column, fall.u, result_.width);
        constexpr double rounding = 1e-12;
        if (kept < 1 - rounding)
            lose(column, 1 - kept);
    }
}

double FrameSplat::add(Sample sample, const std::byte* from, Rows rows, Elements inner, Rows to,
                       double* sums) const {
    const Bytes pixel = inner * size_of(sample);
    double outside = 0;
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const std::byte* const samples = from + (row - rows.first) * frame_.width * pixel;
        distribute(row, to,
                   [&](std::int64_t column, std::int64_t count, double weight, std::int64_t y,
                       std::int64_t x) {
                       add_samples(sample, samples + column * pixel,
                                   static_cast<std::size_t>(count * inner), weight,
                                   sums + ((y - band_.first) * result_.width + x) * inner);
                   });
        lose(row, to, [&](std::int64_t column, double weight) {
            outside +=
                weight * sum_of(sample, samples + column * pixel, static_cast<std::size_t>(inner));
        });
    }
    return outside;
}

void FrameSplat::count(std::span<double> counts) const {
    for (std::int64_t row = 0; row < frame_.height; ++row) {
        if (!reaches(row))
            continue;
        distribute(
            row, band_,
            [&](std::int64_t, std::int64_t count, double weight, std::int64_t y, std::int64_t x) {
                double* const to = counts.data() + (y - band_.first) * result_.width + x;
                for (std::int64_t i = 0; i < count; ++i)
                    to[i] += weight;
            });
    }
}

} // namespace sextant::registration
