// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <memory>
#include <optional>

namespace sextant::registration {

/// The largest rotation that one search finds reliably, in degrees.
inline constexpr double usual_rotation = 3;

struct RigidOptions {
    int most_steps = 30; ///< maximum number per level
    double stop = .002;  ///< converged if the next step is expected to be shorter (RMS, pixels)
    /// Least lead (RigidResult::lead) of the best motion; with less, the result may be off by a
    /// lattice period.
    double least_lead = 1.75;
    /// The largest rotation between two frames, in degrees. With more than `usual_rotation`, their
    /// spectra are compared to find angles around which the search is repeated.
    double most_rotation = usual_rotation;
    /// Also searches for frames of opposite contrast, if their correlation has a minimum deeper
    /// than its highest peak.
    bool inverts = false;
};

struct RigidResult {
    RigidMotion motion; ///< T∘φ ≈ R
    RigidUncertainty uncertainty;
    /// NCC of the filtered frames over the overlap: without a motion (over every fourth row), and
    /// at the motion found.
    double ncc_before = 0, ncc_after = 0;
    double overlap = 0; ///< fraction of the reference that the motion maps into the template
    int iterations = 0; ///< number of steps over all levels
    /// The lead of the best motion over its strongest rival, or over what the best of many motions
    /// between unrelated frames reaches, if this is less (lead.hpp): in standard deviations of what
    /// noise causes; none if a start was given.
    std::optional<double> lead;

    bool converged = false;
    bool ambiguous = false; ///< small lead: the motion may be off by a lattice period
    bool unrelated = false; ///< the NCC is no higher than that of noise
    Misfit misfit = {};     ///< whether parts of the frame moved differently
    /// The frames have opposite contrast; the NCCs are those of the reference and of the inverted
    /// template.
    bool inverted = false;
};

class RigidRun;

/// Registers pairs of frames of one shape by a rigid motion.
///
/// Correlation on the coarsest level finds candidate motions, around every angle at which the
/// spectra of the frames are alike if any rotation is allowed. Each is refined there by up to three
/// Gauss-Newton steps (level.hpp) on every second row, and then the best three by up to eight more.
/// The one with the highest NCC is followed to the finest level. If another one is nearly as good
/// (lead.hpp), all are refined and compared again on the next finer level.
///
/// Steps on the finest level use every second row, because after the filter the other rows add no
/// information. (Sums over the even and the odd rows differ only by what the filter leaves of a
/// wavelength of two rows: .4 % of their noise.) With a weaker filter than the usual one, every row
/// is used. The uncertainty is estimated from tiles of 32x32 pixels, or 16x16 in small frames;
/// tiles with only noise are ignored.
///
/// Not thread-safe; `align` and `refine` allocate nothing. The team shares rows, angles and starts.
/// Deterministic: the same bits on the same kind of processor, for any number of threads.
class RigidRegistration {
  public:
    /// Throws InvalidTask if a Pyramid of that shape and number of levels would. The team must
    /// outlive this object.
    explicit RigidRegistration(ImageShape shape, int levels = 0, const RigidOptions& options = {},
                               Team* team = nullptr);
    RigidRegistration(RigidRegistration&& other) noexcept;
    RigidRegistration& operator=(RigidRegistration&& other) noexcept;
    ~RigidRegistration();

    /// Input     two filled pyramids of this shape and number of levels (InvalidTask otherwise).
    RigidResult align(const Pyramid& reference, const Pyramid& moved);
    /// The same without steps on the finest level: the motion is correct to within about a tenth of
    /// a pixel. Its uncertainty, its misfit and `ncc_before` are not determined; `ncc_after` is
    /// that of every fourth row.
    RigidResult locate(const Pyramid& reference, const Pyramid& moved);

    /// Registers two pyramids, starting at a motion that is correct to within a few pixels, without
    /// a search.
    RigidResult refine(const Pyramid& reference, const Pyramid& moved, const RigidMotion& start);

  private:
    std::unique_ptr<RigidRun> run_;
};

} // namespace sextant::registration
