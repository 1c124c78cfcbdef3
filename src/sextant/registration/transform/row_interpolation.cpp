// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/row_interpolation.hpp"

#include "sextant/registration/transform/sample_strips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <type_traits>

namespace sextant::registration {

namespace {

/// The samples along an axis that a value is interpolated from, and their weights.
struct AxisTaps {
    std::int64_t first = 0;
    int count = 0;
    double weights[most_taps];
};

double lanczos_window(double x) {
    constexpr double lobes = 3;
    const double angle = std::numbers::pi * x;
    return x == 0 ? 1 : lobes * std::sin(angle) * std::sin(angle / lobes) / (angle * angle);
}

/// Returns the taps of a position. Requires a position within the range of std::int64_t.
AxisTaps axis_taps(AlignBy by, double at) {
    const double whole = std::floor(at), u = at - whole;
    AxisTaps taps{static_cast<std::int64_t>(whole), 1, {1}};
    if (u == 0)
        return taps;
    switch (by) {
    case AlignBy::cubic:
        --taps.first;
        taps.count = 4;
        taps.weights[0] = u * (-.5 + u * (1 - .5 * u));
        taps.weights[1] = 1 + u * u * (1.5 * u - 2.5);
        taps.weights[2] = u * (.5 + u * (2 - 1.5 * u));
        taps.weights[3] = u * u * (.5 * u - .5);
        return taps;
    case AlignBy::lanczos: {
        taps.first -= 2;
        taps.count = 6;
        double sum = 0;
        for (int i = 0; i < 6; ++i)
            sum += taps.weights[i] = lanczos_window(u + 2 - i);
        for (double& weight : taps.weights)
            weight /= sum;
        return taps;
    }
    default:
        taps.count = 2;
        taps.weights[0] = 1 - u;
        taps.weights[1] = u;
        return taps;
    }
}

bool within(double at, double first, double last) {
    return at >= first && at <= last; // false for NaN
}

} // namespace

Rows rows_for(const RowPositions& positions, AlignBy by, std::int64_t height) {
    const auto last = static_cast<double>(height - 1);
    if (!(positions.highest() >= 0 && positions.lowest() <= last))
        return {0, 0};
    const std::int64_t margin = by == AlignBy::cubic ? 1 : by == AlignBy::lanczos ? 2 : 0;
    const auto row = [&](double y) {
        return static_cast<std::int64_t>(std::floor(std::clamp(y, 0., last)));
    };
    return {std::max<std::int64_t>(0, row(positions.lowest()) - margin),
            std::min(height, row(positions.highest()) + 2 + margin)};
}

/// The rows of a frame that a pixel is interpolated from: their weights and numbers, and the x
/// coordinate of the pixel in each row.
struct RowInterpolation::RowTaps {
    AxisTaps y;
    std::int64_t rows[most_taps];
    double x[most_taps];
    /// False if a position is outside the frame. If all pixels of a row are shifted by the same
    /// vector, x is not considered.
    bool covered = true;
};

RowInterpolation::RowTaps RowInterpolation::taps_of(Point at) const {
    RowTaps taps;
    const std::int64_t height = from_.shape.height;
    taps.covered = within(at.y, 0, static_cast<double>(height - 1));
    if (!taps.covered)
        return taps;
    taps.y = axis_taps(by_, at.y);
    const auto first = static_cast<double>(from_.first_column);
    const auto last = static_cast<double>(from_.shape.width - 1);
    for (int i = 0; i < taps.y.count; ++i) {
        taps.rows[i] = std::clamp<std::int64_t>(taps.y.first + i, 0, height - 1);
        taps.x[i] = at.x + positions_.row_offset(taps.rows[i]);
        taps.covered = taps.covered && (positions_.is_uniform() || within(taps.x[i], first, last));
    }
    return taps;
}

/// The taps along x of each row of RowTaps.
struct RowInterpolation::ColumnTaps {
    AxisTaps of_row[most_taps];
};

RowInterpolation::ColumnTaps RowInterpolation::columns_of(const RowTaps& rows) const {
    ColumnTaps columns;
    for (int i = 0; i < rows.y.count; ++i)
        columns.of_row[i] =
            i > 0 && rows.x[i] == rows.x[i - 1] ? columns.of_row[i - 1] : axis_taps(by_, rows.x[i]);
    return columns;
}

/// Returns the runs of samples that pixels are interpolated from, the first of which is `column`
/// columns after the pixel of the taps.
Taps RowInterpolation::runs_of(Elements outer, const RowTaps& rows, const ColumnTaps& columns,
                               std::int64_t column) const {
    Taps taps;
    taps.count = rows.y.count;
    for (int i = 0; i < taps.count; ++i) {
        const AxisTaps& along = columns.of_row[i];
        const std::byte* const row = row_at(outer, rows.rows[i]);
        Taps::Row& to = taps.rows[i];
        to.weight = rows.y.weights[i];
        to.count = along.count;
        for (int tap = 0; tap < along.count; ++tap) {
            const std::int64_t x =
                std::clamp(column + along.first + tap, from_.first_column, from_.shape.width - 1);
            to.at[tap] = row + x * pixel_bytes_;
            to.weights[tap] = along.weights[tap];
        }
    }
    return taps;
}

/// Calls visit(first, end) for runs of columns of a row that the frame covers.
template <class Visit>
void RowInterpolation::for_covered(std::int64_t row, const Visit& visit) const {
    if (!positions_.is_uniform()) {
        for (std::int64_t x = 0; x < to_.width; ++x) {
            if (taps_of(positions_.at(row, x)).covered)
                visit(x, x + 1);
        }
        return;
    }
    const RowTaps taps = taps_of(positions_.at(row, 0));
    if (!taps.covered)
        return;
    double begin = 0, end = static_cast<double>(to_.width);
    for (int i = 0; i < taps.y.count; ++i) {
        const double x = taps.x[i];
        begin = std::max(begin, std::ceil(static_cast<double>(from_.first_column) - x));
        end = std::min(end, std::floor(static_cast<double>(from_.shape.width - 1) - x) + 1);
    }
    if (begin < end)
        visit(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
}

bool RowInterpolation::covers_all() const {
    for (std::int64_t row = positions_.rows().first; row < positions_.rows().last; ++row) {
        std::int64_t covered = 0;
        for_covered(row, [&](std::int64_t first, std::int64_t end) { covered += end - first; });
        if (covered < to_.width)
            return false;
    }
    return true;
}

void RowInterpolation::count() const {
    if (!to_.counts)
        return;
    for (std::int64_t row = positions_.rows().first; row < positions_.rows().last; ++row) {
        for_covered(row, [&](std::int64_t first, std::int64_t end) {
            double* const counts = to_.counts + pixel_of(0, row);
            for (std::int64_t x = first; x < end; ++x)
                counts[x] += 1;
        });
    }
}

/// Writes gaps to consecutive pixels, unless frames are summed.
void RowInterpolation::put_gaps(Elements pixel, Elements count) const {
    if (to_.adds() || count <= 0)
        return;
    std::array<std::byte, 8> gap;
    store_samples(to_.sample, &to_.gap, 1, gap.data());
    repeat(gap, pixel, count);
}

/// Writes the same sample to consecutive pixels.
void RowInterpolation::repeat(std::span<const std::byte> sample, Elements pixel,
                              Elements count) const {
    const Bytes size = size_of(to_.sample);
    std::byte* const to = to_.samples + pixel * from_.inner * size;
    for (Elements i = 0; i < count * from_.inner; ++i)
        std::memcpy(to + i * size, sample.data(), static_cast<std::size_t>(size));
}

void RowInterpolation::fill(Elements outer, Rows rows, std::span<const std::byte> sample) const {
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const Elements pixel = pixel_of(outer, row);
        put_gaps(pixel, to_.width);
        for_covered(row, [&](std::int64_t first, std::int64_t end) {
            repeat(sample, pixel + first, end - first);
        });
    }
}

/// Stores values as samples of the result, starting at sample `first`.
void RowInterpolation::store(const double* values, std::size_t count, Elements first) const {
    std::byte* const samples = to_.samples + first * size_of(to_.sample);
    store_samples(to_.sample, values, count, samples);
    if (to_.losses)
        note_losses(to_.sample, values, count, samples, *to_.losses);
}

/// Combines `count` consecutive samples starting at each tap, and stores or adds them starting at a
/// pixel.
void RowInterpolation::blend(const Taps& taps, Elements count, Elements pixel) const {
    const Bytes from_size = size_of(from_.sample), to_size = size_of(to_.sample);
    const bool is_sample = taps.count == 1 && taps.rows[0].count == 1 && taps.rows[0].weight == 1 &&
                           taps.rows[0].weights[0] == 1;
    const Elements first = pixel * from_.inner;
    if (to_.integers) {
        if (!is_sample)
            throw std::logic_error("integers are added as integers, but not interpolated");
        if (!add_integers(from_.sample, taps.rows[0].at[0], static_cast<std::size_t>(count),
                          to_.integers->values.data() + first))
            to_.integers->overflowed = true;
        return;
    }
    if (is_sample && from_.sample == to_.sample && !to_.sums) {
        std::memcpy(to_.samples + first * to_size, taps.rows[0].at[0],
                    static_cast<std::size_t>(count * from_size));
        return;
    }
    if (is_sample && !to_.sums && is_integer(from_.sample) && is_integer(to_.sample))
        return convert_integers(from_.sample, taps.rows[0].at[0], static_cast<std::size_t>(count),
                                to_.sample, to_.samples + first * to_size, to_.losses);
    Taps part = taps;
    std::array<double, strip_length> values;
    for (Elements done = 0; done < count;) {
        const auto length =
            static_cast<std::size_t>(std::min<Elements>(strip_length, count - done));
        combine_taps(from_.sample, part, length, values.data());
        if (to_.sums) {
            double* const sums = to_.sums + first + done;
            for (std::size_t i = 0; i < length; ++i)
                sums[i] += values[i];
        } else {
            store(values.data(), length, first + done);
            store_large_integers(from_.sample, part, length, to_.sample,
                                 to_.samples + (first + done) * to_size, to_.losses);
        }
        done += static_cast<Elements>(length);
        for (int row = 0; row < part.count; ++row) {
            for (int tap = 0; tap < part.rows[row].count; ++tap)
                part.rows[row].at[tap] += static_cast<Bytes>(length) * from_size;
        }
    }
}

void RowInterpolation::interpolate(Elements outer, Rows rows) const {
    const bool wide = is_integer(from_.sample) && size_of(from_.sample) == 8;
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        if (positions_.is_uniform())
            interpolate_uniform(outer, row);
        else if (from_.inner == 1 && !wide)
            interpolate_scalars(outer, row);
        else
            interpolate_pixels(outer, row);
    }
}

