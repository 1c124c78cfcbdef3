// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/series/records.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant::command {

/// The reason, suggested by its samples, why a frame resembles no other frame.
struct FrameEvidence {
    std::int64_t frame = -1; ///< the examined frame; -1: no frame was examined
    bool noise = false;      ///< true if the frame shows hardly more than white noise
    /// Another frame that the frame resembles after a rotation beyond the search range, and this
    /// rotation in degrees.
    struct Rotated {
        std::int64_t other = 0;
        double degrees = 0;
    };
    std::optional<Rotated> rotated = {};
};

/// Returns up to three frames that are left out because they resemble no other frame or, if there
/// are none, whose motion is in doubt.
std::vector<std::int64_t> frames_to_examine(std::span<const FrameRegistration> frames);

/// Examines these frames. Returns the evidence for the first rotated frame, or else for the first
/// frame.
///
/// Input     the series as recorded, its frames after registration, and the options of the run.
/// Cost      at most three pairs, registered at any angle.
FrameEvidence evidence_of(FrameSource& series, std::span<const FrameRegistration> frames,
                          const RegistrationOptions& options);

} // namespace sextant::command
