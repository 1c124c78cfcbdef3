// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/state.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

// The stages of registering a series, and the steps of SeriesRegistration that run the stages and
// compute the results.
namespace sextant::registration {

/// Registers the frames of a series with a family of motions, starting at their rigid motions. Each
/// frame is registered to the average of the others, so that the frame's own noise is not part of
/// the image it is registered to. If there are only two frames, the second is registered to the
/// first.
///
/// A common stretch is then removed from all motions, so that the reference is not stretched and
/// the result has the magnification of the reference.
///
/// Input     rigid motions of all registered frames; this rank's frames; the family, or nothing to
///           choose one automatically (choose_family()).
/// Output    the family and, if it was chosen automatically, the reason. FrameRegistration::affine
///           is set if the family is similarity or affine; `result` is the nearest rigid motion,
///           with its uncertainty. Frames whose fit does not converge keep their rigid motion. If
///           the rigid family is chosen, nothing changes.
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      two averages, and two registrations per frame without a search; half of that if the
///           rigid family is chosen. Memory per rank: seven frames.
/// Collective.
/// Deterministic  the bits do not depend on the number of threads.
FamilyChoice register_by_family(const SeriesContext& context, const Registered& registered,
                                std::int64_t reference, std::span<FrameRegistration> own,
                                std::optional<MotionFamily> family);

/// The least number of frames whose rows can be registered.
inline constexpr std::size_t least_frames_of_rows = 3;

/// The registered frames of all ranks with their row motions, and the number of columns at the left
/// edge that the flyback disturbs (row_fit.hpp).
struct RegisteredRows {
    Registered frames;
    std::int64_t flyback = 0;
};

/// Registers the rows of scanned frames (row_fit.hpp), starting at the frames' rigid motions. In
/// each pass, each frame is compared with the average of the others, which is computed with the row
/// displacements of the previous pass. After each pass, the prior of the displacements is estimated
/// from up to 64 frames.
///
/// Displacements that all frames have in common at a row of the specimen cannot be distinguished
/// from the specimen itself. Displacements are assumed to average to 0 over the frames. The
/// template's filter removes fast changes of the common displacement from row to row.
///
/// Columns that the flyback disturbs become gaps from the second pass on.
///
/// Input     rigid motions of all registered frames (at least three); this rank's frames; whether
///           frames may rotate; whether rows are registered only if they move within frames.
/// Output    FrameRegistration::rows and row_fit are set; `result` has the rigid part of the
///           motion, with its uncertainty, NCC and misfit. With `if_any`, nothing is returned or
///           changed if a pass finds that rows do not move within frames (RowPrior::is_rigid).
/// Throws    InvalidTask for fewer than three frames.
/// Cost      four averages of all frames, and five comparisons of each frame with a template.
///           Memory per rank: 12 bytes per row of every frame, and twelve frames.
/// Collective.
/// Deterministic  the bits do not depend on ranks or threads.
std::optional<RegisteredRows> register_by_rows(const SeriesContext& context,
                                               const Registered& registered,
                                               std::span<FrameRegistration> own, bool rotates,
                                               bool if_any);

/// Registers parts of a series whose frames do not overlap to one another. For each pair of
/// overlapping stations, the averages of the frames around the stations are registered. The
/// corrections of the stations are a weighted least-squares solution of all these registrations.
///
/// Output    for each frame of `registered`, the correction of its station, which is to be applied
///           before the frame's motion, with the covariance relative to the series. The same on
///           every rank.
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      reads each frame once; a registration without search per pair of stations that
///           overlap. Memory per rank: five frames, and one for each station with pending
///           registrations.
/// Collective.
/// Deterministic  the bits do not depend on ranks or threads.
std::vector<UncertainMotion> register_stations(const SeriesContext& context,
                                               const Registered& registered, std::int64_t reference,
                                               std::uint32_t stage);

/// Returns the transforms of all frames after a stage. `state` must outlive the result. Collective.
TransformOf transform_of(SeriesState& state, int stage);

/// Returns the transforms of all frames after a stage, without communication. The fields of all
/// ranks must already be known.
TransformOf known_transform_of(SeriesState& state, int stage);

/// Returns an upper bound of the disk space of a checkpoint with displacement fields: the fields of
/// all stages, including extra stages, plus a margin of two stages.
Bytes disk_of_fields(const FrameHeader& series, int stages);

// Steps of SeriesRegistration. Collective.

/// Runs the first stage: registers the frames to the reference.
void register_first(SeriesState& state);

/// True if a static pattern was subtracted but the frames are rotated, by more than half a pixel in
/// their corners: layers.hpp assumes translations, so a part of the specimen is in the pattern.
bool pattern_turns(const SeriesState& state);

/// Adds to the static pattern the mean over the frames of what their average does not show, six
/// times, with the current rigid motions.
/// Cost      twelve resamplings of each frame.
/// Deterministic  for the same number of ranks.
void refine_pattern(SeriesState& state);

/// Registers the frames to averages: the requested stages, and up to three more while frames move
/// by more than their deviations or the static pattern is refined. Frames are then flagged, as a
/// small part of the specimen is left in the pattern.
void refine_stages(SeriesState& state);

/// Fits a family of motions, if the model is neither rigid nor nonrigid.
void fit_family(SeriesState& state);

/// Returns the residual motion within the registered frames, without those in doubt unless nearly
/// all are. Collective.
SeriesMisfit series_misfit(const SeriesState& state);

/// Registers the rows of frames, if this is requested or they are recognised to jitter.
void fit_rows(SeriesState& state);

/// Converts the motions of the compared rectangle to motions of whole frames.
void relate_to_whole_frames(SeriesState& state);

/// The result of a scan of non-rigid motions over a series.
struct FieldSeries {
    std::vector<FrameRegistration> frames; ///< this rank's frames, with nearest rigid motions
    std::vector<SplineMotion> motions;     ///< motion of each frame to the reference
    std::int64_t reference = 0;
};

/// Registers every frame of a series to the reference with displacement fields. The default
/// reference is the first sound frame or, if frames overlap it too little, the frame in the middle
/// of the motion (stations.hpp). Neighbours are registered first, starting from their rigid
/// motions. A scan over the ranks then composes their fields by φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k,
/// φ_{j,k}∘φ_{i,j}), where A is the non-rigid registration that starts at the composed motion. A
/// frame therefore need not be similar to the reference, only to its neighbours, and errors do not
/// grow along the series.
///
/// Input, Requires, Throws   the same as register_series().
/// Output    positions and motions of this rank's frames. For a reference other than the first
///           sound frame, motions are composed with the inverse of the reference's motion, but not
///           registered again. To register them again, use register_by_fields() with
///           starts_from_motions().
/// Cost      one non-rigid registration for each pair of neighbours and for each application of ⊙.
///           Memory: eight frames per rank, plus memory_of_scan() in total over all ranks.
/// Collective.
/// Deterministic  under the same conditions as register_series().
FieldSeries register_series_by_fields(const SeriesContext& context, SeriesInspection inspection);

/// Returns a function that maps a frame to its start: the motion that the scan found. `series` must
/// outlive the result.
StartOf starts_from_motions(const FieldSeries& series, ImageShape shape);

/// Returns an upper bound for the memory that the motions of a series take during the scan, summed
/// over all ranks: three copies of the largest control grid per frame.
Bytes memory_of_scan(std::int64_t frames, ImageShape shape);

/// Chooses the frames that are averaged, and the area of the result images.
void choose_results(SeriesState& state);

/// Computes the average and the median of the registered frames, and their resolution.
void average_frames(SeriesState& state);

/// Computes the mean of the frames without alignment, if requested.
void average_recorded(SeriesState& state);

/// Gathers the frames of all ranks and computes the summary of the series.
void gather_results(SeriesState& state);

} // namespace sextant::registration
