// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <vector>

namespace sextant::registration {

/// The logarithm of the power spectrum of a square part of an image.
struct PowerSpectrum {
    Elements side = 0; ///< pixels; the zero frequency is at (side / 2, side / 2)
    std::vector<float> values;
};

/// Computes ln(1 + |F|²), where F is the discrete Fourier transform of the central square of the
/// mean, less its average and multiplied by a Hann window. Pixels that no frame covers have the
/// average. The side is the largest power of two that fits, at most `most`.
///
/// Input     the mean and the count of an image of this shape, of 2x2 pixels or more
///           (std::logic_error otherwise).
/// Cost      the FFT of one image.
PowerSpectrum log_power_spectrum(const Combined& combined, ImageShape shape, Elements most = 512);

} // namespace sextant::registration
