// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstdint>
#include <span>
#include <vector>

// The positions that a motion maps the pixels of some rows to.
namespace sextant::registration {

/// The method of resampling.
enum class AlignBy {
    bilinear, ///< interpolation between 2 x 2 pixels; never overshoots
    cubic,    ///< Keys' cubic convolution (a = -1/2), 4 x 4 pixels
    lanczos,  ///< Lanczos' kernel of 6 x 6 pixels, weights normalised
    shift,    ///< the nearest shift by whole pixels: samples keep their bits
    splat     ///< each pixel is distributed among the pixels that it overlaps: sums are preserved
};

/// A position for each pixel of some rows.
class PixelPositions {
  public:
    Rows rows() const { return rows_; }
    /// True if all pixels of a row are shifted by the same vector. Only one position per row is
    /// then stored: that of the pixel in column 0.
    bool is_uniform() const { return uniform_; }
    /// Returns the position of a pixel. `column` must be 0 if is_uniform().
    const Point& at(std::int64_t row, std::int64_t column) const {
        return positions_[static_cast<std::size_t>((row - rows_.first) * columns_ + column)];
    }

  protected:
    PixelPositions(const Transform& transform, std::int64_t width, Rows rows);

    Rows rows_;
    bool uniform_;
    std::int64_t columns_; ///< number of positions per row
    std::vector<Point> positions_;
};

/// For pixels x in some rows of the result, the positions φ(x) in a frame.
///
/// For a RowMotion, the x coordinate does not include the row displacements, because each of the
/// rows that a sample is interpolated from is displaced by its own offset.
class RowPositions : public PixelPositions {
  public:
    /// `rows`: rows of the area, counted from its first row.
    RowPositions(const Transform& transform, const PixelArea& area, ImageShape shape, Rows rows);

    /// Returns the displacement of a row of the frame to the right.
    double row_offset(std::int64_t row) const {
        return motion_ ? static_cast<double>(motion_->dx[static_cast<std::size_t>(row)]) : 0;
    }
    bool has_row_offsets() const { return motion_ != nullptr; }
    /// The smallest and the largest y coordinate of all positions.
    double lowest() const { return lowest_; }
    double highest() const { return highest_; }

  private:
    const RowMotion* motion_; ///< part of the transform, which must outlive this object
    double lowest_, highest_;
};

/// For pixels p in some rows of a frame, the positions φ⁻¹(p) in the result, in pixels of the area.
class ReversePositions : public PixelPositions {
  public:
    ReversePositions(const Transform& transform, const PixelArea& area, ImageShape shape,
                     Rows rows);

    /// The smallest and the largest y coordinate of a row.
    double lowest(std::int64_t row) const {
        return lowest_[static_cast<std::size_t>(row - rows_.first)];
    }
    double highest(std::int64_t row) const {
        return highest_[static_cast<std::size_t>(row - rows_.first)];
    }

  private:
    std::vector<double> lowest_, highest_;
};

/// True if a motion shifts rows without rotating or distorting them.
bool shifts_rows(const Transform& transform);

/// Returns the whole-pixel shift that is nearest to a motion at the centre of a frame.
RigidMotion whole_shift(const Transform& transform, ImageShape shape);

/// Throws InvalidTask unless the transform is valid for frames of this shape.
void check_transform(const Transform& transform, ImageShape shape);

/// Distributes the pixels of a frame among the pixels that they overlap in a band of rows of the
/// result. A pixel keeps its size and orientation, so its four weights are those of bilinear
/// interpolation and add up to 1. Several threads may process different rows of the result
/// concurrently.
class FrameSplat {
  public:
    /// `positions`: positions of all rows of the frame. Columns before `first_column` are skipped.
    FrameSplat(const ReversePositions& positions, ImageShape result, ImageShape frame,
               std::int64_t first_column, Rows band);

    /// True if pixels of a row of the frame fall into the band. Pixels above the result belong to
    /// the first band, pixels below the result to the last band.
    bool reaches(std::int64_t row) const;

    /// Adds rows of a frame, of `inner` samples per pixel, to rows of the result. Pixels are added
    /// in an order that does not depend on the division into rows. Returns the sum of the samples
    /// that are skipped or fall outside the result, over the pixels that belong to these rows.
    double add(Sample sample, const std::byte* from, Rows rows, Elements inner, Rows to,
               double* sums) const;
    /// Adds the weights of all pixels of the frame that fall into the band.
    void count(std::span<double> counts) const;

  private:
    /// The 2 x 2 pixels of the result that a pixel overlaps: the first row and column, and the
    /// weights of the second row and column.
    struct Fall {
        std::int64_t row, column;
        double v, u;
    };
    Fall fall_of(std::int64_t row, std::int64_t column) const;
    template <class Add>
    void distribute(std::int64_t row, Rows to, const Add& add) const;
    template <class Lose>
    void lose(std::int64_t row, Rows to, const Lose& lose) const;

    const ReversePositions& positions_;
    ImageShape result_, frame_;
    std::int64_t first_column_;
    Rows band_;
};

} // namespace sextant::registration
