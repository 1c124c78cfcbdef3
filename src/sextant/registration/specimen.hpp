// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/registration/motion.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace sextant::registration {

/// What a microscope looks at: brightness, about 1 in the mean, at any place, in pixels from the
/// middle of the field of view. A smooth function in closed form, so an image of it at any
/// motion is exact: nothing is resampled.
using Specimen = std::function<double(Point)>;

/// Of what is not periodic in a made specimen, in pixels: waves that a pixel can show, and filters
/// can make.
inline constexpr double smallest_detail = 3 * kernel::smallest_sigma,
                        largest_detail = kernel::largest_sigma;

/// What is asked of a made specimen.
struct SpecimenPlan {
    ImageShape field;       ///< in which it has detail; beyond, its last detail goes on
    double contrast = .25;  ///< the standard deviation of its brightness
    double period = 24;     ///< of a lattice, in pixels
    double amorphous = .38; ///< share of a lattice's contrast that is not periodic, 0 to 1
    double detail = 6; ///< how large what is not periodic is, in pixels; from smallest_detail on
    std::uint64_t seed = 1;
};

/// A kind of specimen.
struct SpecimenKind {
    std::string_view name, summary;
    Specimen (*make)(const SpecimenPlan& plan);
};

/// All kinds: a lattice, amorphous carbon, particles.
std::span<const SpecimenKind> specimens();

/// One of them. Throws InvalidTask, which lists them.
const SpecimenKind& find_specimen(std::string_view name);

/// An image as a specimen, its middle in the middle of the field, its brightness divided by its
/// mean: the cubic B-spline whose coefficients are the image's samples, which is smooth everywhere.
/// Requires  samples of positive mean (InvalidTask otherwise).
Specimen specimen_of(const kernel::FloatImage& image);

} // namespace sextant::registration
