// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/pyramid.hpp"

#include <vector>

namespace sextant::registration {

/// Which parts of a frame show more than noise: tiles of 32x32 pixels whose slopes are larger than
/// what filtered noise has.
class InformativeTiles {
  public:
    static constexpr Elements size = 32;

    /// A team stays.
    InformativeTiles(ImageShape image, double sigma, Team* team = nullptr);

    /// Looks at a frame and at the slopes, `scale` times those, of the frame after a Gaussian of
    /// sigma. Noise is taken to be white before the Gaussian; its variance in a tile is estimated
    /// from the second differences along both axes, (36σ²)⁻¹ mean(N∗f)² with
    /// N = [1 −2 1; −2 4 −2; 1 −2 1], which smooth structure hardly enters. A tile is informative
    /// where its mean |∇|² is more than 1.5 times what that noise has. What is not finite counts
    /// in neither.
    /// Source  Immerkær, Computer Vision and Image Understanding 64(2), 1996,
    ///         doi:10.1006/cviu.1996.0060
    void look(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
              const kernel::FloatImage& slope_y, double scale);

    /// The share of |∇|² that is not noise, in the tile of a pixel; 0 where it is not informative.
    double share(Elements x, Elements y) const {
        return share_[static_cast<std::size_t>(y / size * tiles_.width + x / size)];
    }

  private:
    double share_of_signal(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                           const kernel::FloatImage& slope_y, double scale, Elements tile) const;

    ImageShape image_, tiles_;
    Team* team_;
    double slope_of_noise_; // mean |∇|² of filtered white noise of variance 1
    std::vector<double> share_;
};

/// The two frames of a pair on one level of their pyramids, and the reference's slopes.
struct PairLevel {
    kernel::FloatImage reference, templ, slope_x, slope_y;
    double unit = 1; ///< how many pixels of the frames one of this level is wide
};

/// Two frames made ready for registration by residuals. It is made once and filled for one pair
/// after another; filling allocates nothing.
class PairPyramid {
  public:
    /// As many levels as asked for, or fewer, so that the last is at least 16 pixels wide and high.
    /// Requires  as Pyramid.
    /// A team stays.
    PairPyramid(ImageShape shape, double prefilter, int levels, Team* team = nullptr);

    /// Requires  as Pyramid::fill; what it throws says which frame it is about.
    void fill(const kernel::SampleView& reference, const kernel::SampleView& templ);

    int levels() const { return reference_.levels(); }
    PairLevel level(int number) const;                                   ///< 0 is the finest
    const InformativeTiles& informative() const { return informative_; } ///< of the reference

  private:
    struct Slopes {
        kernel::FloatPlane x, y;
    };

    Team* team_;
    Pyramid reference_, templ_;
    std::vector<Slopes> slopes_;
    InformativeTiles informative_;
};

} // namespace sextant::registration
