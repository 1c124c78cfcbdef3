// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace sextant::kernel {

inline constexpr double smallest_sigma = .5, largest_sigma = 1000; ///< in pixels
inline constexpr int highest_order = 4;

/// How many samples the weights reach to either side: ⌊2σ + 1⌋, ⌊3.5σ + ½⌋, round(3.75σ + ½) for
/// orders 0, 1, 2, which give the 7, 9, 9; 15, 23, 25; 23, 37, 39 weights of Seinstra and Koelma
/// for σ = 1; 3; 5; and round(4σ + 1) for orders 3 and 4. It never shrinks with the order. Requires
/// as gaussian_weights. Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
int gaussian_reach(double sigma, int order);

/// The weights of a derivative of order k at a scale of σ: p_k(i) g(i) k! / Σ p_k² g for
/// i = −reach … reach, where g(i) = exp(−i² / 2σ²) is sampled, and p_0, p_1, … are the polynomials
/// orthogonal under these samples. For large σ and reach they become the sampled derivatives of the
/// Gaussian (p_k its Hermite polynomials); unlike those they keep its moments exactly however σ is
/// small and the tails are cut: Σ wᵢ iʲ is k! for j = k and 0 for j < k. So the derivative of order
/// k of a polynomial of degree k is exact, and order 0 sums to 1. It is also the derivative at 0 of
/// the polynomial of degree k that fits the samples best, each counting g.
///
/// Output    2 reach + 1 weights, w of what lies i after the sample at [reach + i]: applied as
///           Σ wᵢ f(x + i). Even orders are symmetric, odd ones antisymmetric, to the bit.
/// Requires  smallest_sigma <= sigma <= largest_sigma, 0 <= order <= highest_order; otherwise
///           throws InvalidTask.
/// Cost      O(order · reach).
/// Source    the correction: Savitzky and Golay, Analytical Chemistry 36(8), 1964,
///           doi:10.1021/ac60214a047, with the weights of Farnebäck, SCIA 2003,
///           doi:10.1007/3-540-45103-X_50
std::vector<double> gaussian_weights(double sigma, int order);

} // namespace sextant::kernel
