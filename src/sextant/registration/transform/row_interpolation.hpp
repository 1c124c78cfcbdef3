// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/transform/row_positions.hpp"
#include "sextant/registration/transform/sample_strips.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Interpolation of rows of pixels, where each pixel has a run of samples, such as a spectrum.
namespace sextant::registration {

/// Rows of a frame in memory, or of several frames (channels) that move together; the blocks of
/// `rows` of all frames are consecutive. Each pixel has `inner` samples.
struct InterpolationSource {
    const std::byte* samples;
    Sample sample;
    ImageShape shape; ///< shape of the whole frame
    Rows rows;
    std::int64_t first_column; ///< columns before this one are gaps
    Elements inner;
};

/// Integer sums; see add_integers().
struct IntegerSums {
    std::vector<std::uint64_t> values;
    std::atomic<bool> overflowed = false;
};

/// The destination of a band of rows, for each of the frames that move together: samples, or sums
/// that results are added to. Pixels outside the frame are set to the gap, or add nothing to sums.
struct Interpolated {
    std::int64_t width;
    double gap;
    Sample sample;
    std::byte* samples;
    double* sums;
    IntegerSums* integers; ///< used instead of `sums` for integers that are shifted by whole pixels
    double* counts;        ///< null, or one per pixel of the band
    Losses* losses;        ///< null if storing values as samples loses nothing

    bool adds() const { return sums || integers; }
};

/// Returns the rows of a frame that pixels at these positions are interpolated from; may be empty.
Rows rows_for(const RowPositions& positions, AlignBy by, std::int64_t height);

/// Interpolates rows. Several threads may process different rows concurrently.
class RowInterpolation {
  public:
    /// `band`: the rows of the result that `to` holds. The positions must outlive this object.
    RowInterpolation(AlignBy by, const RowPositions& positions, const InterpolationSource& from,
                     const Interpolated& to, Rows band)
        : by_(by),
          positions_(positions),
          from_(from),
          to_(to),
          band_(band),
          pixel_bytes_(from.inner * size_of(from.sample)) {}

    void set_source(const std::byte* samples) { from_.samples = samples; }

    /// Interpolates rows of one of the frames that move together.
    void interpolate(Elements outer, Rows rows) const;
    /// The same for a frame whose samples all equal `sample`; the samples are not read.
    void fill(Elements outer, Rows rows, std::span<const std::byte> sample) const;
    /// Counts the pixels that the frame covers.
    void count() const;
    /// True if the frame covers all pixels of all rows.
    bool covers_all() const;

  private:
    struct RowTaps;
    struct ColumnTaps;
    void interpolate_uniform(Elements outer, std::int64_t row) const;
    void interpolate_pixels(Elements outer, std::int64_t row) const;
    void interpolate_scalars(Elements outer, std::int64_t row) const;
    RowTaps taps_of(Point at) const;
    ColumnTaps columns_of(const RowTaps& rows) const;
    /// Returns the first sample of a row of one of the frames that move together.
    const std::byte* row_at(Elements outer, std::int64_t row) const {
        return from_.samples + (outer * from_.rows.count() + row - from_.rows.first) *
                                   from_.shape.width * pixel_bytes_;
    }
    Taps runs_of(Elements outer, const RowTaps& rows, const ColumnTaps& columns,
                 std::int64_t column) const;
    template <class Visit>
    void for_covered(std::int64_t row, const Visit& visit) const;
    void blend(const Taps& taps, Elements count, Elements pixel) const;
    void store(const double* values, std::size_t count, Elements first) const;
    void put_gaps(Elements pixel, Elements count) const;
    void repeat(std::span<const std::byte> sample, Elements pixel, Elements count) const;
    Elements pixel_of(Elements outer, std::int64_t row) const {
        return (outer * band_.count() + row - band_.first) * to_.width;
    }

    AlignBy by_;
    const RowPositions& positions_;
    InterpolationSource from_;
    Interpolated to_;
    Rows band_;
    Bytes pixel_bytes_; ///< of the source
};

} // namespace sextant::registration
