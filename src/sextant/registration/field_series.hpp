// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/refinement.hpp"

#include <memory>
#include <vector>

namespace sextant::registration {

/// How frames of a series lie by a scan of non-rigid motions.
struct FieldSeries {
    std::vector<FramePlace> mine;      ///< with the rigid motions nearest to theirs
    std::vector<SplineMotion> motions; ///< of each of these, to the reference
};

/// Registers every frame of a series to its first, or to another one, by fields: neighbours from
/// how they lie rigidly, then φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}) in a scan over the
/// ranks, A the non-rigid registration from the composed motion. So the frames need not resemble
/// the reference in any rigid way, only their neighbours, and errors do not grow along the series.
///
/// Input, Requires, Throws   as register_series().
/// Output    places and motions of this rank's frames. A reference other than the first placed is
///           reached by composing with the inverse of its motion, and nothing is registered again:
///           register_by_fields() does, from these (starts_from_motions).
/// Cost      a non-rigid registration for each pair of neighbours and for each application.
///           Memory: eight frames a rank, and memory_of_scan() in all.
/// Collective.
/// Deterministic  as register_series().
FieldSeries register_series_by_fields(const Communicator& communicator, FrameSource& source,
                                      SeriesLook look, const SeriesOptions& options,
                                      const NonrigidOptions& nonrigid,
                                      const SeriesHooks& hooks = {});

/// From what the scan found. The series must stay.
StartOf starts_from_motions(const FieldSeries& series, ImageShape shape);

/// What the motions of so many frames take at most while they are scanned, on all ranks together:
/// three copies of their control grids, whatever the frames are like.
Bytes memory_of_scan(std::int64_t frames, ImageShape shape);

} // namespace sextant::registration
