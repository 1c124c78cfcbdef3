// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/fourier_lines.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {
class Communicator;
}

namespace sextant::registration {

/// The part of a frame from which the layers of a series are computed (layers.hpp): the centre of a
/// level of the frame's pyramid.
struct PatternView {
    int level = 0;
    PixelArea area; ///< in pixels of the level

    /// The width of the level's pixels, in pixels of the frame.
    double unit() const { return static_cast<double>(1 << level); }
};

/// Input     the shape of a frame, and the number of frames of the series.
PatternView pattern_view(ImageShape frame, std::int64_t frames);

/// Returns this part of a frame, in units of the frame's samples.
std::vector<float> viewed_part(const PatternView& view, const Pyramid& frame);

/// Returns the frames, at most 24 and evenly spread, from which the layers are found; none of
/// frames of less than 32 pixels per side.
std::vector<std::int64_t> frames_for_layers(std::int64_t frames, ImageShape shape);

/// The pattern that is fixed to the detector. The mean of the patterns over the frame is 0.
struct StaticPattern {
    ImageShape shape; ///< of the frames that are compared
    /// The pattern that is subtracted for registration. At wavelengths at which the layers cannot
    /// be separated, it is the mean of the series.
    std::vector<float> of_matching;
    /// The pattern that is subtracted from results. It is 0 at these wavelengths, so that nothing
    /// of the specimen is subtracted.
    std::vector<float> of_results;
    /// Pixels with the same sample in all frames, for example behind a beam stop. They become gaps.
    std::vector<Elements> constant;
    double deviation = 0; ///< standard deviation of `of_results`
    /// By frame: the factor by which the pattern is multiplied.
    std::vector<float> levels;

    /// Returns `of_results` as an image, with NaN at constant pixels.
    std::vector<float> image() const;
};

/// Returns the change that subtracts `values` of a pattern, multiplied by the frame's level, and
/// replaces constant pixels with gaps.
RowChange without_static(std::shared_ptr<const StaticPattern> pattern,
                         std::vector<float> StaticPattern::*values);

/// Computes the static pattern of a series from whole frames and the displacements of the specimen,
/// by the formulas of Layers. Each rank adds its frames.
///
/// The specimen's contribution to the mean of the series is computed from frames reduced to at most
/// 1024 pixels per side.
///
/// Cost      memory: 12 bytes per pixel of a frame, and 32 bytes per pixel of the reduced frame.
class StaticSum {
  public:
    explicit StaticSum(ImageShape shape);

    /// Adds a frame in which the specimen is displaced by `shift`, in pixels; without a shift, only
    /// its constant pixels.
    void add(std::span<const float> samples, std::optional<Point> shift);

    /// Returns the pattern, the same on every rank; only constant pixels if frames were added
    /// without shifts. Requires that a frame was added on some rank. Collective.
    /// Deterministic  for the same number of ranks.
    StaticPattern pattern(const Communicator& communicator);

  private:
    using Values = std::vector<std::complex<float>>;

    Values spectrum_of(std::span<const float> samples, float mean);

    ImageShape shape_, reduced_, padded_;
    Elements factor_; ///< width of a reduced pixel
    FourierImage forward_, backward_;
    std::vector<float> sum_;  ///< of the frames without their means
    std::vector<float> same_; ///< the sample of all frames; NaN: they differ; infinite: no frames
    Values aligned_, scratch_;
    std::vector<Point> shifts_; ///< reduced pixels
};

} // namespace sextant::registration
