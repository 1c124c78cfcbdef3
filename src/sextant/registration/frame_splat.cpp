// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/frame_splat.hpp"

#include "sextant/registration/sample_strips.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::registration {

FrameSplat::FrameSplat(const ReversePlaces& places, ImageShape result, ImageShape frame,
                       std::int64_t first_column, Rows band)
    : places_(places),
      result_(result),
      frame_(frame),
      first_column_(std::min(first_column, frame.width)),
      band_(band) {}

FrameSplat::Fall FrameSplat::fall_of(std::int64_t row, std::int64_t column) const {
    Point at = places_.at(row, places_.is_uniform() ? 0 : column);
    if (places_.is_uniform())
        at.x += static_cast<double>(column);
    // Positions far outside are all the same, and indices do not overflow.
    const double y = std::clamp(at.y, -2., static_cast<double>(result_.height) + 1);
    const double x = std::clamp(at.x, -2., static_cast<double>(result_.width) + 1);
    const double top = std::floor(y), left = std::floor(x);
    return {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), y - top, x - left};
}

bool FrameSplat::reaches(std::int64_t row) const {
    const auto owner = [&](double y) {
        return std::clamp(y, 0., static_cast<double>(result_.height - 1));
    };
    return owner(std::floor(places_.lowest(row))) < static_cast<double>(band_.last) &&
           owner(std::floor(places_.highest(row)) + 1) >= static_cast<double>(band_.first);
}

/// Calls add(column, count, weight, result_row, result_column) for successive pixels of a row that
/// fall with the same weight on successive pixels.
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
    if (!places_.is_uniform()) {
        for (std::int64_t column = first_column_; column < frame_.width; ++column)
            run(column, 1, fall_of(row, column));
        return;
    }
    const Point& at = places_.at(row, 0);
    const double left = std::floor(at.x);
    const Fall fall = fall_of(row, 0);
    const auto far = static_cast<double>(frame_.width + result_.width + 2);
    if (std::abs(left) > far || first_column_ == frame_.width)
        return;
    run(first_column_, frame_.width - first_column_,
        {fall.row, static_cast<std::int64_t>(left) + first_column_, fall.v, at.x - left});
}

/// Calls lose(column, weight) for the pixels of a row that fall outside, wholly or in part, or are
/// left out, if they belong to rows `to` of the result.
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
