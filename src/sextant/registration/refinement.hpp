// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
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
/// Deserialises a field. Throws std::logic_error if the bytes are not a field.
StoredField field_from(std::span<const std::byte> bytes);

/// Marks frames that are unrelated to their reference as left out.
void leave_out_unrelated(std::span<FrameRegistration> frames);

/// The frames of all ranks that are not left out and their motions, on every rank.
struct Registered {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    /// Returns the motion of a frame by its number.
    const RigidMotion& motion(std::int64_t frame) const;
};

/// Gathers the frames of all ranks. Collective.
Registered gather_registered(const Communicator& communicator,
                             std::span<const FrameRegistration> own);

/// Each returns a function that maps a frame to its transform: its motion, or its displacement
/// field of a given stage, read from the ledger when needed. The first argument must outlive the
/// result.
TransformOf transforms(const Registered& registered);
TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage);

/// Reads a frame; gaps are NaN.
std::vector<float> whole_frame(FrameSource& source, std::int64_t frame);

/// Returns the mean of the registered frames; NaN where no frame covers a pixel. Collective.
std::vector<float> average_of(const SeriesContext& context, const Registered& registered,
                              const TransformOf& transform_of);

/// The frame number that denotes the average as the reference.
inline constexpr std::int64_t the_average = -1;

/// Registers this rank's frames to an image, each starting at its current motion.
///
/// Input     a whole image of the frames' shape: the average of an earlier stage.
/// Throws    UnusableFrame if frames cannot be registered to the image.
/// Not collective.
void register_to_average(const SeriesContext& context, std::span<const float> average,
                         std::span<FrameRegistration> own, std::uint32_t stage);

/// Returns the number of nodes of the frames' fields along each axis.
ImageShape nodes_of_fields(ImageShape frame);

/// Returns the initial estimate of a frame's motion. Called when needed, for one frame at a time.
using StartOf = std::function<FieldStart(const FrameRegistration& frame)>;

/// Returns a function that maps a frame to its starting estimate: its displacement field of an
/// earlier stage. `fields` must outlive the result.
StartOf starts_from(const TransformOf& fields, ImageShape shape);

/// Registers this rank's frames to an image by displacement fields. Each starts at `start_of`, if
/// set, and otherwise at its current motion. Fields are stored in the ledger, which is required,
/// under the stage and the reference's number. A frame's motion becomes the rigid motion nearest to
/// its field.
///
/// Input     a whole image of the frames' shape, and its frame number or `the_average`. The
///           reference frame itself gets the identity.
/// Memory    seven frames.
/// Not collective.
void register_by_fields(const SeriesContext& context, std::span<const float> image,
                        std::int64_t reference, std::span<FrameRegistration> own,
                        std::uint32_t stage, const StartOf& start_of = {});

} // namespace sextant::registration
