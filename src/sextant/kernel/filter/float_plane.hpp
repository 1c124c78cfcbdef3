// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <array>
#include <vector>

namespace sextant::kernel {

/// A whole image of floats. Rows are readable up to their width rounded up to `line_unit`, and the
/// last row for another `line_unit` samples, so that a vector may begin at any pixel.
struct FloatImage {
    const float* first = nullptr;
    Elements stride = 0;
    ImageShape shape;

    const float* row(Elements y) const { return first + y * stride; }
    float at(Elements x, Elements y) const { return row(y)[x]; }
};

/// A FloatImage that owns its samples, initially 0.
class FloatPlane {
  public:
    FloatPlane() = default;
    explicit FloatPlane(ImageShape shape);

    ImageShape shape() const { return shape_; }
    FloatImage image() const { return {first(), stride_, shape_}; }
    /// A view for functions that filter images.
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

/// The shape of an image's even columns and rows.
inline ImageShape halved(ImageShape shape) {
    return {(shape.width + 1) / 2, (shape.height + 1) / 2};
}

/// Computes the next level of a pyramid: an image smoothed by a Gaussian of σ = 1 pixel and sampled
/// at even columns and rows. Position x of the coarse image is therefore exactly position 2x of the
/// fine image, for all sizes: no level shifts the image. (The centres of the two images differ;
/// rotations use the fine image's centre, halved.) The Gaussian has the weights of p3pc_kernel,
/// which are accurate enough for a pyramid.
///
/// Input     a non-empty image of the shape passed to the constructor.
/// Output    halved(shape) samples: gaussian_derivative() of order 0 at even positions, with
///           replicated borders; errors are at most 2·10⁻⁶ of the largest magnitude.
/// Cost      per fine sample: 4 additions and multiply-adds. `apply` does not allocate; use one
///           object per thread.
/// Deterministic  the same bits on every processor.
class Halving {
  public:
    explicit Halving(ImageShape fine);

    void apply(const FloatImage& fine, Plane coarse);
    /// Computes rows [first, last) of the coarse image.
    void apply_rows(const FloatImage& fine, Plane coarse, Elements first, Elements last);

  private:
    static constexpr int reach = 3; ///< radius of the Gaussian in samples
    static constexpr Elements margin = (reach + 1) / 2;

    void split(Elements width);

    ImageShape fine_;
    std::array<float, reach + 1> weights_;
    Memory line_, even_, odd_; // a row smoothed vertically; its even and odd columns
    std::array<const float*, 2 * reach + 1> columns_; // [reach + k][x]: the sample at column 2x + k
};

/// The gradient of an image by central differences of fourth order, (8 (f₁ − f₋₁) − (f₂ − f₋₂)) /
/// 12, exact for polynomials of degree four.
///
/// Output    planes of the image's shape. NaN (unknown) within two samples of the border and in the
///           padding after each row.
/// Requires  planes of the image's shape (std::logic_error).
/// Cost      eight reads per sample.
/// Deterministic  the same bits on every processor.
void slopes(const FloatImage& image, FloatPlane& along_x, FloatPlane& along_y);
/// Computes rows [first, last) of slopes().
void slopes_of_rows(const FloatImage& image, Elements first, Elements last, FloatPlane& along_x,
                    FloatPlane& along_y);

/// The width of the border, in samples, where the gradient is unknown.
inline constexpr Elements slope_reach = 2;

} // namespace sextant::kernel
