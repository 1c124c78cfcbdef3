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

/// Decides which of two motions between a pair of images is right. On a lattice, a motion that is
/// off by one period explains the images almost as well.
///
/// The motions φ and ψ are compared on their common pixels, that is, the pixels of R that both map
/// into T. Differences between the two overlaps thus have no effect. R, T∘φ and T∘ψ are normalised
/// on these pixels to mean 0 and variance 1, and d = (T∘φ − T∘ψ)(R − r(T∘φ + T∘ψ)/2) is summed over
/// tiles, where r is the NCC at φ. The total is the difference of the two NCCs. Contributions
/// common to T∘φ and T∘ψ, such as the lattice, cancel. If φ is right, the sum of a tile is
/// proportional to Σ(T∘φ − T∘ψ)² plus noise, which is hardly correlated between tiles. The lead is
/// the total divided by its standard deviation, which is estimated from this noise.
///
/// If neither motion is better, leads have a standard deviation of at most 1. On a lattice it is
/// .6, because nearly the same noise enters both motions, in different tiles.
class LeadMeter {
  public:
    /// The team must outlive this object. `tile_side`: the side of tiles in pixels. Most details of
    /// specimens are smaller than the usual side on the coarsest level, so tiles are independent. A
    /// frame of 64x64 pixels still has 16 tiles on its coarsest level.
    explicit LeadMeter(ImageShape shape, Team* team = nullptr,
                       Elements tile_side = usual_tile_side);

    /// Sets the images and the motion φ that other motions are compared with. The images must
    /// remain valid until the next call; Images::inverted applies to this motion.
    void set(const Images& images, const RigidMotion& motion);

    /// Returns the lead of φ over a rival motion, as a normal deviate; negative if the rival
    /// explains the images better. `inverted` is Images::inverted for the rival.
    /// Output    infinity if fewer than `least_tiles` tiles have common pixels: then the motions
    ///           cannot be compared.
    /// Cost      two passes over the image. Allocates nothing.
    /// Deterministic  the bits do not depend on the number of threads.
    double over(const RigidMotion& rival, bool inverted = false);

    /// Returns the significance of the NCC at φ as a normal deviate, with noise estimated from the
    /// tiles. Between unrelated images, the best of many motions reaches about 4.
    double over_nothing();

    static constexpr int least_tiles = 4;
    static constexpr Elements usual_tile_side = 8;

  private:
    /// Sums over the common pixels of a tile.
    struct TileSums {
        double count = 0, r = 0, best = 0, rival = 0;
        double rr = 0, best_best = 0, rival_rival = 0, r_best = 0, r_rival = 0, best_rival = 0;

        TileSums& operator+=(const TileSums& other);
    };

    /// The evidence of some pixels for φ against a rival, and the weight of these pixels.
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
    Elements tile_side_;
    Images images_ = {};
    kernel::FloatPlane best_, rival_; ///< T∘φ and T∘ψ; NaN where T has no sample
    std::vector<TileSums> tiles_;
};

} // namespace sextant::registration
