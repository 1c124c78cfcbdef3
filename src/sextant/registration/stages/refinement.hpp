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

/// A field with its fit report and the time it took.
struct StoredField {
    DisplacementField field;
    SplineFitReport fit;
    Seconds seconds = 0;
};

/// Serialises a field for a ledger, in this machine's byte order.
std::vector<std::byte> bytes_of(const StoredField& stored);
/// Deserialises a field. Throws Error if there are too few bytes.
StoredField field_from(std::span<const std::byte> bytes);

/// Returns a function that maps a frame to its displacement field of a given stage, read from the
/// ledger when needed. The ledger must outlive the result.
TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage);

/// Reads a frame; gaps are NaN.
std::vector<float> whole_frame(FrameSource& source, std::int64_t frame);

/// The least fraction of the total weight that must cover a pixel of an average for matching.
inline constexpr double least_coverage = .25;

/// Returns the contribution of a frame to an average for matching, of samples from which the source
/// has subtracted `offset`.
Contribution contribution_of(const FrameContrast& contrast, double offset);

/// An average to which frames are registered.
struct MatchingAverage {
    std::vector<float> samples; ///< NaN in gaps
    std::vector<float> weight;  ///< sum of the weights of the frames that cover a pixel
    /// Sum of the weights of all frames or, in an area larger than a frame, the largest weight of a
    /// pixel, or that of 16 typical frames if this is less.
    double total = 0;
    PixelArea area; ///< in the coordinates of the reference
};

/// True if a frame contributes to an average of more than two frames. Only then is it registered
/// again, to the average of the others.
bool is_one_of_several(const Registered& registered, std::size_t index);

/// Returns the area of the average that frames are registered to: that of the reference if all
/// frames that contribute overlap it enough (stations.hpp), otherwise one that contains the window
/// (window_of()) of each of them.
PixelArea matching_area(const Registered& registered, ImageShape shape);

/// True if the average in an area takes too much memory: more than 2^27 pixels and 16 frames.
bool too_large_for_matching(const PixelArea& area, ImageShape shape);

/// Returns the average of the frames that contribute, brought to a common level and contrast and
/// weighted by their signal-to-noise ratios (FrameContrast). Otherwise the average would be
/// brighter where it is covered by brighter frames, and frames would be registered to these steps.
/// Pixels that are covered by less than a quarter of the total weight are gaps.
/// Collective.
MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           const TransformOf& transform_of);
/// The same in another area than that of the reference, of some of the frames that contribute.
MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           std::span<const std::int64_t> frames, const TransformOf& transform_of,
                           const PixelArea& area);

/// Returns the window of an average with this area to which a frame is registered: the area of the
/// reference or, if the average is larger, the window nearest to the frame within it.
PixelArea window_in(const PixelArea& area, const RigidMotion& motion, ImageShape shape);

/// Computes a window of the average of the frames other than one, which has the motion
/// `transform_of(frame)`; of all frames, if this one does not contribute.
void resample_others(const SeriesContext& context, const MatchingAverage& average,
                     const PixelArea& window, const Registered& registered,
                     const TransformOf& transform_of, std::int64_t frame, Resampler& resampler,
                     std::vector<float>& samples);

/// The frame number that denotes the average as the reference.
inline constexpr std::int64_t the_average = -1;

/// Searches the whole range of motions for a frame in doubt. Returns true if the result is neither
/// ambiguous nor unrelated; the frame then has this motion and is not in doubt any more. `average`
/// is the part of the average in a window.
bool settle(const SeriesContext& context, PairReader& reader, const Pyramid& average,
            const PixelArea& window, std::uint32_t stage, FrameRegistration& frame);

/// Registers this rank's frames to an average, each starting at its current motion. Each frame that
/// contributes to the average is registered to the average of the other frames; otherwise its own
/// noise would attract it to its current motion, and its uncertainty would not include that of the
/// reference. Two frames that alone contribute keep their motions, because the average of the
/// others would be the other frame.
///
/// A frame whose motion is in doubt is registered by a search over the whole range of motions. If
/// the result is neither ambiguous nor unrelated, the frame is not in doubt any more; otherwise it
/// is registered from its current motion.
///
/// If the average has a larger area than a frame, each frame is registered to the part of the
/// average nearest to it; motions remain relative to the reference.
///
/// Input     the average of an earlier stage, and the registrations from which it was computed.
/// Throws    UnusableFrame if frames cannot be registered to the average.
/// Cost      for each frame, two resamplings of a filtered level and a registration without search.
/// Not collective.
void register_to_average(const SeriesContext& context, MatchingAverage average,
                         const Registered& registered, std::span<FrameRegistration> own,
                         std::uint32_t stage);

/// Returns the number of nodes of the frames' fields along each axis.
ImageShape nodes_of_fields(ImageShape frame);

/// Returns the initial estimate of a frame's motion. Called when needed, for one frame at a time.
using StartOf = std::function<FieldStart(const FrameRegistration& frame)>;

/// Returns a function that maps a frame to its starting estimate: its displacement field of an
/// earlier stage. `fields` must outlive the result.
StartOf starts_from(const TransformOf& fields, ImageShape shape);

/// Registers this rank's frames to a frame by displacement fields. Each starts at `start_of`, if
/// set, and otherwise at its current motion. Fields are stored in the ledger, which is required,
/// under the stage and the reference's number. A frame's motion becomes the rigid motion nearest to
/// its field.
///
/// Input     a whole frame and its number. The reference frame itself gets the identity.
/// Memory    seven frames.
/// Not collective.
void register_by_fields(const SeriesContext& context, std::span<const float> image,
                        std::int64_t reference, std::span<FrameRegistration> own,
                        std::uint32_t stage, const StartOf& start_of = {});

/// Registers this rank's frames to an average by displacement fields, as register_to_average() does
/// by rigid motions. Each starts at its field `before`, from which the average was computed and
/// which the ledger holds for the previous stage under `reference_before`. `first_reference` is the
/// frame that the first stage registered all others to: their fields follow its noise, so its own
/// field is near 0 whatever its error. Its prior is therefore as strong as those of other frames.
///
/// Memory    nine frames.
/// Not collective.
void register_to_average_by_fields(const SeriesContext& context, const MatchingAverage& average,
                                   const Registered& registered, std::int64_t reference_before,
                                   std::int64_t first_reference, const TransformOf& before,
                                   std::span<FrameRegistration> own, std::uint32_t stage);

} // namespace sextant::registration
