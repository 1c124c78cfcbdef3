// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/resampler.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/row_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The number of pixels that are interpolated at a time under a rigid motion.
constexpr std::size_t run_length = 64;

struct Reach {
    double lowest = 0, highest = 0;
};

/// Returns the range of y coordinates that a motion maps an area to. The extremes are at the
/// corners.
template <class Motion>
Reach reach(const Motion& motion, const PixelArea& area, ImageShape shape) {
    Reach found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const std::int64_t x : {area.x, area.x + area.shape.width - 1}) {
        for (const std::int64_t y : {area.y, area.y + area.shape.height - 1}) {
            const Point at =
                apply(motion, {static_cast<double>(x), static_cast<double>(y)}, centre(shape));
            found = {std::min(found.lowest, at.y), std::max(found.highest, at.y)};
        }
    }
    return found;
}

/// Returns a range that contains all y coordinates that a displacement field maps an area to. The
/// extremes of u are at nodes, because u is interpolated between nodes.
Reach reach(const DisplacementField& field, const PixelArea& area, ImageShape shape) {
    if (!contains(area_of(shape), area))
        throw std::logic_error("a displacement field is requested outside the reference");
    const std::int64_t last_row = area.y + area.shape.height - 1;
    const Elements first = std::min(area.y / field.spacing, field.nodes.height - 1);
    const Elements last = std::min(last_row / field.spacing + 1, field.nodes.height - 1);
    const auto [least, largest] =
        std::minmax_element(field.y.begin() + first * field.nodes.width,
                            field.y.begin() + (last + 1) * field.nodes.width);
    return {static_cast<double>(area.y) + static_cast<double>(*least),
            static_cast<double>(last_row) + static_cast<double>(*largest)};
}

Reach reach(const RowMotion& motion, const PixelArea& area, ImageShape shape) {
    const Reach found = reach(motion.motion, area, shape);
    const auto [least, largest] = std::minmax_element(motion.dy.begin(), motion.dy.end());
    return {found.lowest + static_cast<double>(*least),
            found.highest + static_cast<double>(*largest)};
}

/// Computes φ(x) for the pixels of a row from column `left` on. The field is first interpolated
/// along y at each node column, then along x at each pixel.
void positions_of_row(const DisplacementField& field, std::int64_t left, double y,
                      std::vector<Point>& positions) {
    const auto spacing = static_cast<double>(field.spacing);
    const auto columns = static_cast<std::size_t>(field.nodes.width);
    const auto begin = static_cast<std::size_t>(left), end_of_row = begin + positions.size();
    const double row = std::clamp(y / spacing, 0., static_cast<double>(field.nodes.height - 1));
    const auto above = static_cast<std::size_t>(row);
    const std::size_t below = std::min(above + 1, static_cast<std::size_t>(field.nodes.height - 1));
    const double share = row - static_cast<double>(above);
    const auto at_node = [&](const std::vector<float>& u, std::size_t column) {
        return (1 - share) * static_cast<double>(u[above * columns + column]) +
               share * static_cast<double>(u[below * columns + column]);
    };
    for (std::size_t node = 0; node < columns; ++node) {
        const auto first = node * static_cast<std::size_t>(field.spacing);
        const std::size_t end =
            node + 1 < columns
                ? std::min(first + static_cast<std::size_t>(field.spacing), end_of_row)
                : end_of_row;
        const std::size_t next = std::min(node + 1, columns - 1);
        const Point before{at_node(field.x, node), at_node(field.y, node)};
        const Point after{at_node(field.x, next), at_node(field.y, next)};
        for (std::size_t x = std::max(first, begin); x < end; ++x) {
            const double u = static_cast<double>(x - first) / spacing;
            positions[x - begin] = {static_cast<double>(x) + (1 - u) * before.x + u * after.x,
                                    y + (1 - u) * before.y + u * after.y};
        }
    }
}

