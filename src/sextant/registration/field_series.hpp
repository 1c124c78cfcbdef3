// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/refinement.hpp"

#include <memory>
#include <vector>

namespace sextant::registration {

/// The positions of a series' frames, found by a scan of non-rigid motions.
struct FieldSeries {
    std::vector<FrameRegistration> frames; ///< this rank's, with the nearest rigid motions
    std::vector<SplineMotion> motions;     ///< of each of these frames, to the reference
};

/// Registers every frame of a series to its first or another one by displacement fields: neighbours
/// from their rigid motions, then φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}) in a scan over
/// the ranks, where A is the non-rigid registration that starts at the composed motion. So the
/// frames need to resemble only their neighbours, not the reference, and errors do not grow along
/// the series.
///
/// Input, Requires, Throws   as register_series().
/// Output    positions and motions of this rank's frames. For a reference other than the first
///           placed frame, motions are composed with the inverse of its motion and not registered
///           again; register_by_fields() can do that, starting from these (starts_from_motions).
/// Cost      one non-rigid registration for each pair of neighbours and for each application.
///           Memory: eight frames per rank, and memory_of_scan() over all ranks.
/// Collective.
/// Deterministic  as register_series().
FieldSeries register_series_by_fields(const SeriesContext& context, SeriesInspection inspection);

/// Starts from the motions that the scan found. The series must outlive the result.
StartOf starts_from_motions(const FieldSeries& series, ImageShape shape);

/// Returns the most memory that the motions of a series take during the scan, over all ranks: three
/// copies of their control grids, for any content of the frames.
Bytes memory_of_scan(std::int64_t frames, ImageShape shape);

} // namespace sextant::registration
