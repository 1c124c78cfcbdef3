// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <span>
#include <vector>

namespace sextant::registration {

/// The Fourier ring correlation of two images: the correlation of their Fourier coefficients within
/// rings of equal spatial frequency.
struct RingCorrelation {
    Elements side = 0; ///< of the square that was transformed, in pixels
    /// [i]: at frequencies around i / side cycles per pixel, from 0 to 1/2; of frequency 0 it is 1.
    std::vector<double> values;
    /// The frequency, in cycles per pixel, at which the correlation falls below 1/7; 1/2 if it does
    /// not; 0 if it is lower from the start, or if images are too small.
    double resolved = 0;
    /// The highest frequency above `resolved` at which rings are still correlated, as those of the
    /// spots of a lattice are; 0 if there is none.
    double highest = 0;
};

/// The correlation below which images that are averages of half of the data do not resolve
/// structures, by convention (.143).
inline constexpr double least_ring_correlation = 1. / 7;

/// The part of images that ring_correlation() compares: the central square whose side is the
/// largest power of two that fits, at most `most`. Empty if images are too small.
PixelArea ring_area(ImageShape shape, Elements most = 2048);

/// Compares two images, such as the averages of the odd and of the even frames of a series. Each is
/// the square of ring_area() less its average, under a Hann window; NaN has the average. Thresholds
/// refer to the means of five neighbouring rings, because single rings are noisy.
///
/// Requires  images of the shape (std::logic_error).
/// Cost      the FFT of two images.
/// Source    van Heel, Schatz, J. Struct. Biol. 151, 2005, doi:10.1016/j.jsb.2005.05.009; the
///           threshold: Rosenthal, Henderson, J. Mol. Biol. 333, 2003,
///           doi:10.1016/j.jmb.2003.07.013
RingCorrelation ring_correlation(std::span<const float> one, std::span<const float> other,
                                 ImageShape shape, Elements most = 2048);

/// The logarithm of the power spectrum of a square part of an image.
struct PowerSpectrum {
    Elements side = 0; ///< pixels; the zero frequency is at (side / 2, side / 2)
    std::vector<float> values;
};

/// Computes ln(1 + |F|²), where F is the discrete Fourier transform of the central square of an
/// average, less its mean and multiplied by a Hann window. Pixels that no frame covers have the
/// mean. The side is the largest power of two that fits, at most `most`.
///
/// Input     the average and the number of frames that cover each pixel of an image of this shape,
///           of 2x2 pixels or more (std::logic_error otherwise).
/// Cost      the FFT of one image.
PowerSpectrum log_power_spectrum(std::span<const float> mean, std::span<const float> count,
                                 ImageShape shape, Elements most = 512);

} // namespace sextant::registration
