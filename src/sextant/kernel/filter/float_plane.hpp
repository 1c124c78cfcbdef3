// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <array>
#include <vector>

namespace sextant::kernel {

/// A whole image of floats whose rows are readable up to their width rounded up to `line_unit`, and
/// the last as far beyond, so that a vector may begin at any pixel.
struct FloatImage {
    const float* first = nullptr;
    Elements stride = 0;
    ImageShape shape;

    const float* row(Elements y) const { return first + y * stride; }
    float at(Elements x, Elements y) const { return row(y)[x]; }
};

/// An owned one, of zeros.
class FloatPlane {
  public:
    FloatPlane() = default;
    explicit FloatPlane(ImageShape shape);

    ImageShape shape() const { return shape_; }
    FloatImage image() const { return {first(), stride_, shape_}; }
    /// For what filters images of such samples.
    SampleView samples() const {
        return {first(), stride_, {0, 0, shape_.width, shape_.height}, shape_};
    }
    Plane plane() { return {reinterpret_cast<float*>(memory_.data()), stride_}; }
    float* row(Elements y) { return plane().first + y * stride_; }

  private:
    const float* first() const { return reinterpret_cast<const float*>(memory_.data()); }

    ImageShape shape_;
    Elements stride_ = 0;
    Memory memory_;
};

/// How many pixels of an image lie at even columns and rows.
inline ImageShape halved(ImageShape shape) {
    return {(shape.width + 1) / 2, (shape.height + 1) / 2};
}

/// The next level of a pyramid: an image smoothed by a Gaussian of σ = 1 pixel, seen at its even
/// columns and rows. So what lies at x of the coarse image lies at exactly 2x of the fine one,
/// whatever the sizes: no level moves the image. (The coarse image's own centre is not that of the
/// fine one; what turns about the centre turns about the fine one's, halved.) The Gaussian has the
/// weights of p3pc_kernel: a pyramid needs no better.
///
/// Input     an image of the shape that it is made for, not empty.
/// Output    halved(shape) samples: gaussian_derivative() of order 0 at even places, borders
///           replicated, within 2·10⁻⁶ of the largest magnitude.
/// Cost      a fine sample: 4 additions and multiply-adds. `apply` allocates nothing; one object a
///           thread.
/// Deterministic  the same bits on every processor.
class Halving {
  public:
    explicit Halving(ImageShape fine);

    void apply(const FloatImage& fine, Plane coarse);
    /// Rows `first` to before `last` of the same.
    void apply_rows(const FloatImage& fine, Plane coarse, Elements first, Elements last);

  private:
    static constexpr int reach = 3; ///< of the Gaussian
    static constexpr Elements margin = (reach + 1) / 2;

    void split(Elements width);

    ImageShape fine_;
    std::array<float, reach + 1> weights_;
    Memory line_, even_, odd_; // a row, smoothed downward; its even columns, its odd
    std::array<const float*, 2 * reach + 1>
        columns_; // [reach + k]: what lies k after, of even columns
};

/// The slopes of an image along x and y by central differences of fourth order,
/// (8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12, exact for polynomials of degree four.
///
/// Output    planes of the image's shape. NaN, for a slope that is not known, within two samples
///           of the border and in the padding beyond each row.
/// Requires  planes of the image's shape; std::logic_error otherwise.
/// Cost      eight reads a sample.
/// Deterministic  the same bits on every processor.
void slopes(const FloatImage& image, FloatPlane& along_x, FloatPlane& along_y);
/// Rows `first` to before `last` of the same.
void slopes_of_rows(const FloatImage& image, Elements first, Elements last, FloatPlane& along_x,
                    FloatPlane& along_y);

/// How many samples from the border slopes are not known.
inline constexpr Elements slope_reach = 2;

} // namespace sextant::kernel
