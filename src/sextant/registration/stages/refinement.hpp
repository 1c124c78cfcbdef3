// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/state.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sextant::registration {

/// A displacement field with its fit report and computing time.
struct StoredField {
    DisplacementField field;
    SplineFitReport fit;
    Seconds seconds = 0;
};

/// Serialises a field for a ledger, in this machine's byte order.
std::vector<std::byte> bytes_of(const StoredField& stored);
/// Deserialises a field. Throws Error if there are too few bytes.
StoredField field_from(std::span<const std::byte> bytes);

/// Returns a function that maps a frame to its displacement field of a stage. Fields are read from
/// the ledger when needed. The ledger must outlive the result.
TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage);

/// Reads a frame; gaps are NaN.
std::vector<float> whole_frame(FrameSource& source, std::int64_t frame);

/// A pixel of an average for matching is a gap if frames with less than this fraction of the total
/// weight cover it.
inline constexpr double least_coverage = .25;

/// Returns the contribution of a frame to an average for matching. `offset`: the offset that the
/// source has subtracted from samples.
Contribution contribution_of(const FrameContrast& contrast, double offset);

/// An average that frames are registered to.
struct MatchingAverage {
    std::vector<float> samples; ///< NaN in gaps
    std::vector<float> weight;  ///< sum of the weights of the frames that cover a pixel
    /// Sum of the weights of all frames. In an area larger than a frame: the largest weight of a
    /// pixel, but at most the weight of 16 typical frames.
    double total = 0;
    PixelArea area; ///< area of the average, in the coordinates of the reference
};

/// True if a frame contributes to an average of more than two frames. Only such frames are
/// registered again to the average of the others.
bool is_one_of_several(const Registered& registered, std::size_t index);

/// Returns the RMS standard deviation of positions over a frame.
double deviation_of_positions(const RigidResult& result, ImageShape shape);

/// Returns the area of the average that frames are registered to: the area of the reference if all
/// contributing frames overlap it enough (stations.hpp); otherwise an area that contains the
/// windows (window_of()) of all contributing frames.
PixelArea matching_area(const Registered& registered, ImageShape shape);

/// True if the average in an area takes too much memory: more than 2^27 pixels and 16 frames.
bool too_large_for_matching(const PixelArea& area, ImageShape shape);

/// Returns the average of the contributing frames, normalised to a common level and contrast and
/// weighted by their signal-to-noise ratios (FrameContrast). Without normalisation, the average
/// would have brightness steps at the edges of brighter frames, and frames would be registered to
/// these steps. Pixels that are covered by less than a quarter of the total weight are gaps.
/// Collective.
MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           const TransformOf& transform_of);
/// The same for some of the contributing frames, in any area.
MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           std::span<const std::int64_t> frames, const TransformOf& transform_of,
                           const PixelArea& area);

/// Returns the window of an average that a frame is registered to. If the average covers the area
/// of the reference, this is the whole area; if the average is larger, it is the window within
/// `area` that is nearest to the frame.
PixelArea window_in(const PixelArea& area, const RigidMotion& motion, ImageShape shape);

/// Computes a window of the average of all contributing frames but `frame`, whose motion is
/// `transform_of(frame)`. If `frame` does not contribute, the window is that of the whole average.
void resample_others(const SeriesContext& context, const MatchingAverage& average,
                     const PixelArea& window, const Registered& registered,
                     const TransformOf& transform_of, std::int64_t frame, Resampler& resampler,
                     std::vector<float>& samples);

/// The frame number that denotes the average as the reference.
inline constexpr std::int64_t the_average = -1;

/// Searches the whole range of motions for a doubtful frame. If the result is neither ambiguous nor
/// unrelated, sets the frame's motion, clears the doubt and returns true. `average` is the part of
/// the average in `window`.
bool settle(const SeriesContext& context, PairReader& reader, const Pyramid& average,
            const PixelArea& window, std::uint32_t stage, FrameRegistration& frame);

/// Registers this rank's frames to an average, each starting at its current motion. A frame that
/// contributes to the average is registered to the average of the other frames. Otherwise the
/// frame's own noise in the average would pull it towards its current motion, and the uncertainty
/// would not include that of the reference. If only two frames contribute, they keep their motions,
/// because the average of the others would be just the other frame.
///
/// A doubtful frame is registered by a search over the whole range of motions. If the result is
/// neither ambiguous nor unrelated, the frame is no longer in doubt; otherwise it is registered
/// starting at its current motion.
///
/// If the average is larger than a frame, each frame is registered to the nearest window of the
/// average. Motions remain relative to the reference.
///
/// Input     the average of an earlier stage; the registrations that it was computed from.
/// Throws    UnusableFrame if frames cannot be registered to the average.
/// Cost      for each frame, two resamplings of a filtered level and a registration without search.
/// Not collective.
void register_to_average(const SeriesContext& context, MatchingAverage average,
                         const Registered& registered, std::span<FrameRegistration> own,
                         std::uint32_t stage);

/// A registered frame, its pyramid, and the average of the other frames in a window.
struct FrameAndOthers {
    FrameRegistration& frame;
    const Pyramid &others, &pyramid;
    const PixelArea& window;
    Team* team; ///< the rank's threads
};

/// Calls a function for each of this rank's registered frames. If a frame does not contribute to
/// the average, the others are all frames of the average. Only the two finest levels of `others`
/// are valid.
/// Not collective.
void for_each_with_others(const SeriesContext& context, MatchingAverage average,
                          const Registered& registered, std::span<FrameRegistration> own,
                          const std::function<void(const FrameAndOthers& one)>& body);

/// Returns the number of nodes of a frame's displacement field along each axis.
ImageShape nodes_of_fields(ImageShape frame);

/// Returns the start of a frame's fit. Called when needed, for one frame at a time.
using StartOf = std::function<FieldStart(const FrameRegistration& frame)>;

/// Returns a function that maps a frame to its start: its displacement field of an earlier stage.
/// `fields` must outlive the result.
StartOf starts_from(const TransformOf& fields, ImageShape shape);

/// Registers this rank's frames to an image with displacement fields. Each frame starts at
/// `start_of`, if set; otherwise at its current motion. Fields are stored in the ledger, which is
/// required, under the stage and the reference's number. A frame's motion becomes the rigid motion
/// nearest to its field.
///
/// Input     the image of the reference frame, and its number. The reference frame itself gets the
///           identity.
/// Memory    seven frames.
/// Not collective.
void register_by_fields(const SeriesContext& context, std::span<const float> image,
                        std::int64_t reference, std::span<FrameRegistration> own,
                        std::uint32_t stage, const StartOf& start_of = {});

/// Registers this rank's frames to an average with displacement fields, as register_to_average()
/// does with rigid motions. Each frame starts at its field `before`, which the average was computed
/// from; the ledger stores these fields for the previous stage under `reference_before`.
/// `first_reference` is the reference of the first stage. The fields of the other frames follow the
/// noise of this frame, so its own field is near 0 whatever its error is, and its prior strength
/// cannot be estimated. It gets the median strength of the other frames.
///
/// Memory    nine frames.
/// Not collective.
void register_to_average_by_fields(const SeriesContext& context, const MatchingAverage& average,
                                   const Registered& registered, std::int64_t reference_before,
                                   std::int64_t first_reference, const TransformOf& before,
                                   std::span<FrameRegistration> own, std::uint32_t stage);

} // namespace sextant::registration
