// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <variant>
#include <vector>

namespace sextant::registration {

bool contains(const PixelArea& area, const PixelArea& part) {
    return part.x >= area.x && part.y >= area.y &&
           part.x + part.shape.width <= area.x + area.shape.width &&
           part.y + part.shape.height <= area.y + area.shape.height;
}

PixelArea common_area(const PixelArea& one, const PixelArea& other) {
    const std::int64_t left = std::max(one.x, other.x), top = std::max(one.y, other.y);
    const std::int64_t right = std::min(one.x + one.shape.width, other.x + other.shape.width);
    const std::int64_t bottom = std::min(one.y + one.shape.height, other.y + other.shape.height);
    if (right <= left || bottom <= top)
        return {left, top, {}};
    return {left, top, {right - left, bottom - top}};
}

PixelArea enclosing_area(const PixelArea& one, const PixelArea& other) {
    if (one.shape.elements() == 0)
        return other;
    if (other.shape.elements() == 0)
        return one;
    const std::int64_t left = std::min(one.x, other.x), top = std::min(one.y, other.y);
    const std::int64_t right = std::max(one.x + one.shape.width, other.x + other.shape.width);
    const std::int64_t bottom = std::max(one.y + one.shape.height, other.y + other.shape.height);
    return {left, top, {right - left, bottom - top}};
}

namespace {

/// True if a position is between the centres of the first and last pixels of an image.
bool is_inside(Point at, ImageShape shape) {
    return at.x >= 0 && at.x <= static_cast<double>(shape.width - 1) && at.y >= 0 &&
           at.y <= static_cast<double>(shape.height - 1);
}

} // namespace

double predicted_overlap(const RigidMotion& motion, ImageShape shape) {
    constexpr int steps = 16;
    const Point c = centre(shape);
    const auto position = [](int step, std::int64_t size) {
        return (step + .5) / steps * static_cast<double>(size) - .5;
    };
    int inside = 0;
    for (int row = 0; row < steps; ++row) {
        for (int column = 0; column < steps; ++column)
            inside += is_inside(
                apply(motion, {position(column, shape.width), position(row, shape.height)}, c),
                shape);
    }
    return static_cast<double>(inside) / (steps * steps);
}

PixelArea area_of_frame(const Transform& transform, ImageShape shape) {
    if (std::holds_alternative<DisplacementField>(transform))
        throw std::logic_error("the area of a frame is requested for a displacement field");
    constexpr double none = std::numeric_limits<double>::infinity();
    double left = none, right = -none, top = none, bottom = -none;
    const auto last_x = static_cast<double>(shape.width - 1);
    const auto last_y = static_cast<double>(shape.height - 1);
    // Linear motions have their extremes at the corners. Rows of a RowMotion are displaced
    // individually, so check each row.
    const double step = std::holds_alternative<RowMotion>(transform) ? 1 : last_y;
    for (const double x : {0., last_x}) {
        for (double y = 0; y <= last_y; y += step) {
            const Point at = apply_inverse(transform, {x, y}, shape);
            left = std::min(left, at.x);
            right = std::max(right, at.x);
            top = std::min(top, at.y);
            bottom = std::max(bottom, at.y);
        }
    }
    constexpr double rounding = 1e-9;
    const auto first = [](double at) {
        return static_cast<std::int64_t>(std::ceil(at - rounding));
    };
    const auto last = [](double at) {
        return static_cast<std::int64_t>(std::floor(at + rounding));
    };
    return {first(left),
            first(top),
            {std::max<std::int64_t>(0, last(right) - first(left) + 1),
             std::max<std::int64_t>(0, last(bottom) - first(top) + 1)}};
}

PixelArea covered_by_any(std::span<const std::int64_t> frames, const TransformOf& transform_of,
                         ImageShape shape) {
    PixelArea area;
    for (const std::int64_t frame : frames)
        area = enclosing_area(area, area_of_frame(transform_of(frame), shape));
    return area;
}

namespace {

/// The pixels of an image that all frames cover.
class Covered {
  public:
    explicit Covered(ImageShape shape)
        : shape_(shape), mask_(static_cast<std::size_t>(shape.elements()), 1) {}

    void add(const Transform& transform) {
        const bool linear = !std::holds_alternative<DisplacementField>(transform) &&
                            !std::holds_alternative<RowMotion>(transform);
        for (std::int64_t y = 0; y < shape_.height; ++y) {
            std::uint8_t* const row = mask_.data() + y * shape_.width;
            const auto covers = [&](std::int64_t x) {
                return is_inside(
                    apply(transform, {static_cast<double>(x), static_cast<double>(y)}, shape_),
                    shape_);
            };
            if (linear) {
                clear_ends(row, covers);
                continue;
            }
            for (std::int64_t x = 0; x < shape_.width; ++x)
                row[x] = row[x] != 0 && covers(x);
        }
    }

    /// Returns the largest rectangle of covered pixels. For each row, the numbers of consecutive
    /// covered pixels above it form a histogram. The largest rectangle in the histogram is found in
    /// one pass with a stack of increasing heights.
    PixelArea largest_rectangle() const {
        struct Column {
            std::int64_t x, height;
        };
        std::vector<std::int64_t> heights(static_cast<std::size_t>(shape_.width));
        std::vector<Column> rising;
        PixelArea best;
        for (std::int64_t y = 0; y < shape_.height; ++y) {
            rising.clear();
            for (std::int64_t x = 0; x <= shape_.width; ++x) {
                std::int64_t height = 0;
                if (x < shape_.width) {
                    std::int64_t& above = heights[static_cast<std::size_t>(x)];
                    above =
                        mask_[static_cast<std::size_t>(y * shape_.width + x)] != 0 ? above + 1 : 0;
                    height = above;
                }
                std::int64_t begin = x;
                while (!rising.empty() && rising.back().height >= height) {
                    const Column top = rising.back();
                    rising.pop_back();
                    begin = top.x;
                    if (top.height * (x - top.x) > best.shape.elements())
                        best = {top.x, y + 1 - top.height, {x - top.x, top.height}};
                }
                rising.push_back({begin, height});
            }
        }
        return best;
    }

  private:
    /// Clears the pixels at both ends of a row that a frame does not cover. A linear motion maps an
    /// interval of a row into a frame, and the intersection of intervals is an interval, so only
    /// the ends need to be checked.
    template <class Covers>
    void clear_ends(std::uint8_t* row, const Covers& covers) const {
        std::int64_t first = 0, last = shape_.width;
        while (first < last && (row[first] == 0 || !covers(first)))
            row[first++] = 0;
        while (last > first && (row[last - 1] == 0 || !covers(last - 1)))
            row[--last] = 0;
    }

    ImageShape shape_;
    std::vector<std::uint8_t> mask_;
};

} // namespace

PixelArea covered_by_all(std::span<const std::int64_t> frames, const TransformOf& transform_of,
                         ImageShape shape) {
    Covered covered(shape);
    for (const std::int64_t frame : frames)
        covered.add(transform_of(frame));
    return covered.largest_rectangle();
}

} // namespace sextant::registration
