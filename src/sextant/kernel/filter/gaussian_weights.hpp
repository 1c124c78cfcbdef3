// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace sextant::kernel {

inline constexpr double smallest_sigma = .5, largest_sigma = 1000; ///< in pixels, for derivatives
inline constexpr int highest_order = 4;
inline constexpr double largest_truncation = 20; ///< in sigmas

/// The scale along each axis, in pixels; 0: not filtered along this axis.
struct Scales {
    constexpr Scales(double all) : x(all), y(all), z(all) {}
    /// Of an image: z is negative.
    constexpr Scales(double along_x, double along_y) : x(along_x), y(along_y), z(-1) {}
    constexpr Scales(double along_x, double along_y, double along_z)
        : x(along_x), y(along_y), z(along_z) {}
    double x, y, z;

    bool operator==(const Scales&) const = default;
};

/// The weights used for a derivative of a Gaussian.
struct GaussianKernel {
    enum class Weights {
        gaussian,  ///< samples of the derivative; the effect of the finite reach is negligible
        truncated, ///< samples of the derivative, truncated at `truncation` sigmas
        p3pc       ///< the short filters of P-3PC (Seinstra and Koelma, 2002)
    };
    Weights weights = Weights::gaussian;
    double truncation = 0; ///< in sigmas; used by Weights::truncated only

    bool operator==(const GaussianKernel&) const = default;
};

inline constexpr GaussianKernel p3pc_kernel{GaussianKernel::Weights::p3pc, 0};

/// The number of weights on either side of the middle one. It does not decrease with the order:
///
/// gaussian   ⌊(4.6 + .42 order) σ + ½⌋
/// truncated  ⌊truncation · σ + ½⌋, as in scipy.ndimage
/// p3pc       ⌊2σ + 1⌋, ⌊3.5σ + ½⌋ and round(3.75σ + ½) for orders 0, 1 and 2, which gives the
///            numbers of weights in the paper: 7, 9 and 9 for σ = 1; 15, 23 and 25 for σ = 3; 23,
///            37 and 39 for σ = 5. round(4σ + 1) for orders 3 and 4.
///
/// Requires  the same as gaussian_weights().
int gaussian_reach(double sigma, int order, const GaussianKernel& kernel = {});

/// The weights of a derivative of order k at a scale of σ.
///
/// truncated  He_k(i/σ) g(i) / σᵏ for |i| ≤ reach: the derivative of the Gaussian, sampled. He_k is
///            the Hermite polynomial, g(i) is exp(−i² / 2σ²) divided by its sum. These are the
///            weights of scipy.ndimage.gaussian_filter(truncate=truncation).
/// gaussian   as truncated at 8σ, but with a shorter reach of about 6σ. A polynomial times g is
///            added to preserve the moments, up to degree k, of the part beyond the reach.
///            Polynomials up to degree k are therefore filtered as if without truncation.
/// p3pc       p_k(i) g(i) k! / Σ p_k² g, where the p_k are the polynomials orthogonal under the
///            samples of g. They have the exact moments of derivatives: Σ wᵢ iʲ is k! for j = k
///            and 0 for j < k, however small σ is. Sampled derivatives have other moments for
///            σ < 1: at σ = .5 the slope of a ramp is 13 % too small.
///
/// Every result of `gaussian` differs from that of scipy.ndimage.gaussian_filter(truncate=8) in
/// double precision by at most 10⁻⁴ of the latter's largest magnitude, for orders up to 4 along
/// each axis.
///
/// Output    2 reach + 1 weights, with w_i at [reach + i], applied as Σ wᵢ f(x + i). Weights of
///           even orders are exactly symmetric, those of odd orders exactly antisymmetric.
/// Requires  smallest_sigma <= sigma <= largest_sigma, or 0 <= sigma for order 0 of kernels other
///           than p3pc, 0 <= order <= highest_order, a truncation from 0 to largest_truncation;
///           otherwise throws InvalidTask.
/// Cost      O(order · reach).
/// Source    p3pc: the reach of Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4; the moments
///           of Savitzky and Golay, Analytical Chemistry 36(8), 1964, doi:10.1021/ac60214a047, with
///           the weights of Farnebäck, SCIA 2003, doi:10.1007/3-540-45103-X_50
std::vector<double> gaussian_weights(double sigma, int order, const GaussianKernel& kernel = {});

} // namespace sextant::kernel
