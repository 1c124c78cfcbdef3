// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/pyramid.hpp"

#include <vector>

namespace sextant::registration {

/// Finds the parts of a frame that show more than noise: tiles of 32x32 pixels whose gradients are
/// larger than those of filtered noise.
class InformativeTiles {
  public:
    static constexpr Elements size = 32;

    /// The team must outlive this object.
    InformativeTiles(ImageShape image, double sigma, Team* team = nullptr);

    /// Examines a frame, given the gradients of the frame after a Gaussian of sigma, multiplied by
    /// `scale`. Noise is assumed to be white before the Gaussian; its variance in a tile is
    /// estimated from second differences along both axes, (36σ²)⁻¹ mean(N∗f)² with N = [1 −2 1; −2
    /// 4 −2; 1 −2 1], which smooth structure hardly affects. A tile is informative if its mean |∇|²
    /// exceeds 1.5 times that of the noise. Samples that are not finite are ignored.
    /// In an average of interpolated frames (`of_average`), second differences show only a part of
    /// the noise, which is allowed for.
    ///
    /// Source    Immerkær, Computer Vision and Image Understanding 64(2), 1996,
    ///           doi:10.1006/cviu.1996.0060
    void examine(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                 const kernel::FloatImage& slope_y, double scale, bool of_average = false);

    /// Returns the fraction of |∇|² in the pixel's tile that is not noise; 0 if the tile is not
    /// informative.
    double share(Elements x, Elements y) const {
        return share_[static_cast<std::size_t>(y / size * tiles_.width + x / size)];
    }

  private:
    double share_of_signal(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                           const kernel::FloatImage& slope_y, double scale, bool of_average,
                           Elements tile) const;

    ImageShape image_, tiles_;
    Team* team_;
    double slope_of_noise_; // mean |∇|² of filtered white noise of variance 1
    std::vector<double> share_;
};

/// Both frames of a pair on one level of their pyramids, and the gradient of the reference.
struct PairLevel {
    kernel::FloatImage reference, templ, slope_x, slope_y;
    double unit = 1; ///< width of this level's pixels, in pixels of the frames
};

/// Two frames prepared for a registration that minimises their difference. Created once and filled
/// for one pair after another; filling allocates nothing.
class PairPyramid {
  public:
    /// Uses fewer than `levels` levels if the last would be less than 16 pixels wide or high.
    /// Requires  as Pyramid. The team must outlive this object.
    PairPyramid(ImageShape shape, double prefilter, int levels, Team* team = nullptr);

    /// Requires  as Pyramid::fill; exceptions name the frame, reference or template.
    /// `of_average`: the reference is an average of resampled frames.
    void fill(const kernel::SampleView& reference, const kernel::SampleView& templ,
              bool of_average = false);

    int levels() const { return reference_.levels(); }
    /// The factor by which the reference's samples were multiplied, relative to the template's.
    double scale_ratio() const { return reference_.scale() / templ_.scale(); }
    PairLevel level(int number) const;                                   ///< 0 is the finest
    const InformativeTiles& informative() const { return informative_; } ///< tiles of the reference

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
