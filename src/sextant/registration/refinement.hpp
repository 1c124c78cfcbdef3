// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/combined.hpp"
#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/registration/nonrigid.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant::registration {

/// A field as it was found, with what its fit says of itself and how long it took.
struct StoredField {
    DisplacementField field;
    SplineFitReport fit;
    Seconds seconds = 0;
};

/// As a ledger keeps it: for this kind of machine, and this run.
std::vector<std::byte> bytes_of(const StoredField& stored);
/// Throws std::logic_error for bytes that are of no field.
StoredField field_from(std::span<const std::byte> bytes);

/// What follows once every frame of a series has a place (series.hpp): registration to the average,
/// which is less noisy than any frame, and by fields. A stage is one such turn; the first is that
/// of the series itself.
struct StageOptions {
    RigidOptions rigid;
    double prefilter = usual_prefilter;
    NonrigidOptions nonrigid;
    Bytes memory = Bytes{64} << 20; ///< of combine()
    int threads = 1;                ///< of each rank, which share the rows of a frame
};

/// Leaves out frames that are unrelated to what they were registered to.
void leave_out_strangers(std::span<FramePlace> mine);

/// The frames of all ranks that are not left out, and where they lie; on every rank.
struct Registered {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    /// What lies behind a frame's number.
    const RigidMotion& motion(std::int64_t frame) const;
};

/// Collective.
Registered everyones(const Communicator& communicator, std::span<const FramePlace> mine);

/// What shows the frames where they lie: their motions, or the fields of a stage, which are looked
/// up in the ledger when they are asked for. Both must stay.
TransformOf transforms(const Registered& registered);
TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage);

/// A frame, NaN where it has gaps.
std::vector<float> whole_frame(FrameSource& source, std::int64_t frame);

/// The mean of the frames where they lie: an image to register to. NaN where none shows anything.
/// Collective.
std::vector<float> average_of(const Communicator& communicator, FrameSource& source,
                              const Registered& registered, const TransformOf& transform_of,
                              const StageOptions& options);

/// In place of the number of a frame that is the reference.
inline constexpr std::int64_t the_average = -1;

/// Registers this rank's frames to an image, each from the place it has.
///
/// Input     a whole image of the frames' shape, the average of an earlier stage.
/// Requires  an image that can be registered to; throws UnusableFrame.
/// Not collective.
void register_to_average(FrameSource& source, std::span<const float> average,
                         std::span<FramePlace> mine, std::uint32_t stage,
                         const StageOptions& options, const SeriesHooks& hooks);

/// How many nodes the fields of frames have.
ImageShape nodes_of_fields(ImageShape frame);

/// Where the registration of a frame begins. Asked for when it is needed, of one after another.
using StartOf = std::function<FieldStart(const FramePlace& place)>;

/// From where the fields of an earlier stage show the frames. `fields` must stay.
StartOf starts_from(const TransformOf& fields, ImageShape shape);

/// Registers this rank's frames to an image by fields, each from its start or else from the motion
/// it has. Fields go to the ledger, which must be there, under the stage and the number of the
/// reference. The motion of a frame becomes the rigid one nearest to its field.
///
/// Input     a whole image of the frames' shape, and which frame it is, or that it is
///           `the_average`. A frame does not move against itself.
/// Memory    seven frames.
/// Not collective.
void register_by_fields(FrameSource& source, std::span<const float> image, std::int64_t reference,
                        std::span<FramePlace> mine, std::uint32_t stage,
                        const StageOptions& options, const SeriesHooks& hooks,
                        const StartOf& start_of = {});

} // namespace sextant::registration
