// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/synthetic.hpp"

namespace sextant::lab {

/// The Cramér-Rao bound for rigid registration of two frames of electron counts: a lower bound of
/// the RMS error of any estimator of their motion, in pixels, over the central part of the frame.
/// The Fisher information is Σ (∇I·∂φ)(∇I·∂φ)ᵀ/(2I) over the pixels, estimated from every fourth
/// pixel.
/// Input     `dose`: electrons per pixel at specimen brightness 1; `share`: size of the central
///           part relative to the frame, along each axis.
double cramer_rao(const registration::Specimen& specimen, ImageShape shape, double dose,
                  double share);

} // namespace sextant::lab
