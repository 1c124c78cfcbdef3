// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <span>
#include <vector>

namespace sextant::registration {

/// Thrown for a frame that cannot be registered to any other frame, because it is constant or has
/// no finite samples.
class UnusableFrame : public Error {
  public:
    using Error::Error;
};

/// The usual σ, in pixels, of the Gaussian filter of frames. Without the filter, interpolation
/// smooths a noisy image most at half-pixel shifts, which biases every motion towards half pixels.
inline constexpr double usual_prefilter = 1.5;

/// Returns samples of a whole frame as the input of a pyramid or a fit.
inline kernel::SampleView view_of(std::span<const float> samples, ImageShape shape) {
    return {samples.data(), shape.width, {0, 0, shape.width, shape.height}, shape};
}

/// Returns the usual number of pyramid levels: three; fewer if the coarsest level would be less
/// than 16 pixels wide or high; more if it would be larger than 256 pixels.
int default_levels(ImageShape shape);

/// A frame prepared for registration: filtered, normalised to mean 0 and standard deviation 1, and
/// halved repeatedly (kernel/filter/float_plane.hpp). Created once, filled with one frame after
/// another.
///
/// Samples that are not finite, such as masked samples, are gaps. The filter averages the samples
/// around gaps (normalised convolution) and gives NaN if less than half of its weight is on finite
/// samples. On coarser levels, a pixel is NaN if any contributing pixel is NaN.
/// Source    normalised convolution: Knutsson and Westin, CVPR 1993, doi:10.1109/CVPR.1993.341081
class Pyramid {
  public:
    /// Requires  at least 16x16 pixels; levels >= 0 (0: the usual number); a σ of 0 (no filter) or
    ///           in the range of kernel::GaussianDerivatives. Otherwise throws InvalidTask. The
    ///           team must outlive this object.
    explicit Pyramid(ImageShape shape, int levels = 0, double prefilter = usual_prefilter,
                     Team* team = nullptr);

    /// Input     a whole frame of this pyramid's shape (InvalidTask otherwise), of any sample type.
    /// Throws    UnusableFrame, with the reason.
    /// Cost      two passes over the frame and one filter; twice that with gaps. Allocates only for
    ///           the first frame with gaps.
    /// Deterministic  the bits do not depend on the number of threads.
    void fill(const kernel::SampleView& frame);

    ImageShape shape() const { return shape_; }
    int levels() const { return static_cast<int>(levels_.size()); }
    /// Level 0 is the full resolution; position x of a level is position 2x of the next finer
    /// level.
    kernel::FloatImage level(int number) const {
        return levels_[static_cast<std::size_t>(number)].image();
    }
    double prefilter() const { return prefilter_; }
    /// The factor by which the frame's samples were multiplied.
    double scale() const { return scale_; }
    /// The mean of the filtered frame, which was subtracted.
    double mean() const { return mean_; }
    /// Write access to the samples of a level, for images that are computed from other pyramids.
    kernel::Plane plane(int number) { return levels_[static_cast<std::size_t>(number)].plane(); }
    void set_gaps(bool gaps) { gaps_ = gaps; }
    /// Exchanges level 0 for another plane, so that pyramids that are kept for their coarser levels
    /// can be filled in the memory of one plane. Requires a plane of this shape, or an empty one;
    /// fill() requires the former.
    void swap_finest(kernel::FloatPlane& plane) { std::swap(levels_.front(), plane); }
    /// True if any sample of a level is NaN.
    bool gaps() const { return gaps_; }

  private:
    /// Scratch for a band of rows with the filter's margin: samples (0 in gaps), weights (1, or 0
    /// in gaps), and filtered weights.
    struct Known {
        kernel::FloatPlane samples, weights, weight_seen;
    };
    /// The number of finite samples in some rows, with a flag that is set if the filtered rows
    /// contain NaN.
    struct RowsSeen {
        Elements finite = 0;
        bool gaps = false;
    };

    void filter(const kernel::SampleView& frame);
    void filter_rows(const kernel::SampleView& frame, const Tile& rows, kernel::Plane to,
                     int member);
    void filter_around_gaps(const kernel::SampleView& frame);
    RowsSeen filter_rows_around_gaps(const kernel::SampleView& frame, const Tile& rows, int member);
    Tile seen_from(const Tile& rows) const;
    void make_room();
    void normalise(double mean, double deviation);
    void halve();

    ImageShape shape_;
    double prefilter_, scale_ = 1, mean_ = 0;
    bool gaps_ = false;
    Team* team_;
    std::vector<kernel::GaussianDerivatives> gaussians_; ///< by team member; empty if unfiltered
    std::vector<kernel::FloatPlane> levels_;
    std::vector<std::vector<kernel::Halving>> halvings_; ///< [level][team member]
    /// one per team member, allocated for the first frame with gaps
    std::vector<Known> known_;
};

/// Finds the parts of a frame that show more than noise: tiles of 32x32 pixels whose gradients
/// exceed those of filtered noise.
class InformativeTiles {
  public:
    static constexpr Elements size = 32;

    /// The team must outlive this object.
    InformativeTiles(ImageShape image, double sigma, Team* team = nullptr);

    /// Examines a frame, given the gradients of the filtered frame multiplied by `scale`. Noise is
    /// assumed to be white before the filter. Its variance in a tile is estimated from second
    /// differences along both axes as mean((N∗f)²)/36 with N = [1 −2 1; −2 4 −2; 1 −2 1]; smooth
    /// structure hardly affects this estimate. A tile is informative if its mean |∇|² exceeds 1.5
    /// times that of the noise. Samples that are not finite are ignored. In an average of
    /// interpolated frames (`of_average`), second differences show only a part of the noise; the
    /// estimate is corrected for this.
    ///
    /// Source    Immerkær, Computer Vision and Image Understanding 64(2), 1996,
    ///           doi:10.1006/cviu.1996.0060
    void examine(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                 const kernel::FloatImage& slope_y, double scale, bool of_average = false);

    /// Returns the fraction of |∇|² that is not noise, in the tile that contains a pixel; 0 if the
    /// tile is not informative.
    double signal(Elements x, Elements y) const {
        return signal_[static_cast<std::size_t>(y / size * tiles_.width + x / size)];
    }

  private:
    double fraction_of_signal(const kernel::SampleView& frame, const kernel::FloatImage& slope_x,
                              const kernel::FloatImage& slope_y, double scale, bool of_average,
                              Elements tile) const;

    ImageShape image_, tiles_;
    Team* team_;
    double slope_of_noise_; // mean |∇|² of filtered white noise of variance 1
    std::vector<double> signal_;
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
    /// Requires  the same as Pyramid. The team must outlive this object.
    PairPyramid(ImageShape shape, double prefilter, int levels, Team* team = nullptr);

    /// Requires  the same as Pyramid::fill(); errors say which frame is at fault, reference or
    ///           template.
    /// `of_average`: true if the reference is an average of resampled frames.
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
