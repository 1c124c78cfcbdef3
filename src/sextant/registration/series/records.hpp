// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/effects.hpp"
#include "sextant/registration/correct/bidirectional.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/correct/matched_pixels.hpp"
#include "sextant/registration/correct/static_pattern.hpp"
#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/series/consensus.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/transform/combined.hpp"
#include "sextant/registration/transform/spectra.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The options and results of registering a series. All steps use them.
namespace sextant {

/// The model of the frames' motions: rigid, rigid plus displacement fields (`nonrigid`), or another
/// family of affine motions (registration/pair/family_fit.hpp). `automatic` chooses the simplest of
/// translation, rigid, similarity and affine that describes the series.
enum class MotionModel { rigid, nonrigid, translation, similarity, affine, automatic };

std::string_view name(MotionModel model);

/// The mean of registered frames. `plain` averages the samples. `weighted` first matches the frames
/// to the level and contrast of the reference and weights them by their signal-to-noise ratios; it
/// is meant for series whose brightness changes.
enum class AverageKind { plain, weighted };

/// The use of a rank's threads.
enum class ThreadWork {
    automatic, ///< the predicted fastest (registration/series/division.hpp)
    rows,      ///< all threads share the rows of one frame
    frames     ///< each thread registers whole frames; in the scan, idle threads steal work
};

/// Removal of large-scale shading before frames are registered: if the shading changes much within
/// the series (`automatic`), always, or never. Averages still contain the shading.
enum class Flattening { automatic, on, off };

/// Treatment of a pattern that is fixed to the detector while the specimen moves, such as a beam
/// stop, fixed-pattern noise, dust or a background: it is found and subtracted (`automatic`), or
/// kept.
enum class StaticSearch { automatic, off };

/// Registration of the rows of scanned frames, which are recorded one after another
/// (registration/stages/stages.hpp): if they are recognised to jitter (`automatic`), always, or
/// never. `on` requires the rigid or translation model.
enum class ScanRows { automatic, on, off };

/// Treatment of frames of opposite contrast, as in focal series. `automatic` recognises them by
/// their correlation; `same` assumes the same contrast for all frames.
enum class ContrastSearch { automatic, same };

/// The area of all result images: the area of the reference, the smallest area that contains all
/// averaged frames (`united`), or the largest area that all averaged frames cover (`common`).
enum class Canvas { reference, united, common };

/// The maximum number of pixels of a `united` canvas.
inline constexpr Elements largest_canvas = Elements{1} << 31;

/// Options for registering a series. They must be the same on every rank.
struct RegistrationOptions {
    MotionModel model = MotionModel::rigid;
    /// The reference frame. Default: the first sound frame or, if frames overlap it too little, the
    /// frame in the middle of the motion.
    std::optional<std::int64_t> reference;
    /// Each stage after the first registers frames to the average of the previous stage.
    int stages = 2;
    /// Results have the same bits in every run on the same number of ranks.
    bool reproducible = false;
    bool recorded_mean = false; ///< also compute the mean without registration
    int threads = 1;            ///< threads per rank
    /// Memory per rank for pyramids that are kept until all motions between frames are known, and
    /// later for computing the median; at least registration::least_memory().
    Bytes memory = Bytes{64} << 20;
    /// The checkpoint folder. It must be visible to all ranks and is created if it does not exist.
    /// Each rank stores its results in a file there, so that a later run with the same series and
    /// options can resume a run that ended early. The files are removed at the end. Empty: no
    /// checkpoint; results stay in memory.
    std::string checkpoint;
    bool restart = false; ///< discard the checkpoint of an earlier run

    // Parameters of the method.
    registration::RigidOptions rigid;
    registration::NonrigidOptions nonrigid;
    registration::FrameLimits limits;
    double prefilter = registration::usual_prefilter; ///< σ of the Gaussian filter, pixels
    /// Each frame is registered to this number of previous frames, with a search; these
    /// registrations vote on the frame's position.
    int farthest = 3;
    double tolerance = 1.5; ///< registrations agree if they differ by at most this (RMS, pixels)
    /// Smallest fraction of the usable frames (FrameLimits) that must be registered; otherwise the
    /// run fails. Two frames are always required.
    double min_registered = .5;

