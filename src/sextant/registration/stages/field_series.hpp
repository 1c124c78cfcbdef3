// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <memory>
#include <vector>

namespace sextant::registration {

/// The positions of a series' frames, found by a scan of non-rigid motions.
struct FieldSeries {
    std::vector<FrameRegistration> frames; ///< this rank's frames, with nearest rigid motions
    std::vector<SplineMotion> motions;     ///< each frame's motion to the reference
    std::int64_t reference = 0;
};

/// Registers every frame of a series to the reference by displacement fields. By default it is the
/// first sound frame or, if frames overlap that too little, the one in the middle of the motion
/// (stations.hpp). Neighbours are registered first, starting from their rigid motions. A scan over
/// the ranks then combines their fields by φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}), where
/// A is the non-rigid registration that starts at the composed motion. The frames therefore need to
/// resemble only their neighbours, not the reference, and errors do not grow along the series.
///
/// Input, Requires, Throws   as register_series().
/// Output    positions and motions of this rank's frames. For a reference other than the first
///           placed frame, motions are composed with the inverse of the reference's motion and not
///           registered again; register_by_fields() can do so, with starts_from_motions().
/// Cost      one non-rigid registration for each pair of neighbours and for each application of ⊙.
///           Memory: eight frames per rank, plus memory_of_scan() in total over all ranks.
/// Collective.
/// Deterministic  as register_series().
FieldSeries register_series_by_fields(const SeriesContext& context, SeriesInspection inspection);

/// Returns a function that maps a frame to its starting estimate: the motion that the scan found.
/// The series must outlive the result.
StartOf starts_from_motions(const FieldSeries& series, ImageShape shape);

/// Returns an upper bound for the memory that the motions of a series take during the scan, summed
/// over all ranks: three copies of the largest control grid per frame.
Bytes memory_of_scan(std::int64_t frames, ImageShape shape);

} // namespace sextant::registration