/// Returns the part of an area in which a frame may have data. For displacement fields, this is the
/// whole area.
PixelArea reached_part(const Transform& transform, const PixelArea& area, ImageShape shape) {
    const bool larger = area.shape.width > shape.width || area.shape.height > shape.height;
    if (!larger || std::holds_alternative<DisplacementField>(transform))
        return area;
    PixelArea part = area_of_frame(transform, shape);
    part = {part.x - 1, part.y - 1, {part.shape.width + 2, part.shape.height + 2}};
    return common_area(part, area);
}

} // namespace

Resampler::Resampler(FrameSource& source, Team* team) : source_(source), team_(team) {
    const ImageShape shape = source.header().shape;
    if (std::min(shape.width, shape.height) < 2)
        throw InvalidData(fmt::format("{}: the frames have {}x{} pixels, expected at least 2x2",
                                      source.path(), shape.width, shape.height));
}

/// Reads the rows that interpolation at y from `lowest` to `highest` needs (at least two). Rows
/// that are already in memory are not read again.
void Resampler::read(std::int64_t frame, double lowest, double highest) {
    const ImageShape shape = source_.header().shape;
    const auto row = [&](double y) {
        return static_cast<std::int64_t>(
            std::clamp(std::floor(y), 0., static_cast<double>(shape.height - 2)));
    };
    // Add a row on each side, to allow for rounding.
    const Rows needed{row(lowest - 1), row(highest + 1) + 2};
    const auto size = static_cast<std::size_t>(needed.count() * shape.width);
    Rows missing = needed;
    if (size <= samples_.capacity() && needed.first >= held_.first && needed.first < held_.last &&
        needed.last >= held_.last) {
        missing.first = held_.last;
        std::copy(samples_.begin() + (needed.first - held_.first) * shape.width,
                  samples_.begin() + held_.count() * shape.width, samples_.begin());
    }
    held_ = needed;
    resize_buffer(samples_, size);
    source_.read_rows(
        frame, missing,
        std::span(samples_).last(static_cast<std::size_t>(missing.count() * shape.width)));
}

/// Interpolates between two rows of the frame. `y` is the coordinate after the whole motion, `x`
/// the coordinate without the displacement of rows, which `offset_of` returns for each row.
template <class OffsetOf>
float Resampler::sample(double x, double y, const OffsetOf& offset_of) const {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    const ImageShape shape = source_.header().shape;
    if (!(y >= 0 && y <= static_cast<double>(shape.height - 1)))
        return static_cast<float>(nothing);
    const auto top = static_cast<std::int64_t>(y);
    const double v = y - static_cast<double>(top), right = static_cast<double>(shape.width - 1);
    // Samples of weight 0 are skipped, so that NaN does not spread to neighbouring pixels.
    const auto in_row = [&](std::int64_t row) {
        const double at = x + offset_of(row);
        if (!(at >= 0 && at <= right))
            return nothing;
        const auto left = static_cast<std::int64_t>(at);
        const double u = at - static_cast<double>(left);
        const float* const pixel = samples_.data() + (row - held_.first) * shape.width + left;
        const auto first = static_cast<double>(pixel[0]);
        return u == 0 ? first : (1 - u) * first + u * static_cast<double>(pixel[1]);
    };
    const double above = in_row(top);
    return static_cast<float>(v == 0 ? above : (1 - v) * above + v * in_row(top + 1));
}

