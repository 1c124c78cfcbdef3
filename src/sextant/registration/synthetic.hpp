// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/registration/motion.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace sextant::registration {

/// Seeded random numbers that are the same everywhere (the standard's distributions are not).
/// Sources of one seed and different streams have nothing to do with one another.
class NoiseSource {
  public:
    NoiseSource(std::uint64_t seed, std::uint64_t stream) {
        const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
        std::seed_seq mixed{low(seed), low(seed >> 32), low(stream), low(stream >> 32)};
        engine_.seed(mixed);
    }

    /// In [0, 1).
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

    /// Of mean 0 and deviation 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// A count of events of which `mean` are expected, by inversion of its distribution; a large
    /// one is the sum of several small, a very large one is drawn from the normal distribution.
    double poisson(double mean) {
        constexpr double most = 64; // exp(−mean) must be far above the smallest double
        constexpr double most_summed = 1e4;
        if (mean > most_summed)
            return std::round(mean + std::sqrt(mean) * normal());
        double events = 0;
        for (; mean > most; mean -= most)
            events += small_poisson(most);
        return events + small_poisson(mean);
    }

  private:
    double small_poisson(double mean) {
        double share = std::exp(-mean), rest = uniform() - share, count = 0;
        while (rest >= 0 && share > 0) {
            ++count;
            share *= mean / count;
            rest -= share;
        }
        return count;
    }

    std::mt19937_64 engine_;
};

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

/// A shift that happens before a frame and stays.
struct Jump {
    int frame = 0;
    double tx = 0, ty = 0; ///< of what the frames show: to the right and downward, pixels
};

/// What a series of frames is to be like.
struct SeriesPlan {
    ImageShape shape;
    int frames = 1;
    double dose = 10;  ///< electrons a pixel that are counted where the specimen's brightness is 1
    RigidMotion drift; ///< of what the frames show, from frame to frame
    double wander = 0; ///< deviation of each coordinate's random step from frame to frame, pixels
    double turn_wander = 0; ///< of the angle's, radians
    double warp = 0;        ///< amplitude of a smooth distortion, from 0 at the first frame to this
    double warp_length = 512; ///< of its waves, in pixels
    std::vector<int>
        blanks; ///< frames taken with the beam off: a fiftieth of the dose, no specimen
    std::vector<Jump> jumps;
    std::uint64_t seed = 1;
};

/// A series of frames of a specimen of which every motion is known.
///
/// Motions are those of what the frames show, as in RigidMotion: frame i shows at φ_i(x) what frame
/// 0 shows at x. With a smooth distortion u_i, frame i shows at x what the specimen shows at
/// place(i, x) = φ_i⁻¹(x + u_i(x)), measured from the middle of the frames. Frame b registers to
/// frame a by φ_b∘φ_a⁻¹ where there is no distortion.
///
/// Deterministic  the same plan gives the same frames, in any order.
class SyntheticSeries {
  public:
    /// Throws InvalidTask for what cannot be: no frames, a dose that is not positive, blanks or
    /// jumps at frames that there are not.
    SyntheticSeries(SeriesPlan plan, Specimen specimen);

    const SeriesPlan& plan() const { return plan_; }
    /// φ_i, which registers frame i to frame 0.
    const RigidMotion& motion(int frame) const { return motions_[static_cast<std::size_t>(frame)]; }
    /// The motion that registers one frame to another, T to R.
    RigidMotion between(int reference, int moved) const;
    /// φ_i⁻¹(x + u_i(x)) in pixels of the frame.
    Point place(int frame, Point x) const;
    bool is_blank(int frame) const;
    /// Of the distortion's two waves, radians.
    const std::array<double, 2>& warp_phases() const { return phases_; }

    /// What would be counted on average: a whole frame.
    kernel::FloatPlane expected(int frame) const;
    /// What was counted (Poisson).
    kernel::FloatPlane counted(int frame) const;

  private:
    Point distortion(int frame, Point x) const;

    SeriesPlan plan_;
    Specimen specimen_;
    std::vector<RigidMotion> motions_, lookups_; ///< φ_i and φ_i⁻¹
    std::array<double, 2> phases_{};
};

/// The field that a specimen needs for such a series: the frames, with room for their motion.
ImageShape field_for(const SeriesPlan& plan);

} // namespace sextant::registration
