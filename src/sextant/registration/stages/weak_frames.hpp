// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/stages/refinement.hpp"

#include <cstdint>
#include <span>

namespace sextant::registration {

/// Registers frames that carry too little signal to determine their motions alone (sums.hpp). Each
/// frame takes one Gauss-Newton step to the average of the others. The steps are then smoothed over
/// the series (smooth_positions()), as far as the steps show that motions are smooth.
///
/// The derivative of the score, and the variance of its noise, are estimated from all frames
/// together, because those of a single frame are as noisy as its score.
///
/// Input     the same as register_to_average(); the number of frames in each sum.
/// Output    `result` has the smoothed motion and its uncertainty. A frame is in doubt if its
///           position has a standard deviation of more than options.tolerance. A frame is left out
///           if its NCC is no higher than noise, but much lower than those of the other frames. A
///           frame that is not sound becomes sound if it and nearby frames that are not sound
///           together resemble the average; otherwise it is left out.
/// Cost      for each frame, two resamplings of a filtered level and three passes over the frame.
/// Collective.
/// Deterministic  the bits do not depend on ranks or threads.
void register_weak_to_average(const SeriesContext& context, MatchingAverage average,
                              const Registered& registered, std::span<FrameRegistration> own,
                              std::uint32_t stage, std::int64_t size);

/// A value that was observed with noise, at a time.
struct NoisyValue {
    double time = 0, value = 0, variance = 0; ///< variance: infinite if nothing was observed
};

/// Replaces observations of a position by the means and variances of its posterior.
/// The position is the sum of a constant drift, a random walk and independent jitter. The posterior
/// is a mean over many variances of the walk and the jitter, weighted by their likelihoods.
///
/// Input     observations in the order of time, at least one.
/// Cost      O(n) for n observations.
/// Source    Rauch, Tung and Striebel, AIAA Journal 3, 1965, doi:10.2514/3.3166
void smooth_positions(std::span<NoisyValue> observations);

} // namespace sextant::registration
