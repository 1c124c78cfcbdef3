// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/pair/level.hpp"

#include <vector>

namespace sextant::registration {

/// Converts a value of Student's t with `freedom` degrees of freedom to the normal deviate of the
/// same probability, within .1 for 5 or more degrees of freedom.
/// Source    Wallace, Ann. Math. Statist. 30, 1959, doi:10.1214/aoms/1177706095
double normal_deviate(double t, double freedom);

/// Decides which of two motions between a pair of images is right. On a lattice, a motion by one
/// period more or less explains the images almost as well.
///
/// The two motions are compared on the pixels of R that both map into T, so that the contents of
/// the two overlaps do not matter. R, T∘φ and T∘ψ are normalised there to mean 0 and variance 1,
/// and d = (T∘φ − T∘ψ)(R − r(T∘φ + T∘ψ)/2) is summed over tiles, where r is the NCC at φ. The total
/// is the difference of the two NCCs; what T∘φ and T∘ψ have in common, such as the lattice,
/// cancels. If φ is right, the sum of a tile is proportional to Σ(T∘φ − T∘ψ)², except for noise,
/// which is hardly correlated between tiles. The lead is the total divided by the standard
/// deviation that these residuals give it.
///
/// If neither motion is better, leads have a standard deviation of at most 1; on a lattice it is
/// .6, because both motions see nearly the same noise, in different tiles.
class LeadMeter {
  public:
    /// The team must outlive this object.
    explicit LeadMeter(ImageShape shape, Team* team = nullptr);

    /// Sets the images and a motion, to which others are compared. The images must remain valid
    /// until the next call; Images::inverted applies to this motion.
    void set(const Images& images, const RigidMotion& motion);

    /// Returns the lead of the motion that was set over another one, as a normal deviate; negative
    /// if the other one explains the images better. `inverted` is Images::inverted of the other
    /// one.
    /// Output    infinity if fewer than `least_tiles` tiles have common pixels: then the motions
    ///           cannot be compared.
    /// Cost      two passes over the image. Allocates nothing.
    /// Deterministic  The bits do not depend on the number of threads.
    double over(const RigidMotion& rival, bool inverted = false);

    /// Returns by how many standard deviations the motion that was set explains the images better
    /// than no motion at all, as a normal deviate: that of the NCC over the common pixels, whose
    /// noise is estimated from the tiles. Of many motions between unrelated images, the best has
    /// about 4.
    double over_nothing();

    static constexpr int least_tiles = 4;

  private:
    /// Sums over the common pixels of a tile.
    struct TileSums {
        double count = 0, r = 0, best = 0, rival = 0;
        double rr = 0, best_best = 0, rival_rival = 0, r_best = 0, r_rival = 0, best_rival = 0;

        TileSums& operator+=(const TileSums& other);
    };

    /// The evidence of some pixels for one motion against another, and the weight of these pixels.
    struct Part {
        double evidence = 0, weight = 0;
    };

    void warp(const RigidMotion& motion, bool inverted, kernel::FloatPlane& to);
    TileSums sums_of(const Tile& tile, const kernel::FloatPlane& rival) const;
    TileSums sum_tiles(const kernel::FloatPlane& rival);
    template <class PartOf>
    double deviate(const TileSums& all, const PartOf& part_of) const;

    ImageShape shape_;
    Team* team_;
    Images images_ = {};
    kernel::FloatPlane best_, rival_; ///< T∘φ and T∘ψ; NaN where unknown
    std::vector<TileSums> tiles_;
};

} // namespace sextant::registration
