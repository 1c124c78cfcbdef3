// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

// Windows and products of spectra, for correlations and for layers.

namespace sextant::registration {

/// Returns a Tukey window: 1 in the middle, and falling to 0 like a cosine over the fraction
/// `tapered` of its length.
inline std::vector<float> tukey(Elements size, double tapered) {
    std::vector<float> window;
    const double ramp = tapered * static_cast<double>(size) / 2;
    for (Elements i = 0; i < size; ++i) {
        const double from_end = .5 + static_cast<double>(std::min(i, size - 1 - i));
        const double rise = std::min(1., from_end / ramp);
        window.push_back(static_cast<float>((1 - std::cos(std::numbers::pi * rise)) / 2));
    }
    return window;
}

/// The spectra of two real images.
struct TwoSpectra {
    std::complex<float> f, g;
};

/// Separates F and G, given F + iG at k and −k. Both images are real, so F(−k) = conj F(k) and
/// G(−k) = conj G(k).
inline TwoSpectra separated(std::complex<float> here, std::complex<float> there) {
    const std::complex<float> opposite = std::conj(there);
    const std::complex<float> difference = .5F * (here - opposite);
    return {.5F * (here + opposite), {difference.imag(), -difference.real()}};
}

/// Returns ab. The operator of the standard library also handles infinities, which takes longer.
inline std::complex<float> times(std::complex<float> a, std::complex<float> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Returns conj(a) b.
inline std::complex<float> conj_times(std::complex<float> a, std::complex<float> b) {
    return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
}

/// Returns conj(a) b, divided by the square root of its modulus.
inline std::complex<float> whitened(std::complex<float> a, std::complex<float> b) {
    constexpr float least = 1e-20F; // avoids division by 0 where a spectrum is 0
    const std::complex<float> product = conj_times(a, b);
    return product / std::sqrt(std::sqrt(std::norm(product) + least));
}

/// Returns exp(−i q d) for all frequencies q of a transform of this length: the factors by which a
/// displacement by d multiplies the spectrum.
inline std::vector<std::complex<float>> factors_of_displacement(Elements size, double by) {
    std::vector<std::complex<float>> factors;
    for (Elements at = 0; at < size; ++at) {
        const auto index = static_cast<double>(at <= size / 2 ? at : at - size);
        const double angle = -2 * std::numbers::pi * index * by / static_cast<double>(size);
        factors.emplace_back(static_cast<float>(std::cos(angle)),
                             static_cast<float>(std::sin(angle)));
    }
    return factors;
}

} // namespace sextant::registration