/// Interpolates a row whose pixels all have the same weights, so that the samples of consecutive
/// pixels form one run.
void RowInterpolation::interpolate_uniform(Elements outer, std::int64_t row) const {
    const Elements pixel = pixel_of(outer, row);
    std::int64_t begin = 0, end = 0;
    for_covered(row, [&](std::int64_t first, std::int64_t last) {
        begin = first;
        end = last;
    });
    put_gaps(pixel, begin);
    put_gaps(pixel + end, to_.width - end);
    if (begin == end)
        return;
    const RowTaps rows = taps_of(positions_.at(row, 0));
    const ColumnTaps columns = columns_of(rows);
    // Find the columns whose taps are all inside the frame.
    std::int64_t first = begin, last = end;
    for (int i = 0; i < rows.y.count; ++i) {
        const AxisTaps& taps = columns.of_row[i];
        first = std::max(first, from_.first_column - taps.first);
        last = std::min(last, from_.shape.width - taps.count + 1 - taps.first);
    }
    first = std::min(first, end);
    last = std::max(last, first);
    const auto blend_from = [&](std::int64_t column, std::int64_t count) {
        blend(runs_of(outer, rows, columns, column), count * from_.inner, pixel + column);
    };
    for (std::int64_t column = begin; column < first; ++column)
        blend_from(column, 1);
    if (first < last)
        blend_from(first, last - first);
    for (std::int64_t column = std::max(begin, last); column < end; ++column)
        blend_from(column, 1);
}

