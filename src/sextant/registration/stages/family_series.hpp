// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace sextant::registration {

/// Registers the frames of a series by a family of motions, starting at their rigid motions. Each
/// frame is registered to the average of the others, so that its own noise is not part of its
/// reference; the second of two frames to the first.
///
/// Motions are then changed by a common stretch, so that the reference is not stretched: the result
/// has the magnification of the reference.
///
/// Input     rigid motions of all registered frames, and this rank's frames; the family, or none to
///           choose one (choose_family()).
/// Output    the family and, if it was chosen, the reason. FrameRegistration::affine is set if the
///           family is similarity or affine; `result` is the nearest rigid motion, with its
///           uncertainty. Frames whose fit does not converge keep their rigid motion. If the rigid
///           family is chosen, nothing changes.
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      two averages, and two registrations per frame without a search; half of that if the
///           rigid family is chosen. Memory per rank: seven frames.
/// Collective.
/// Deterministic  The bits do not depend on the number of threads.
FamilyChoice register_by_family(const SeriesContext& context, const Registered& registered,
                                std::int64_t reference, std::span<FrameRegistration> own,
                                std::optional<MotionFamily> family);

} // namespace sextant::registration