/// Samples a row. If all four neighbours of a position are finite, the result equals that of
/// sample(), because terms of weight 0 add 0. The exception is −0 + 0 = 0, so zeros are computed by
/// sample() to get their sign.
void Resampler::sample_row(std::span<const Point> positions, float* to) const {
    const ImageShape shape = source_.header().shape;
    const auto right = static_cast<double>(shape.width - 1);
    const auto bottom = static_cast<double>(shape.height - 1);
    for (const Point& at : positions) {
        float& result = *to++;
        if (!(at.x >= 0 && at.x <= right && at.y >= 0 && at.y <= bottom)) {
            result = std::numeric_limits<float>::quiet_NaN();
            continue;
        }
        const std::int64_t left = std::min(static_cast<std::int64_t>(at.x), shape.width - 2);
        const std::int64_t top = std::min(static_cast<std::int64_t>(at.y), shape.height - 2);
        const double u = at.x - static_cast<double>(left), v = at.y - static_cast<double>(top);
        const float* const corner = samples_.data() + (top - held_.first) * shape.width + left;
        const float* const lower = corner + shape.width;
        const double above =
            (1 - u) * static_cast<double>(corner[0]) + u * static_cast<double>(corner[1]);
        const double below =
            (1 - u) * static_cast<double>(lower[0]) + u * static_cast<double>(lower[1]);
        const double value = (1 - v) * above + v * below;
        result = std::isfinite(value) && value != 0
                     ? static_cast<float>(value)
                     : sample(at.x, at.y, [](std::int64_t) { return 0.; });
    }
}

/// Interpolates a run of pixels in a row of T∘φ for a rigid motion, if all pixels are inside the
/// frame, between the same two rows of T, and at the same whole column offset. Every pixel has the
/// same bits as with sample().
///
/// The run starts at column `first`. Returns false and writes nothing if the conditions are not
/// met.
bool Resampler::sample_run(const AffineMotion& phi, Point c, std::int64_t first, double y,
                           std::span<float> to) const {
    constexpr double margin = 1e-6; // larger than rounding errors; prevents weights of 0
    const ImageShape shape = source_.header().shape;
    const auto count = static_cast<int>(to.size());
    const auto x_of = [&](int i) { return static_cast<double>(first) + static_cast<double>(i); };
    const Point begin = apply(phi, {x_of(0), y}, c), end = apply(phi, {x_of(count - 1), y}, c);
    // φ is linear along the row, so conditions that hold at both ends hold for all pixels in
    // between.
    const double columns = std::floor(begin.x - x_of(0)), top = std::floor(begin.y);
    const float* const above = samples_.data() +
                               (static_cast<std::int64_t>(top) - held_.first) * shape.width +
                               first + static_cast<std::int64_t>(columns);
    const bool of_whole_pixels = begin.x == x_of(0) + columns && end.x == begin.x + (count - 1) &&
                                 begin.y == top && end.y == top;
    if (of_whole_pixels && begin.x >= 0 && end.x <= static_cast<double>(shape.width - 1) &&
        top >= 0 && top <= static_cast<double>(shape.height - 1)) {
        std::copy_n(above, to.size(), to.begin());
        return true;
    }
    const auto fits = [&](const Point& at, int i) {
        const double u = at.x - x_of(i) - columns, v = at.y - top;
        return u > margin && u < 1 - margin && v > margin && v < 1 - margin;
    };
    const bool inside = x_of(0) + columns >= 0 &&
                        x_of(count - 1) + columns <= static_cast<double>(shape.width - 2) &&
                        top >= 0 && top <= static_cast<double>(shape.height - 2);
    if (!inside || !fits(begin, 0) || !fits(end, count - 1))
        return false;
    const double down = y - c.y;
    kernel::sample_run(
        {x_of(0) - c.x, phi.a, phi.b * down, c.x, phi.tx, phi.c, phi.d * down, c.y, phi.ty}, above,
        above + shape.width, x_of(0) + columns, top, count, to.data());
    return true;
}

void Resampler::resample_rows(std::int64_t frame, const Transform& transform, const PixelArea& area,
                              std::vector<float>& buffer, const ResampledRows& take) {
    constexpr Elements at_a_time = Elements{1} << 22;
    const Elements step =
        std::max<Elements>(1, at_a_time / std::max<Elements>(1, area.shape.width));
    bool continued = false;
    for (Elements row = 0; row < area.shape.height; row += step) {
        const Elements count = std::min(step, area.shape.height - row);
        resize_buffer(buffer, static_cast<std::size_t>(count * area.shape.width));
        continued = resample(frame, transform, {area.x, area.y + row, {area.shape.width, count}},
                             buffer, continued) ||
                    continued;
        take(buffer);
    }
}

