// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/synthetic.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant::bench {

/// Faults of a series that microscopes and detectors cause; none by default. A frame number of −1
/// means no frame. Brightnesses are in means: multiples of the mean counts per pixel of the frame.
struct Faults {
    /// The dose changes linearly from the first frame to the last, in electrons per pixel. 0: the
    /// dose of the plan.
    double dose_first = 0, dose_last = 0;
    std::int64_t dim_frame = -1; ///< a frame of another dose
    double dim_factor = .1;      ///< its dose divided by that of its neighbours
    /// Peak of a smooth pattern that is added in the last frame, in means. It is fixed to the
    /// specimen and grows linearly from 0 in the first frame.
    double contamination = 0;
    bool contamination_patch = false;    ///< the pattern covers one disc instead of the whole frame
    std::int64_t spike_frame = -1;       ///< a frame in which one pixel is bright
    double spike = 300;                  ///< brightness of that pixel, means
    std::int64_t hot_pixels = 0;         ///< number of pixels that are bright in every frame
    double hot = 40;                     ///< their brightness, means
    std::int64_t cosmic_rays = 0;        ///< number of short bright streaks in every third frame
    std::int64_t upside_down_frame = -1; ///< a frame rotated by 180 degrees about its centre
    std::int64_t half_blank_frame = -1;  ///< a frame without beam in its lower half
    std::int64_t blank_frame = -1;       ///< a frame without beam
    bool inverts = false; ///< contrast changes its sign for the second half of the series
    double jitter = 0;    ///< standard deviation of the horizontal shift of each row, pixels
    double slow_scan = 0; ///< standard deviation of the shift between first and last row, pixels
    /// Number of columns at the left edge that the flyback of a scan disturbs: their content is
    /// displaced by up to a third of this number, differently in each row.
    std::int64_t flyback = 0;
    double magnification = 0; ///< relative increase of the magnification up to the last frame
    double shear = 0;         ///< shear of the last frame: shift to the right per row
    double saturated = 0;     ///< fraction of the pixels of the first frame that are clipped
    double gain = 0;          ///< largest deviation of a pixel's gain from 1; fixed to the detector

    // More faults that are fixed to the detector.
    double gain_smooth = 0;   ///< standard deviation of a smooth pattern of the gain
    double stop = 0;          ///< radius of a disc that is saturated in every frame, pixels
    double spot = 0;          ///< peak of a bright spot, means
    double vignette = 0;      ///< fraction of the light that is lost in the corners
    std::int64_t dust = 0;    ///< number of specks that absorb 30 % of the light
    double background = 0;    ///< mean of smooth light that does not come from the specimen, means
    std::int64_t columns = 0; ///< groups of two to four adjacent columns that are dim or bright
    /// The light of spots and backgrounds is subtracted from the counts, and gains and losses are
    /// divided out, so that only the noise that they cause remains.
    bool removed = false;
};

/// Returns a record of the faults.
Record record_of(Faults& faults);

/// A synthetic series with faults and known motions, in memory.
///
/// Pixel p of frame i shows the specimen at position(i, p), in the coordinates of an ideal frame 0
/// without shifts of rows. The specimen is evaluated there in closed form; no frame is resampled.
/// Without faults, the frames are those of registration::SyntheticSeries.
///
/// Deterministic  The same plan and faults give the same frames.
class FaultySeries {
  public:
    using Point = registration::Point;

    /// Throws InvalidTask for an impossible plan, and for faults of frames that do not exist.
    FaultySeries(registration::SeriesPlan plan, Faults faults,
                 const registration::Specimen& specimen);

    const registration::SeriesPlan& plan() const { return series_.plan(); }
    const Faults& faults() const { return faults_; }
    /// Opens the frames. This object must outlive the source.
    std::unique_ptr<FrameSource> open() const;
    /// Returns the samples of a frame, row by row.
    std::span<const float> frame(std::int64_t frame) const;

    /// Returns false for frames that do not show the specimen.
    bool recoverable(std::int64_t frame) const { return frame != faults_.blank_frame; }
    /// Returns the position in a frame of the feature at x in the ideal frame 0; none if the frame
    /// is not recoverable. Without `rows`, the shifts of single rows are ignored.
    std::optional<Point> truth(std::int64_t frame, Point x, bool rows = true) const;
    /// Returns the position in the ideal frame 0 of the feature at p in a frame.
    Point position(std::int64_t frame, Point p, bool rows = true) const;
    /// Returns the shift of a row to the right, in pixels.
    double shift_of_row(std::int64_t frame, double y) const;
    /// Returns the Cramér-Rao bound of the rigid motion of a frame relative to the specimen, of
    /// which the area of frame 0 is known without noise: the least possible RMS error, in pixels,
    /// over the central part of the frame (`share` of it along each axis). Shifts of rows, faults
    /// of the detector and clipping are ignored. Infinite for frames without information.
    /// Input     the specimen that the series was made from.
    double bound(std::int64_t frame, const registration::Specimen& specimen, double share) const;

  private:
    struct Bump {
        Point centre;
        double width = 0, height = 0;
    };
    /// A linear map about the centre of a frame.
    struct Matrix {
        double xx = 1, xy = 0, yx = 0, yy = 1;
    };

    Matrix enlargement(std::int64_t frame) const;
    double progress(std::int64_t frame) const;
    double dose(std::int64_t frame) const;
    double flyback_shift(double x) const;
    double contamination(Point x) const;
    double brightness(std::int64_t frame, Point x, const registration::Specimen& specimen) const;
    bool is_dark(std::int64_t frame, Elements row) const;
    void make_scan();
    void make_contamination();
    void make_detector();
    void expose(std::int64_t frame, const registration::Specimen& specimen);
    void damage(std::int64_t frame);
    void add_streak(std::span<float> samples, double brightness, registration::NoiseSource& noise);
    void saturate();

    Faults faults_;
    registration::SyntheticSeries series_;
    ImageShape shape_;
    Point centre_;
    std::vector<double> row_shifts_;  ///< [frame][row]; empty without jitter
    std::vector<Point> scan_drifts_;  ///< between the first and the last row; empty without
    std::vector<Bump> contamination_; ///< summed, then divided by contamination_peak_
    double contamination_peak_ = 1;
    std::vector<std::size_t> hot_;
    std::vector<float> gain_;
    /// By pixel: the transmitted fraction of the light, and light that is added, in means; empty
    /// without such faults.
    std::vector<double> transmission_, background_;
    std::vector<std::size_t> stopped_; ///< pixels that are always saturated
    std::vector<float> samples_;
};

/// The Cramér-Rao bound for rigid registration of two frames of electron counts: a lower bound of
/// the RMS error of any estimator of their motion, in pixels, over the central part of the frame.
/// The Fisher information is Σ (∇I·∂φ)(∇I·∂φ)ᵀ/(2I) over the pixels, estimated from every fourth
/// pixel.
/// Input     `dose`: electrons per pixel at specimen brightness 1; `share`: size of the central
///           part relative to the frame, along each axis.
double cramer_rao(const registration::Specimen& specimen, ImageShape shape, double dose,
                  double share);

} // namespace sextant::bench
