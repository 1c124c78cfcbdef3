// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

#include <span>

namespace sextant::kernel {

/// The width and height, in pixels, of the square cells for which sums are computed.
inline constexpr Elements cell_size = 8;

/// The numbers of cells along both axes of an image. Cells at the right and lower border may be
/// partial.
inline ImageShape cells_of(ImageShape image) {
    return {(image.width + cell_size - 1) / cell_size, (image.height + cell_size - 1) / cell_size};
}

/// A comparison of a template T, warped by φ = id + u with the displacement field u, with a
/// reference R. Plain data, like Operands (pixel_fold.hpp).
struct CellComparison {
    FloatImage reference;        ///< R
    FloatImage slope_x, slope_y; ///< ∇R, NaN where unknown; see slopes()
    FloatImage moved;            ///< T, of R's shape, at least 2x2
    /// Displacements in pixels at the corners of cells, row by row; bilinear interpolation is used
    /// within a cell.
    const float* u_x = nullptr;
    const float* u_y = nullptr;
    float gain = 1, offset = 0; ///< in the residual e = gain · T∘φ + offset − R
};

/// Sums over the pixels of one cell.
struct CellSums {
    float count = 0;
    float xx = 0, xy = 0, yy = 0; ///< Σ∇R∇Rᵀ, the structure tensor
    float x = 0, y = 0;           ///< Σe∇R, the score
};

/// Sums over the pixels of several cells.
struct FitMoments {
    double count = 0;
    double r = 0, t = 0, rr = 0, tt = 0, rt = 0; ///< ΣR, ΣT∘φ, ΣR², Σ(T∘φ)², ΣR(T∘φ)

    FitMoments& operator+=(const FitMoments& other);
};

/// Computes the sums of each cell in a row of cells. They include the pixels x whose gradient is
/// known, whose position φ(x) is inside T, and where neither R nor T∘φ is NaN.
///
/// Output    `to`, one entry per cell; returns the moments of all cells of the row.
/// Requires  finite u, (cells_of(R).width + 1) times (height + 1) values of each component; `to`
///           with one entry per cell of the row.
/// Cost      per pixel: 3 reads, 4 reads of T (bilinear), and 11 sums.
/// Deterministic  the same bits on processors of the same kind. On different kinds, sums differ by
///                at most 10⁻⁵ of the sums of the terms' magnitudes.
FitMoments cell_sums(const CellComparison& comparison, Elements row_of_cells,
                     std::span<CellSums> to);

} // namespace sextant::kernel
