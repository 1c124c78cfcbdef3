// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/synthetic.hpp"

namespace sextant::registration {

/// The least RMS error, in pixels over the central `share` of frames along each axis, of any way to
/// find the rigid motion of two frames that count electrons, `dose` a pixel where the specimen's
/// brightness is 1: Cramér and Rao's bound. What both frames tell of a motion is
/// Σ (∇I·∂φ)(∇I·∂φ)ᵀ/(2I) over the pixels, of which every fourth counts for four.
double cramer_rao(const Specimen& specimen, ImageShape shape, double dose, double share);

} // namespace sextant::registration