bool Resampler::resample(std::int64_t frame, const Transform& transform, const PixelArea& area,
                         std::span<float> to, bool continued) {
    const ImageShape shape = source_.header().shape;
    if (static_cast<Elements>(to.size()) != area.shape.elements())
        throw std::logic_error("the size of the buffer differs from that of the requested area");
    if (area.shape.elements() == 0)
        return false;
    check_transform(transform, shape);
    const PixelArea part = reached_part(transform, area, shape);
    if (part != area)
        std::fill(to.begin(), to.end(), std::numeric_limits<float>::quiet_NaN());
    if (part.shape.elements() == 0)
        return false;
    const auto width = static_cast<std::size_t>(part.shape.width);
    float* const first_row = to.data() + (part.y - area.y) * area.shape.width + (part.x - area.x);
    const auto resample_by = [&](const auto& phi, const auto& fill_row) {
        const auto [lowest, highest] = reach(phi, part, shape);
        if (!continued)
            held_ = {};
        read(frame, lowest, highest);
        const Bands bands(part.shape.height);
        run_parts(team_, bands.count(), [&](int band, int) {
            std::vector<Point> positions(width);
            for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
                check_cancelled(std::ssize(positions));
                fill_row(static_cast<double>(part.y + row), positions,
                         std::span(first_row + row * area.shape.width, width));
            }
        });
    };
    const Point c = centre(shape);
    const auto resample_linear = [&](const auto& motion, const AffineMotion& phi) {
        resample_by(motion, [&](double y, std::span<Point> positions, std::span<float> row) {
            for (std::size_t first = 0; first < row.size(); first += run_length) {
                const std::size_t count = std::min(run_length, row.size() - first);
                const std::span<float> run = row.subspan(first, count);
                const std::int64_t column = part.x + static_cast<std::int64_t>(first);
                if (sample_run(phi, c, column, y, run))
                    continue;
                for (std::size_t i = 0; i < count; ++i)
                    positions[i] =
                        apply(phi, {static_cast<double>(column) + static_cast<double>(i), y}, c);
                sample_row(positions.first(count), run.data());
            }
        });
    };
    if (const auto* const motion = std::get_if<RigidMotion>(&transform)) {
        resample_linear(*motion, as_affine(*motion));
    } else if (const auto* const affine = std::get_if<AffineMotion>(&transform)) {
        resample_linear(*affine, *affine);
    } else if (const auto* const displaced = std::get_if<RowMotion>(&transform)) {
        const double cosine = std::cos(displaced->motion.alpha);
        const double sine = std::sin(displaced->motion.alpha);
        resample_by(*displaced, [&](double y, std::span<Point>, std::span<float> row) {
            const Point begin = apply(displaced->motion, {static_cast<double>(part.x), y}, c);
            double there = begin.y; // start of the iteration: the result of the previous pixel
            for (std::size_t i = 0; i < row.size(); ++i) {
                const auto x = static_cast<double>(i);
                there = displaced_row(*displaced, begin.y + sine * x, there);
                row[i] = sample(begin.x + cosine * x, there, [&](std::int64_t line) {
                    return static_cast<double>(displaced->dx[static_cast<std::size_t>(line)]);
                });
            }
        });
    } else {
        const auto& field = std::get<DisplacementField>(transform);
        resample_by(field, [&](double y, std::vector<Point>& positions, std::span<float> row) {
            positions_of_row(field, part.x, y, positions);
            sample_row(positions, row.data());
        });
    }
    return true;
}

} // namespace sextant::registration
