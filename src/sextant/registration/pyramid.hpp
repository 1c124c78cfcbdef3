// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <vector>

namespace sextant::registration {

/// A frame that cannot be registered to any other: constant, or without samples that are finite.
class UnusableFrame : public Error {
  public:
    using Error::Error;
};

/// The σ of the Gaussian that frames are filtered by, in pixels: sampling between the pixels of a
/// noisy image smooths it, most at half a pixel, which unfiltered draws every motion there.
inline constexpr double usual_prefilter = 1.5;

/// Frames are registered from their coarsest level on: three levels, fewer where the coarsest would
/// be less than 16 pixels wide or high, more where it would be larger than 256.
int usual_levels(ImageShape shape);

/// A frame as registration looks at it: filtered, its mean taken off and divided by its standard
/// deviation, and halved again and again (kernel/filter/float_plane.hpp). Made once, filled with
/// one frame after another.
///
/// Samples that are not finite are gaps, as those of a mask: the filter weighs what it sees around
/// them (normalised convolution) and leaves NaN where less than half of its weight is on anything.
/// On coarser levels whatever a gap enters is NaN.
/// Source  of the filter: Knutsson and Westin, CVPR 1993, doi:10.1109/CVPR.1993.341081
class Pyramid {
  public:
    /// Requires  at least 16x16 pixels, 1 level or more, σ of 0 (no filter) or as
    ///           kernel::GaussianDerivatives; otherwise throws InvalidTask. A team stays.
    explicit Pyramid(ImageShape shape, int levels = 0, double prefilter = usual_prefilter,
                     Team* team = nullptr);

    /// Input     a whole frame of that shape (InvalidTask otherwise), of any samples.
    /// Throws    UnusableFrame, which names what is wrong.
    /// Cost      two passes over the frame and a filter, twice that with gaps; allocates nothing,
    ///           but for the first frame with gaps.
    /// Deterministic  the same bits for any number of threads.
    void fill(const kernel::SampleView& frame);

    ImageShape shape() const { return levels_.front().shape(); }
    int levels() const { return static_cast<int>(levels_.size()); }
    /// Level 0 is the frame; what lies at x of a level lies at 2x of the one before.
    kernel::FloatImage level(int number) const {
        return levels_[static_cast<std::size_t>(number)].image();
    }
    double prefilter() const { return prefilter_; }
    /// What the samples of the frame were multiplied by.
    double scale() const { return scale_; }
    /// Whether any sample of a level is NaN.
    bool gaps() const { return gaps_; }

  private:
    /// Of a band of rows and of what the filter sees beside: where samples are known, and how much
    /// of the filter's weight lies there.
    struct Known {
        kernel::FloatPlane samples, weights, weight_seen;
    };
    /// What there is in some rows.
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

    double prefilter_, scale_ = 1;
    bool gaps_ = false;
    Team* team_;
    std::vector<kernel::GaussianDerivatives> gaussians_; ///< one a member; none: frames as they are
    std::vector<kernel::FloatPlane> levels_;
    std::vector<std::vector<kernel::Halving>> halvings_; ///< [level][member]
    std::vector<Known> known_;                           ///< one a member, once a frame had gaps
};

} // namespace sextant::registration
