// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/synthetic.hpp"

namespace sextant::lab {

/// The Cramér-Rao bound for rigid registration: the least RMS error, in pixels over the central
/// `share` of the frame along each axis, of any estimator of the motion between two frames that
/// count electrons, `dose` per pixel at specimen brightness 1. The Fisher information is Σ
/// (∇I·∂φ)(∇I·∂φ)ᵀ/(2I) over the pixels, estimated from every fourth pixel.
double cramer_rao(const registration::Specimen& specimen, ImageShape shape, double dose,
                  double share);

} // namespace sextant::lab
