// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/correct/gain_orientation.hpp"
#include "sextant/registration/correct/outliers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {
class Communicator;
}

namespace sextant::registration {

/// Changes the samples of some rows of a frame. Calls need not be in the order of frames or rows.
using RowChange = std::function<void(std::int64_t frame, Rows rows, std::span<float> samples)>;

/// Returns the header of a series when it is read as grey images with f32 samples.
FrameHeader as_grey_floats(FrameHeader header);

/// Presents a series with f32 samples and applies a change to the samples as they are read.
class ChangedFrames : public FrameSource {
  public:
    /// The source must outlive this object.
    ChangedFrames(FrameSource& source, RowChange change);
};

/// Inverts the contrast of some frames: a sample T becomes 2 · level − T, where `level` is the
/// frame's mean.
///
/// Input     one level per frame; NaN for frames that are not inverted.
RowChange mirrored_at(std::vector<double> levels);

/// Replaces the first columns, which the scan's flyback disturbs (row_fit.hpp), with gaps (NaN).
///
/// Input     the width of a row.
RowChange without_columns(std::int64_t columns, Elements width);

/// Sets the listed pixels within the rows to NaN. `pixels` is sorted.
void set_gaps(std::span<const Elements> pixels, Rows rows, Elements width,
              std::span<float> samples);

/// Opens a detector image: one frame with the shape of the series' frames. Called once per rank,
/// because sources are not thread-safe.
using OpenImage = std::function<std::unique_ptr<FrameSource>()>;

/// Reads a detector image as doubles, so that large offsets can be subtracted exactly. Throws
/// InvalidData, with both shapes, unless it is one image with the shape of the series' frames.
/// The image is rotated and mirrored.
std::vector<double> samples_of_image(FrameSource& image, const FrameSource& series,
                                     GainOrientation orientation = {});

/// A detector pixel: column and row.
using DetectorPixel = std::array<std::int64_t, 2>;

/// The calibration of the detector. All members may be empty.
struct DetectorImages {
    OpenImage dark;    ///< image without beam; subtracted from samples
    OpenImage gain;    ///< relative sensitivity; samples are divided by it
    OpenImage defects; ///< mask of defective pixels: nonzero where defective
    std::vector<DetectorPixel> defective = {}; ///< more defective pixels
    GainOrientation gain_orientation = {};     ///< applied to the gain image

    bool empty() const { return !dark && !gain && !defects && defective.empty(); }
};

/// A series with corrected samples: (sample − dark) / gain, where gain is divided by its mean so
/// that the mean of the series does not change. A pixel is a gap (NaN) in all frames if its gain is
/// not a positive finite number, if its dark value is not finite, or if it is listed as defective.
/// Outliers and blank lines are gaps only in the frame in which they occur.
///
/// The series is first inspected: each rank reads each of its frames once, finds the outliers, and
/// adds the samples to a sum over the series. settle() then all-gathers the outliers. Pixels that
/// are outliers in at least half of the frames or in the mean of the series are defective. Lines
/// that are blank in at least half of the frames belong to the specimen and are not gaps. After
/// settle(), a frame has the same bits on every rank and in every read.
///
/// Requires  detector images with one frame each, the shape of the series, and at least one usable
///           pixel (otherwise InvalidTask with the path and both shapes); defective pixels inside
///           the frame (InvalidTask).
/// Cost      find_outliers() once per frame. Memory: two planes if there is a dark or a gain image,
///           two planes during the inspection, and 8 bytes per outlier on every rank.
class CorrectedFrames : public FrameSource {
  public:
    /// Input     `offset`: the value that the source has already subtracted from its samples.
    CorrectedFrames(std::unique_ptr<FrameSource> source, double offset,
                    const DetectorImages& detector, const Despike& despike);

    /// The offset that is subtracted from the corrected samples: 0 if there is a dark image.
    double offset() const { return offset_; }
    /// A hash of the detector images.
    std::uint64_t detector_hash() const { return hash_; }

    /// The number of samples of a frame that were not finite when it was recorded.
    ///
    /// Requires  this rank has read the frame during the inspection (std::logic_error).
    std::int64_t recorded_gaps(std::int64_t frame) const { return inspected(frame).gaps; }
    /// The number of samples of a frame in blank lines. Requires a previous call of settle()
    /// (std::logic_error).
    std::int64_t blank(std::int64_t frame) const;
    /// The outliers of a frame that this rank has read during the inspection; none for other
    /// frames. After settle(), outliers at defective pixels are not included.
    OutlierSummary outliers(std::int64_t frame) const;

    /// Ends the inspection. Collective.
    /// Deterministic  for the same number of ranks.
    void settle(const Communicator& communicator);

    /// The number of defective pixels, known or found. Requires a previous call of settle()
    /// (std::logic_error).
    std::int64_t defects() const;
    /// Another orientation of the gain image that fits the series better; none if the given one
    /// fits, or if the series has fewer than three frames or outliers are not looked for. Known
    /// after settle().
    const std::optional<GainFit>& better_gain() const { return better_gain_; }
    /// Returns true if any sample of the series is corrected. Requires the same as defects().
    bool needed() const;
    /// True if the inspection found no defective pixels beyond those known from the detector
    /// images. A frame without outliers and blank lines is then corrected by the detector images
    /// alone. Requires the same as defects().
    bool found_no_defects() const { return defects() == known_defects_; }
    /// Releases the source to the caller.
    std::unique_ptr<FrameSource> release() && { return std::move(source_); }

  private:
    struct OutlierPixel {
        Elements pixel;
        float value;
    };
    struct Inspected {
        std::int64_t gaps = 0;
        OutlierSummary outliers;
        std::vector<OutlierPixel> pixels; ///< in order; empty after settle()
        double mean = 0;                  ///< mean of the frame
        BlankLines blank;
    };
    struct FrameBand {
        std::int64_t frame;
        LineBand band;
    };

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);
    void read_settled(std::int64_t frame, Rows rows, std::span<float> to);
    void inspect(std::int64_t frame, std::span<float> samples);
    void correct(Rows rows, std::span<float> samples) const;
    void summarise(Inspected& frame) const;
    const Inspected& inspected(std::int64_t frame) const;

    void read_detector(const DetectorImages& detector);
    std::vector<double> image_of(const OpenImage& open, std::string& names,
                                 GainOrientation orientation = {});
    void compare_gain();
    void mark_defects(const DetectorImages& detector);
    void find_defects(const Communicator& communicator, std::int64_t frames);
    void share_blank_lines(const Communicator& communicator, std::int64_t frames);
    std::span<const FrameBand> bands_of(std::int64_t frame) const;

    std::unique_ptr<FrameSource> source_;
    double offset_;
    Despike despike_;
    std::uint64_t hash_ = 0;
    /// Samples are (s − dark) · factor. Empty if there is neither a dark image nor a gain image.
    std::vector<float> dark_, factor_;
    std::vector<Elements> defects_;  ///< in order
    std::int64_t known_defects_ = 0; ///< number of defects known from the detector images

    bool settled_ = false;
    std::map<std::int64_t, Inspected> inspected_; ///< this rank's frames
    std::int64_t held_ = -1; ///< frame stored in samples_, during the inspection
    std::vector<float> samples_;
    std::vector<float> sum_; ///< sum of this rank's frames
    std::optional<GainFit> better_gain_;

    /// Outliers of frame i: pixels_[first_[i]] to pixels_[first_[i + 1]].
    std::vector<std::size_t> first_;
    std::vector<Elements> pixels_;
    std::vector<FrameBand> bands_; ///< ordered by frame
};

} // namespace sextant::registration