    AverageKind average = AverageKind::plain;
    /// The frames that are averaged: "sound" (frames whose motion is not in doubt), "all", or a
    /// list of numbers and ranges such as "0-9,12".
    std::string frames = "sound";
    registration::Despike despike;         ///< replacement of outliers with gaps
    registration::DetectorImages detector; ///< dark image, gain image and defective pixels
    /// The pixels to compare; empty: all. Only the smallest rectangle around these pixels is read
    /// for the comparison, except for displacement fields and scanned rows. Results cover whole
    /// frames.
    registration::MatchedRegion region;
    /// Only the part of the region in this rectangle is compared: x, y, width and height. Empty:
    /// all of the region.
    std::vector<std::int64_t> roi;
    registration::Bidirectional bidirectional; ///< alignment of the odd rows of scanned frames
    /// The use of a rank's threads. It affects results only within the stated tolerance, and not at
    /// all if `reproducible`. `automatic` never uses more than 256 MiB per rank for whole frames.
    ThreadWork thread_work = ThreadWork::automatic;
    Flattening flatten = Flattening::automatic;
    StaticSearch static_pattern = StaticSearch::automatic;
    ContrastSearch contrast = ContrastSearch::automatic;
    /// `united` is rejected for displacement fields, because these are defined only within the
    /// reference.
    Canvas canvas = Canvas::reference;
    ScanRows scan_rows = ScanRows::automatic;
};

/// Returns a record of the options, except `rigid` (without its range), `nonrigid`, `limits`,
/// `detector` and `region`.
Record record_of(RegistrationOptions& options);
Effects effects_of(const RegistrationOptions& options);

/// Throws InvalidTask if options are mutually exclusive for every series.
void require_compatible(const RegistrationOptions& options);

/// The quality of a displacement field between a frame and the reference (nonrigid.hpp).
struct FieldFit {
    double known = 0;   ///< fraction of the nodes at which the frames determine the field
    double sigma = 0;   ///< RMS standard deviation at those nodes, pixels
    double freedom = 0; ///< SplineFitReport::freedom
};

/// Why a frame is left out: it cannot be read; its samples cannot be registered, for example
/// because it is dark; or it resembles no frame that it could be registered to.
enum class Omission : std::uint8_t { none, unreadable, unusable, unlike };

/// Summary of the displacements of a frame's rows.
struct RowFitSummary {
    double jitter = 0;               ///< RMS of the independent displacements of rows, pixels
    double drift_x = 0, drift_y = 0; ///< smooth drift from the first row to the last, pixels
    double sigma = 0;                ///< RMS standard deviation of a row's displacement, pixels
};

/// The trivially copyable part of a frame's registration, which ranks exchange.
struct FrameNumbers {
    std::int64_t frame = 0;
    /// The motion to the reference; the identity for the reference itself. `ambiguous` is set if
    /// the registrations around this frame, or around any frame in between, leave the motion
    /// ambiguous. A frame that overlaps the reference too little is registered through intermediate
    /// frames (stations.hpp); `overlap` and the NCCs then refer to the image that the frame was
    /// registered to. If that registration fails, the motion is composed of the motions of the
    /// frames in between.
    registration::RigidResult result;
    std::optional<FieldFit> field;

    /// True if registered to the previous frame again, starting at the voted motion.
    bool mended = false;
    bool static_bias = false; ///< see RegistrationResult::static_bias
    bool in_doubt = false;    ///< true if registrations to the frames around this frame disagree
    /// True if the motion relative to a neighbour is outside the range of the search, or if the NCC
    /// at the motion is lower than that without motion.
    bool implausible = false;
    /// True if registrations to nearby frames determine this frame's position well enough for this
    /// frame to link other frames (consensus.hpp).
    bool sound = true;
    /// Number of recorded samples that are not finite or are in lines without signal.
    std::int64_t gaps = 0;
    Seconds seconds = 0; ///< time spent on all registrations of this frame
    /// The motion to the last sound frame before this frame (if there is none, to the first sound
    /// frame), found before the scan.
    registration::RigidMotion from_before = {};
    /// The level and contrast of the frame, estimated from its registrations to nearby frames.
    registration::FrameContrast contrast = {};
    /// Outliers of this frame that were replaced by gaps. They are not included in `gaps`.
    registration::OutlierSummary outliers = {};
    /// The motion, if the model is similarity or affine. `result.motion` is then the nearest rigid
    /// motion.
    std::optional<registration::AffineMotion> affine = {};
    std::optional<RowFitSummary> row_fit = {};
    Omission omission = Omission::none; ///< the kind of FrameRegistration::left_out
};

/// The registration of a frame of a series.
struct FrameRegistration : FrameNumbers {
    void leave_out(Omission kind, std::string reason) {
        omission = kind;
        left_out = std::move(reason);
    }

