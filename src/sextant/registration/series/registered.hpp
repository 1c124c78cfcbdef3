// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/registration/series/records.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sextant::registration {

/// Marks frames that are unrelated to their reference as left out.
void leave_out_unrelated(std::span<FrameRegistration> frames);

/// True if the motion of a frame is in doubt: registrations to the frames around it disagree or are
/// ambiguous, or it resembles its reference no more than noise.
bool in_doubt(const FrameRegistration& frame);

/// The frames of all ranks that are not left out, on every rank.
struct Registered {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    std::vector<FrameContrast> contrasts;
    /// 1 for frames that contribute to averages used for matching: those whose motion is not in
    /// doubt, or all if fewer than two are left.
    std::vector<std::uint8_t> contributes;
    bool all_in_doubt = false; ///< fewer than two frames were not in doubt

    /// Returns the index of a frame by its number.
    std::size_t index(std::int64_t frame) const;
    const RigidMotion& motion(std::int64_t frame) const { return motions[index(frame)]; }
    /// Returns the frames that contribute, in order.
    std::vector<std::int64_t> contributing() const;

    std::vector<AffineMotion> affine = {}; ///< the motions of the frames; empty if all are rigid
    std::vector<std::shared_ptr<const RowMotion>> rows = {}; ///< the same, of scanned rows
};

/// Gathers the frames of all ranks. Collective.
Registered gather_registered(const Communicator& communicator,
                             std::span<const FrameRegistration> own);

/// Returns a function that maps a frame to its motion. `registered` must outlive the result.
TransformOf transforms(const Registered& registered);

} // namespace sextant::registration
