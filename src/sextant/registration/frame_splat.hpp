// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/row_places.hpp"

#include <span>

namespace sextant::registration {

/// Distributes the pixels of a frame to the pixels of a band of rows of the result that they
/// overlap: a pixel keeps its size and orientation, so that its four weights are those of bilinear
/// interpolation and add up to 1. Safe to use by several threads for different rows of the result.
class FrameSplat {
  public:
    /// `places` are those of all rows of the frame; columns before `first_column` are left out.
    FrameSplat(const ReversePlaces& places, ImageShape result, ImageShape frame,
               std::int64_t first_column, Rows band);

    /// True if pixels of a row of the frame fall into the band. Pixels above the result belong to
    /// the first band, and those below it to the last one.
    bool reaches(std::int64_t row) const;

    /// Adds rows of a frame, of `inner` samples per pixel, to rows of the result. Pixels are added
    /// in their order, whatever the division into rows. Returns the sum of the samples that fall
    /// outside the result, or are left out, of the pixels that belong to these rows of the result.
    double add(Sample sample, const std::byte* from, Rows rows, Elements inner, Rows to,
               double* sums) const;
    /// Adds the weights of all pixels of the frame that fall into the band.
    void count(std::span<double> counts) const;

  private:
    /// Where a pixel falls: the first of two rows and of two columns, and the weights of the
    /// second.
    struct Fall {
        std::int64_t row, column;
        double v, u;
    };
    Fall fall_of(std::int64_t row, std::int64_t column) const;
    template <class Add>
    void distribute(std::int64_t row, Rows to, const Add& add) const;
    template <class Lose>
    void lose(std::int64_t row, Rows to, const Lose& lose) const;

    const ReversePlaces& places_;
    ImageShape result_, frame_;
    std::int64_t first_column_;
    Rows band_;
};

} // namespace sextant::registration
