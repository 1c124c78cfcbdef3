// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/registration/pair/motion.hpp"

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

/// Seeded random numbers that are the same on every platform (the standard library's distributions
/// are not). Different streams of one seed are independent.
class NoiseSource {
  public:
    NoiseSource(std::uint64_t seed, std::uint64_t stream) {
        const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
        std::seed_seq mixed{low(seed), low(seed >> 32), low(stream), low(stream >> 32)};
        engine_.seed(mixed);
    }

    /// Returns a uniformly distributed number in [0, 1).
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

    /// Returns a normally distributed number of mean 0 and standard deviation 1 (Box and Muller
    /// 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// Returns a Poisson-distributed number by inversion of the distribution. A large mean is split
    /// into several small ones; for a very large mean, the normal distribution is used.
    double poisson(double mean) {
        constexpr double most = 64; // keeps exp(−mean) far above the smallest double
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

/// The brightness of a specimen, about 1 on average, at a position in pixels from the centre of the
/// field of view. A smooth function in closed form, so frames are exact for any motion and need no
/// resampling.
using Specimen = std::function<double(Point)>;

/// Limits of the size of aperiodic detail in pixels. The pixels resolve these sizes, and the
/// Gaussian filters can produce them.
inline constexpr double smallest_detail = 3 * kernel::smallest_sigma,
                        largest_detail = kernel::largest_sigma;

/// Parameters of a synthetic specimen.
struct SpecimenPlan {
    ImageShape field;       ///< area with detail; edge values are extended outward
    double contrast = .25;  ///< standard deviation of the brightness
    double period = 24;     ///< period of a lattice, pixels
    double amorphous = .38; ///< fraction of a lattice's contrast that is aperiodic, 0 to 1
    double detail = 6;      ///< size of the aperiodic detail, pixels; at least smallest_detail
    std::uint64_t seed = 1;
};

/// A kind of specimen.
struct SpecimenKind {
    std::string_view name, summary;
    Specimen (*make)(const SpecimenPlan& plan);
};

/// All kinds: lattice, amorphous carbon, particles.
std::span<const SpecimenKind> specimens();

/// Finds a kind by name. If there is none, throws InvalidTask, which lists the known names.
const SpecimenKind& find_specimen(std::string_view name);

/// Returns a specimen that shows an image at the centre of the field of view: the cubic B-spline
/// whose coefficients are the image's samples divided by their mean. It is smooth everywhere.
/// Requires  samples with a positive mean (InvalidTask otherwise).
Specimen specimen_of(const kernel::FloatImage& image);

/// A permanent shift of the content between a frame and the previous one.
struct Jump {
    int frame = 0;
    double tx = 0, ty = 0; ///< of the content, to the right and downward, pixels
};

/// Parameters of a synthetic series.
struct SeriesPlan {
    ImageShape shape;
    int frames = 1;
    double dose = 10;  ///< expected electrons per pixel where the specimen's brightness is 1
    RigidMotion drift; ///< motion of the content per frame
    double wander = 0; ///< standard deviation of the random step per frame and coordinate, pixels
    double rotation_wander = 0;   ///< standard deviation of the random rotation per frame, radians
    double warp = 0;              ///< amplitude of the distortion in the last frame, pixels
    double warp_length = 512;     ///< wavelength of the distortion, pixels
    std::vector<int> blanks = {}; ///< frames with the beam off: a fiftieth of the dose, no specimen
    std::vector<Jump> jumps = {};
    std::uint64_t seed = 1;
};

/// A series of frames of a specimen, with known motions.
///
/// Motions describe the content, as in RigidMotion: the feature at x in frame 0 is at φ_i(x) in
/// frame i. With a smooth distortion u_i, pixel x of frame i shows the specimen at position(i, x) =
/// φ_i⁻¹(x + u_i(x)), relative to the centre of the frames. Without distortion, frame b registers
/// to frame a by φ_b∘φ_a⁻¹.
///
/// Deterministic  the same plan gives the same frames, in any order of calls.
class SyntheticSeries {
  public:
    /// Throws InvalidTask for an impossible plan: no frames, a dose that is not positive, or blanks
    /// or jumps at frames that do not exist.
    SyntheticSeries(SeriesPlan plan, Specimen specimen);

    const SeriesPlan& plan() const { return plan_; }
    /// Returns φ_i, which registers frame i to frame 0.
    const RigidMotion& motion(int frame) const { return motions_[static_cast<std::size_t>(frame)]; }
    /// Returns the motion that registers frame `moved` to frame `reference`.
    RigidMotion between(int reference, int moved) const;
    /// Returns φ_i⁻¹(x + u_i(x)) in pixels of the frame.
    Point position(int frame, Point x) const;
    bool is_blank(int frame) const;
    /// Phases of the distortion's two waves, radians.
    const std::array<double, 2>& warp_phases() const { return phases_; }

    /// Returns the expected counts per pixel of a frame.
    kernel::FloatPlane expected(int frame) const;
    /// Returns random counts per pixel of a frame, Poisson-distributed with the expected counts as
    /// means.
    kernel::FloatPlane counted(int frame) const;

  private:
    Point distortion(int frame, Point x) const;

    SeriesPlan plan_;
    Specimen specimen_;
    std::vector<RigidMotion> motions_, lookups_; ///< φ_i and φ_i⁻¹
    std::array<double, 2> phases_{};
};

/// Returns the area that a specimen needs for a series: the area of a frame plus a margin for the
/// motions.
ImageShape field_for(const SeriesPlan& plan);

} // namespace sextant::registration