    std::string left_out; ///< reason why the frame is not registered; empty if it is registered
    /// The reason why the frame is not part of the average and the median. Empty if it is, or if
    /// `left_out` gives the reason.
    std::string not_averaged = {};
    /// The motion including row displacements, if the rows of frames are registered.
    /// `result.motion` is its rigid part.
    std::shared_ptr<const registration::RowMotion> rows = {};
};

/// The result of registering a series, on every rank.
struct RegistrationResult {
    std::vector<FrameRegistration> frames; ///< all frames, including those left out
    std::int64_t reference = 0;
    std::string reference_reason; ///< why `reference` is not the first usable frame; empty if it is
    /// The area of all result images, in the coordinates of the reference.
    registration::PixelArea canvas;
    registration::Combined average;  ///< average and median of the aligned frames
    registration::Combined recorded; ///< mean of the same frames without alignment, if requested
    double offset = 0;               ///< add this to all samples of results (core/frame_source.hpp)
    std::size_t resumed = 0; ///< number of results that this rank reused from the checkpoint

    /// The time of each part of the run on this rank.
    struct Times {
        Seconds inspection = 0, registration = 0, stages = 0, average = 0, writing = 0;
    } seconds;

    /// Number of stages run. A pair has one stage. If frames still move by more than their
    /// deviations, or frames with a static pattern are rotated, there are up to three more stages
    /// than requested.
    int stages = 1;
    /// Number of frames with a nonempty FrameRegistration::not_averaged.
    std::int64_t not_averaged = 0;
    std::vector<std::string> warnings; ///< warnings about the whole series, as sentences
    std::int64_t defects = 0;          ///< number of defective pixels, which are gaps in all frames
    MotionModel model = MotionModel::rigid; ///< the model used; never `automatic`
    /// Why `automatic` chose this model; empty if the model was requested.
    std::string model_reason;
    registration::ThreadPlan thread_plan; ///< use of threads, and predicted times
    /// Statistics of threads that take whole frames, for the threads of all ranks in rank order.
    registration::FrameThreadUse thread_use;
    /// The static pattern of the detector; null if none was found.
    std::shared_ptr<const registration::StaticPattern> static_pattern = {};
    /// True if a static pattern of the detector seems to bias the motions towards zero. All frames
    /// are then marked FrameNumbers::static_bias.
    bool static_bias = false;
    /// The rectangle of frames that was compared, and the number of compared pixels in it; the area
    /// of whole frames without RegistrationOptions::region and roi.
    registration::PixelArea matched;
    std::int64_t matched_pixels = 0;
    /// The displacement of odd rows that was removed from all frames; empty if none was.
    std::optional<registration::RowShift> bidirectional = {};
    bool flattened = false; ///< true if the frames' shading was removed before registration
    /// The residual motion within frames whose motion is not in doubt; 0 for displacement fields.
    registration::SeriesMisfit misfit = {};
    /// RMS jitter of rows and drift within frames, pixels; empty if rows are not registered.
    std::optional<RowFitSummary> rows = {};
    bool jitter_recognised = false; ///< true if rows are registered because they seem to move
    /// Number of columns at the left edge that the scan's flyback disturbs. They are gaps in all
    /// frames. 0 if rows are not registered.
    std::int64_t flyback = 0;
    /// The Fourier ring correlation of two half averages, each of every second frame. Only on rank
    /// 0, if two or more frames are averaged.
    registration::RingCorrelation resolution = {};
    /// The number of frames per sum, if sums were registered first because frames carry too little
    /// signal to be registered to one another (sums.hpp); otherwise 0.
    std::int64_t frames_per_sum = 0;
    std::int64_t inverted = 0; ///< number of registered frames with the opposite contrast of the
                               ///< reference; the signals of their contrasts are negative
};

/// Describes the use of threads and, if requested, the prediction behind it.
std::string describe_threads(const RegistrationResult& result, bool with_prediction);

/// Returns an area as fields of a result: x, y, width, height.
Record record_of_area(const registration::PixelArea& area);

/// Returns a record of the result without frames and averages.
Record record_of(const RegistrationResult& result);

} // namespace sextant
