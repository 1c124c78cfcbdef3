// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/level.hpp"

#include <cstddef>
#include <span>

namespace sextant::registration {

/// Sums over pairs of tiles from which the covariance of their displacements follows.
struct TileCovariance {
    /// Σ s_i s_j, Σ h_i h_j and Σ (s_i s_j)² of the tiles' scores s and their derivatives h.
    float products = 0, slopes = 0, squares = 0;

    TileCovariance& operator+=(const TileCovariance& other);
    /// The covariance, pixels².
    double value() const;
    /// The covariance in units of the standard deviation that noise causes.
    double deviations() const;
    /// The standard deviation of the covariance that noise causes.
    double noise() const;
};

/// Evidence that parts of a frame have moved relative to one another, beyond the motion found. The
/// noise of different tiles is independent, so the products of the displacements that their scores
/// imply have a mean of 0, however strong the noise is; displacements that tiles have in common add
/// to it. Adjacent tiles are not compared, because the filter correlates their noise.
struct Misfit {
    TileCovariance smooth; ///< of tiles two apart along an axis
    TileCovariance rows;   ///< of displacements to the right in tiles of the same rows
    TileCovariance down;   ///< of displacements to the right in tiles two apart in the same column

    Misfit& operator+=(const Misfit& other);
    /// True if the displacements depend on the row only, and change from row to row.
    bool is_of_rows() const;
    /// The RMS displacement of parts of the frame, pixels; of the means of the rows of a tile if
    /// is_of_rows().
    double pixels() const;
    /// The evidence for it, in standard deviations of what noise causes.
    double deviations() const;
};

/// The motions that remain within the frames of a series.
struct SeriesMisfit {
    bool significant = false; ///< noise does not explain them, and they matter
    bool of_rows = false;     ///< Misfit::is_of_rows()
    double pixels = 0, deviations = 0;
};

/// Adds the evidence of frames. Motions are significant if they exceed noise by five standard
/// deviations, to which at least three frames contribute, or all if there are fewer, and are at
/// least .03 pixels (RMS).
///
/// Input     the misfits of frames; `shared`: the fraction of a frame's noise that all frames have
///           in common, because they were registered to the same frame.
SeriesMisfit misfit_of_series(std::span<const Misfit> frames, double shared);

/// Compares the tiles of a registration.
///
/// Input     the tiles' sums with slopes at the motion found, weighted by weigh_tile(), row by row;
///           their similarity, and the number of parameters that were fitted.
Misfit misfit_of(std::span<const kernel::RigidSums> tiles, ImageShape count,
                 const Similarity& alike, std::size_t parameters);

} // namespace sextant::registration
