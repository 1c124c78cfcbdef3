// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace sextant::registration {

/// The largest rotation that one search finds reliably, in degrees.
inline constexpr double usual_rotation = 3;

struct RigidOptions {
    int most_steps = 30; ///< maximum number per level
    double stop = .002;  ///< converged if the next step is expected to be shorter (RMS, pixels)
    /// Minimum lead (RigidResult::lead) of the best motion. Below it, the result is marked
    /// ambiguous, because it may be off by a lattice period.
    double least_lead = 1.75;
    /// The largest rotation between two frames, in degrees. If it exceeds `usual_rotation`, the
    /// spectra of the frames are compared first, and the search is repeated around each angle
    /// found.
    double most_rotation = usual_rotation;
    /// The largest motion of the centre between two neighbouring frames of a series, in pixels;
    /// empty: half a frame along each axis. For frames that are further apart, it is multiplied by
    /// their distance.
    std::optional<double> most_shift = {};
    /// Also test for opposite contrast, if the correlation has a minimum deeper than its highest
    /// peak.
    bool inverts = false;
};

struct RigidResult {
    RigidMotion motion; ///< T∘φ ≈ R
    RigidUncertainty uncertainty;
    /// NCC of the filtered frames over the overlap: at the identity (every fourth row only), and at
    /// the resulting motion.
    double ncc_before = 0, ncc_after = 0;
    double overlap = 0; ///< fraction of the reference that the motion maps into the template
    int iterations = 0; ///< number of steps over all levels
    /// The lead of the best motion over its strongest rival, in standard deviations of the noise
    /// (lead.hpp). It is at most the lead over the best motion expected between unrelated frames.
    /// Empty if a start was given.
    std::optional<double> lead;

    bool converged = false;
    /// True if the lead is small: the motion may be off by a lattice period.
    bool ambiguous = false;
    bool unrelated = false; ///< true if the NCC is no higher than that of noise
    Misfit misfit = {};     ///< evidence that parts of the frame moved differently
    /// True if the frames have opposite contrast. The NCCs are then those of the reference and the
    /// inverted template.
    bool inverted = false;
};

class RigidRun;

/// Registers pairs of frames of one shape with a rigid motion.
///
/// Correlation on the coarsest level finds candidate motions, without rotation at first; if none
/// has a clear lead or the best is rotated, at nine angles; if any rotation is allowed, around
/// every angle that the spectra suggest. Each candidate is refined on the coarsest
/// level by up to three Gauss-Newton steps (level.hpp) on every second row, and the best three
/// candidates by up to eight more. The candidate with the highest NCC is refined down to the finest
/// level. If another candidate is nearly as good (lead.hpp), all are refined and compared again on
/// the next finer level.
///
/// Steps on the finest level use every second row, because after the filter the other rows add no
/// information. (The filter suppresses the wavelength of two rows, so sums over even and odd rows
/// differ by only .4 % of their noise.) With a weaker filter than the usual one, every row is used.
/// The uncertainty is estimated from tiles of 32x32 pixels, or 16x16 or 8x8 in small frames; tiles
/// with only noise are ignored.
///
/// Not thread-safe; `align` and `refine` allocate nothing. Rows, angles and starts are divided
/// among the team's threads.
/// Deterministic: the same bits on the same kind of processor, for any number of threads.
class RigidRegistration {
  public:
    /// `finest`: the finest level that is compared, at most the last but one. Interpolation on
    /// level 1 biases motions by a few hundredths of a pixel.
    /// Throws InvalidTask if a Pyramid of this shape and number of levels would. The team must
    /// outlive this object.
    explicit RigidRegistration(ImageShape shape, int levels = 0, const RigidOptions& options = {},
                               Team* team = nullptr, int finest = 0);
    RigidRegistration(RigidRegistration&& other) noexcept;
    RigidRegistration& operator=(RigidRegistration&& other) noexcept;
    ~RigidRegistration();

    /// Input     two filled pyramids of this shape and number of levels (InvalidTask otherwise);
    ///           the distance of the frames in their series, by which RigidOptions::most_shift is
    ///           multiplied. Only starts of the search are limited; refinement may exceed the
    ///           limit.
    RigidResult align(const Pyramid& reference, const Pyramid& moved, std::int64_t distance = 1);
    /// Same as align(), but without steps on the finest level: the motion is correct to within
    /// about a tenth of a pixel. The uncertainty, the misfit and `ncc_before` are not computed;
    /// `ncc_after` uses every fourth row.
    RigidResult locate(const Pyramid& reference, const Pyramid& moved, std::int64_t distance = 1);

    /// Registers two pyramids, starting at a motion that is correct to within a few pixels, without
    /// a search. If the steps lead to a motion with a lower NCC, the result is the start, which is
    /// not converged.
    RigidResult refine(const Pyramid& reference, const Pyramid& moved, const RigidMotion& start);

  private:
    std::unique_ptr<RigidRun> run_;
};

} // namespace sextant::registration