void RowInterpolation::interpolate_pixels(Elements outer, std::int64_t row) const {
    const Elements pixel = pixel_of(outer, row);
    for (std::int64_t column = 0; column < to_.width; ++column) {
        const RowTaps rows = taps_of(positions_.at(row, column));
        if (rows.covered)
            blend(runs_of(outer, rows, columns_of(rows), 0), from_.inner, pixel + column);
        else
            put_gaps(pixel + column, 1);
    }
}

/// Interpolates a row of pixels with one sample each.
void RowInterpolation::interpolate_scalars(Elements outer, std::int64_t row) const {
    std::array<double, strip_length> values;
    const Elements pixel = pixel_of(outer, row);
    for (std::int64_t first = 0; first < to_.width; first += std::ssize(values)) {
        const std::int64_t end = std::min<std::int64_t>(to_.width, first + std::ssize(values));
        const double gap = to_.sums ? 0 : to_.gap;
        visit_sample(from_.sample, [&]<class T>(std::type_identity<T>) {
            for (std::int64_t column = first; column < end; ++column) {
                const RowTaps rows = taps_of(positions_.at(row, column));
                double& value = values[static_cast<std::size_t>(column - first)];
                value = gap;
                AxisTaps along;
                for (int i = 0; rows.covered && i < rows.y.count; ++i) {
                    // Only scans with shifted rows have different positions in each row.
                    if (i == 0 || rows.x[i] != rows.x[i - 1])
                        along = axis_taps(by_, rows.x[i]);
                    const std::byte* const from = row_at(outer, rows.rows[i]);
                    double sum = 0;
                    for (int tap = 0; tap < along.count; ++tap) {
                        const std::int64_t x = std::clamp(along.first + tap, from_.first_column,
                                                          from_.shape.width - 1);
                        const double term = along.weights[tap] *
                                            value_of<T>(from + x * static_cast<Bytes>(sizeof(T)));
                        sum = tap == 0 ? term : sum + term;
                    }
                    const double term = rows.y.weights[i] * sum;
                    value = i == 0 ? term : value + term;
                }
            }
        });
        const auto count = static_cast<std::size_t>(end - first);
        if (to_.sums) {
            for (std::size_t i = 0; i < count; ++i)
                to_.sums[pixel + first + static_cast<Elements>(i)] += values[i];
        } else {
            store(values.data(), count, pixel + first);
        }
    }
}

} // namespace sextant::registration
