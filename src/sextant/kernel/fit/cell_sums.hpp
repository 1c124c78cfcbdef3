// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

#include <span>

namespace sextant::kernel {

/// How many pixels a cell is wide and high.
inline constexpr Elements cell_size = 8;

/// The cells of an image; those at the right and the lower border may be cut.
inline ImageShape cells_of(ImageShape image) {
    return {(image.width + cell_size - 1) / cell_size, (image.height + cell_size - 1) / cell_size};
}

/// Plain data, as Operands: a look at how well a template T, seen through a field φ = id + u, fits
/// a reference R.
struct CellLook {
    FloatImage reference;        ///< R
    FloatImage slope_x, slope_y; ///< ∇R, NaN where not known; as slopes() gives them
    FloatImage moved;            ///< T, of R's shape, at least 2x2
    const float* u_x = nullptr;  ///< in pixels, of each corner of cells, row after row; bilinear
    const float* u_y = nullptr;  ///< within a cell
    float gain = 1, offset = 0;  ///< of the residual e = gain · T∘φ + offset − R
};

/// Of the pixels of one cell.
struct CellSums {
    float count = 0;
    float xx = 0, xy = 0, yy = 0; ///< Σ∇R∇Rᵀ, the structure tensor
    float x = 0, y = 0;           ///< Σe∇R, the score
};

/// Of the pixels of several cells.
struct FitMoments {
    double count = 0;
    double r = 0, t = 0, rr = 0, tt = 0, rt = 0; ///< ΣR, ΣT∘φ, ΣR², Σ(T∘φ)², ΣR(T∘φ)

    FitMoments& operator+=(const FitMoments& other);
};

/// The sums of each cell of a row of cells, over the pixels whose slope is known, whose place φ(x)
/// lies in T, and whose R and T∘φ are numbers.
///
/// Output    `to`, one for each cell, and the moments of all.
/// Requires  finite u, (cells_of(R).width + 1) times (height + 1) of each; `to` as long as a row.
/// Cost      a pixel: 3 reads, and 4 of T, bilinear; 11 sums.
/// Deterministic  the same bits again on the same kind of processor; within 10⁻⁵ of the sums of
///           magnitudes otherwise.
FitMoments cell_sums(const CellLook& look, Elements row_of_cells, std::span<CellSums> to);

} // namespace sextant::kernel
