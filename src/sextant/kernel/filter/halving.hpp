// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

#include <array>
#include <vector>

namespace sextant::kernel {

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

} // namespace sextant::kernel
