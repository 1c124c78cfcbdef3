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
    Elements side = 0; ///< side of the transformed square, pixels
    /// [i]: correlation at frequencies around i / side cycles per pixel, from 0 to 1/2; 1 at
    /// frequency 0.
    std::vector<double> values;
    /// The frequency, in cycles per pixel, at which the correlation falls below 1/7; 1/2 if it
    /// never does; 0 if it is below 1/7 from the start or the images are too small.
    double resolved = 0;
    /// The highest frequency above `resolved` at which rings are still correlated, for example
    /// rings with lattice spots; 0 if there is none.
    double highest = 0;
};

/// The conventional resolution threshold (.143) for two images that are each an average of half of
/// the data.
inline constexpr double least_ring_correlation = 1. / 7;

/// Returns the part of images that ring_correlation() compares: the central square whose side is
/// the largest power of two that fits, at most `most`. Empty if the images are too small.
PixelArea ring_area(ImageShape shape, Elements most = 2048);

/// Computes the Fourier ring correlation of two images, such as the averages of the odd and even
/// frames of a series. Of each image, the square ring_area() is used, with its average subtracted
/// and a Hann window applied; NaN is replaced by the average. Thresholds are applied to the means
/// of five neighbouring rings, because single rings are noisy.
///
/// Requires  images of this shape (std::logic_error).
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
/// average, with the mean subtracted and a Hann window applied. Pixels that no frame covers are
/// replaced by the mean. The side is the largest power of two that fits, at most `most`.
///
/// Input     the average of an image of this shape, and the number of frames that cover each pixel.
///           At least 2x2 pixels (std::logic_error otherwise).
/// Cost      the FFT of one image.
PowerSpectrum log_power_spectrum(std::span<const float> mean, std::span<const float> count,
                                 ImageShape shape, Elements most = 512);

} // namespace sextant::registration
