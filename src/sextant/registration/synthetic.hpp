// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/specimen.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sextant::registration {

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
