// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/kernel/gaussian.hpp"
#include "sextant/kernel/halving.hpp"

#include <optional>
#include <vector>

namespace sextant::registration {

/// A frame that cannot be registered to any other: constant, or with samples that are not finite.
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
/// deviation, and halved again and again (kernel/halving.hpp). Made once, filled with one frame
/// after another.
class Pyramid {
  public:
    /// Requires  at least 16x16 pixels, 1 level or more, σ of 0 (no filter) or as
    ///           kernel::GaussianDerivatives; otherwise throws InvalidTask.
    explicit Pyramid(ImageShape shape, int levels = 0, double prefilter = usual_prefilter);

    /// Input     a whole frame of that shape (InvalidTask otherwise), of any samples.
    /// Throws    UnusableFrame, which names what is wrong.
    /// Cost      two passes over the frame and a filter; allocates nothing.
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

  private:
    void filter(const kernel::SampleView& frame);
    void normalise(const kernel::SampleView& frame);

    double prefilter_, scale_ = 1;
    std::optional<kernel::GaussianDerivatives> gaussian_; ///< none: frames are taken as they are
    std::vector<kernel::FloatPlane> levels_;
    std::vector<kernel::Halving> halvings_;
};

} // namespace sextant::registration
