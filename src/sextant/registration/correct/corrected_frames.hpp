// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/correct/outliers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {
class Communicator;
}

namespace sextant::registration {

/// Changes the samples of some rows of a frame. Calls need not be in the order of frames or rows.
using RowChange = std::function<void(std::int64_t frame, Rows rows, std::span<float> samples)>;

/// Returns the header of a series that is read as grey images of f32.
FrameHeader as_grey_floats(FrameHeader header);

/// A series, as f32, whose samples are changed when they are read.
class ChangedFrames : public FrameSource {
  public:
    /// The source must outlive this object.
    ChangedFrames(FrameSource& source, RowChange change);

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);

    FrameSource& source_;
    RowChange change_;
    std::vector<float> samples_;
};

/// Inverts the contrast of some frames: their samples T become 2 · level − T, where level is the
/// frame's mean.
///
/// Input     for each frame, its level if it is to be inverted, otherwise NaN.
RowChange mirrored_at(std::vector<double> levels);

/// Turns the first columns, which the flyback of a scan disturbs (row_fit.hpp), into gaps (NaN).
///
/// Input     the width of a row.
RowChange without_columns(std::int64_t columns, Elements width);

/// Opens an image of the detector: one frame of the shape of the frames of a series. Called once on
/// each rank, because sources are not thread-safe.
using OpenImage = std::function<std::unique_ptr<FrameSource>()>;

/// A pixel of the detector: column and row.
using DetectorPixel = std::array<std::int64_t, 2>;

/// The calibration of the detector. All members may be empty.
struct DetectorImages {
    OpenImage dark;    ///< samples without beam, which are subtracted
    OpenImage gain;    ///< relative sensitivity, by which samples are divided
    OpenImage defects; ///< defective pixels are not 0
    std::vector<DetectorPixel> defective = {}; ///< more defective pixels

    bool empty() const { return !dark && !gain && !defects && defective.empty(); }
};

/// A series with its samples corrected: (sample − dark) / gain, where gain is divided by its mean
/// so that the mean of the series does not change. Pixels are gaps (NaN) in all frames if the gain
/// is not a positive finite number, if the dark image is not finite there, or if they are listed as
/// defective. Outliers and blank lines are gaps as well, in the frame in which they occur.
///
/// The series is first inspected: each rank reads each of its frames once and finds its outliers,
/// and adds the samples to a sum over the series. settle() then shares the outliers among all
/// ranks. Pixels that are outliers in at least half of the frames or in the mean of the series are
/// defective. Lines that are blank in at least half of the frames belong to the specimen and are
/// not gaps. From then on, every frame has the same bits however it is read.
///
/// Requires  images of the shape of the frames, one each, with a usable pixel (InvalidTask with the
///           path and both shapes otherwise); defective pixels in the frames (InvalidTask).
/// Cost      find_outliers() once per frame. Memory: two planes if there is a dark or a gain image,
///           two planes during the inspection, and 8 bytes per outlier on every rank.
class CorrectedFrames : public FrameSource {
  public:
    /// Input     `offset`: what the source has already subtracted from its samples.
    CorrectedFrames(std::unique_ptr<FrameSource> source, double offset,
                    const DetectorImages& detector, const Despike& despike);

    /// The offset that is subtracted from the corrected samples: 0 if there is a dark image.
    double offset() const { return offset_; }
    /// A hash of the images of the detector.
    std::uint64_t detector_hash() const { return hash_; }

    /// The number of samples of a frame that were not finite when it was recorded.
    ///
    /// Requires  this rank has read the frame during the inspection (std::logic_error).
    std::int64_t recorded_gaps(std::int64_t frame) const { return inspected(frame).gaps; }
    /// The number of samples of a frame in blank lines. Requires settled (std::logic_error).
    std::int64_t blank(std::int64_t frame) const;
    /// The outliers of a frame that this rank has read during the inspection; none for others. Once
    /// settled, those at defective pixels are not included.
    OutlierSummary outliers(std::int64_t frame) const;

    /// Ends the inspection. Collective.
    /// Deterministic  for the same number of ranks.
    void settle(const Communicator& communicator);

    /// The number of defective pixels, known or found. Requires settled (std::logic_error).
    std::int64_t defects() const;
    /// Returns true if any sample of the series is corrected. Requires as defects().
    bool needed() const;
    /// True if all defective pixels are those of the detector's images. A frame without outliers
    /// and blank lines then has the samples that these images alone give it. Requires as defects().
    bool found_no_defects() const { return defects() == known_defects_; }
    /// Returns the source.
    std::unique_ptr<FrameSource> release() && { return std::move(source_); }

  private:
    struct Inspected {
        std::int64_t gaps = 0;
        OutlierSummary outliers;
        std::vector<Elements> pixels; ///< of the outliers, in order
        std::vector<float> values;    ///< of the outliers
        double mean = 0;              ///< of the frame
        BlankLines blank;
    };
    struct FrameBand {
        std::int64_t frame;
        LineBand band;
    };

    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);
    void read_settled(std::int64_t frame, Rows rows, std::span<float> to);
    void inspect(std::int64_t frame);
    void correct(Rows rows, std::span<float> samples) const;
    void summarise(Inspected& frame) const;
    const Inspected& inspected(std::int64_t frame) const;

    void read_detector(const DetectorImages& detector);
    std::vector<double> image_of(const OpenImage& open, std::string& names);
    void mark_defects(const DetectorImages& detector);
    void find_defects(const Communicator& communicator);
    void share_blank_lines(const Communicator& communicator);
    std::span<const FrameBand> bands_of(std::int64_t frame) const;
    void forget_defects();

    std::unique_ptr<FrameSource> source_;
    double offset_;
    Despike despike_;
    std::uint64_t hash_ = 0;
    /// Samples are (s − dark) · factor. Empty without dark and gain image.
    std::vector<float> dark_, factor_;
    std::vector<Elements> defects_;  ///< in order
    std::int64_t known_defects_ = 0; ///< number of those of the detector's images

    bool settled_ = false;
    std::map<std::int64_t, Inspected> inspected_; ///< this rank's frames
    std::int64_t held_ = -1;                      ///< frame in samples_, during the inspection
    std::vector<float> samples_;
    std::vector<float> sum_; ///< of this rank's frames

    /// Outliers of frame i: pixels_[first_[i]] to pixels_[first_[i + 1]].
    std::vector<std::size_t> first_;
    std::vector<Elements> pixels_;
    std::vector<FrameBand> bands_; ///< ordered by frame
};

} // namespace sextant::registration
