// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
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
#include <vector>

// The options and the results of registering a series, which all of its steps use.
namespace sextant {

/// The model of the frames' motions: rigid motions alone, or with displacement fields added; or
/// another family of affine motions (registration/pair/family_fit.hpp). `automatic` chooses the
/// simplest of translation, rigid, similarity and affine that describes the series.
enum class MotionModel { rigid, nonrigid, translation, similarity, affine, automatic };

std::string_view name(MotionModel model);

/// The mean of registered frames: of their samples, or of samples brought to the level and the
/// contrast of the reference and weighted by the frames' signal-to-noise ratios. The latter is for
/// series whose brightness changes.
enum class AverageKind { plain, weighted };

/// The division of the frames of a rank among its threads.
enum class ThreadWork {
    automatic, ///< as predicted to be fastest (registration/series/division.hpp)
    rows,      ///< all threads share the rows of one frame
    frames     ///< each thread registers whole frames; in the scan, idle threads steal work
};

/// The removal of large-scale shading before frames are registered: if it changes much in the
/// series, always, or never. Averages contain the shading.
enum class Flattening { automatic, on, off };

/// The treatment of frames of opposite contrast, as in focal series: they are recognised by their
/// correlation, or all frames have the same contrast.
enum class ContrastSearch { automatic, same };

/// The area of all result images: that of the reference, the smallest one that contains all frames
/// that are averaged, or the largest one that all of these cover.
enum class Canvas { reference, united, common };

/// The number of pixels of the largest canvas that contains all frames.
inline constexpr Elements largest_canvas = Elements{1} << 31;

/// Options for registering a series. They must be the same on every rank.
struct RegistrationOptions {
    MotionModel model = MotionModel::rigid;
    /// Default: the first sound frame or, if frames overlap it too little, that in the middle of
    /// the motion.
    std::optional<std::int64_t> reference;
    int stages = 2; ///< each stage after the first registers to the average of the previous one
    bool reproducible = false;  ///< the same bits in every run on the same number of ranks
    bool recorded_mean = false; ///< also compute the mean without registration
    int threads = 1;            ///< threads per rank
    /// Memory per rank for the samples of the median; at least registration::least_memory().
    Bytes memory = Bytes{64} << 20;
    /// A folder visible to all ranks, created if it does not exist. Each rank stores its results in
    /// a file there, so that a later run with the same series and options can resume one that ended
    /// early. The files are removed at the end. Empty: results are kept in memory.
    std::string checkpoint;
    bool restart = false; ///< discard the checkpoint of an earlier run

    // Parameters of the method.
    registration::RigidOptions rigid;
    registration::NonrigidOptions nonrigid;
    registration::FrameLimits limits;
    double prefilter = registration::usual_prefilter; ///< σ of the Gaussian filter, pixels
    /// Each frame is registered to this number of previous frames, without a starting estimate;
    /// these registrations vote on its position.
    int farthest = 3;
    double tolerance = 1.5; ///< registrations agree if they differ by at most this (RMS, pixels)

    AverageKind average = AverageKind::plain;
    /// The frames that are averaged: "sound" (those whose motion is not in doubt), "all", or a list
    /// of numbers and ranges such as "0-9,12".
    std::string frames = "sound";
    registration::Despike despike;         ///< replacement of outliers by gaps
    registration::DetectorImages detector; ///< dark and gain image, and defective pixels
    /// The division of a rank's work among its threads; results are the same within the stated
    /// tolerance, and have the same bits if `reproducible`. `automatic` never takes more than 256
    /// MiB per rank for whole frames.
    ThreadWork thread_work = ThreadWork::automatic;
    Flattening flatten = Flattening::automatic;
    ContrastSearch contrast = ContrastSearch::automatic;
    /// `united` is refused for displacement fields, which are defined only in the reference.
    Canvas canvas = Canvas::reference;
    /// Also register the rows of frames, which a scan records one after another
    /// (registration/stages/stages.hpp). Requires the model rigid or translation.
    bool scan_rows = false;
};

/// Returns a record of the options, except `rigid`, `nonrigid`, `limits` and `detector`.
Record record_of(RegistrationOptions& options);

/// Throws InvalidTask if options exclude each other for any series.
void require_compatible(const RegistrationOptions& options);

/// The quality of a field between a frame and the reference (nonrigid.hpp).
struct FieldFit {
    double known = 0;   ///< fraction of the nodes at which the frames determine the field
    double sigma = 0;   ///< RMS standard deviation at those nodes, pixels
    double freedom = 0; ///< SplineFitReport::freedom
};

/// The displacements of the rows of a frame.
struct RowFitSummary {
    double jitter = 0;               ///< RMS of the independent displacements of rows, pixels
    double drift_x = 0, drift_y = 0; ///< smooth drift from the first row to the last, pixels
    double sigma = 0;                ///< RMS standard deviation of a row's displacement, pixels
};

/// The numbers of a frame's registration, which ranks exchange.
struct FrameNumbers {
    std::int64_t frame = 0;
    /// The motion to the reference; the identity for the reference itself. `ambiguous` is set if
    /// the registrations of the frames around this one, or around any frame in between, leave the
    /// motion ambiguous. If the frame overlaps the reference too little, it is registered by way of
    /// other frames (stations.hpp), and `overlap` and the NCCs refer to what it was registered to.
    /// If it is unrelated to that, the motion is composed from those of the frames in between.
    registration::RigidResult result;
    std::optional<FieldFit> field;

    bool mended = false;   ///< registered to the previous frame with a start from the vote
    bool in_doubt = false; ///< registrations to the frames around this one disagree
    /// True if the registrations to nearby frames determine this frame's position well enough for
    /// others to be registered by way of it (consensus.hpp).
    bool sound = true;
    /// Number of recorded samples that are not finite, or in lines without signal.
    std::int64_t gaps = 0;
    Seconds seconds = 0; ///< time spent on all registrations of this frame
    /// The motion to the last sound frame before this one, or to the first one; found before the
    /// scan.
    registration::RigidMotion from_before = {};
    /// The level and the contrast of the frame, from its registrations to the frames around it.
    registration::FrameContrast contrast = {};
    /// Outliers of this frame that were replaced by gaps. They are not included in `gaps`.
    registration::OutlierSummary outliers = {};
    /// The motion, if the model is similarity or affine; `result.motion` is the rigid motion
    /// nearest to it.
    std::optional<registration::AffineMotion> affine = {};
    std::optional<RowFitSummary> row_fit = {};
};

/// The registration of a frame of a series.
struct FrameRegistration : FrameNumbers {
    std::string left_out; ///< why the frame is not registered; empty if it is registered
    /// Why the frame is not part of the average and the median; empty if it is, or if left_out.
    std::string not_averaged = {};
    /// The motion with the displacements of rows, with RegistrationOptions::scan_rows;
    /// `result.motion` is its rigid part.
    std::shared_ptr<const registration::RowMotion> rows = {};
};

/// A registered series, on every rank.
struct RegistrationResult {
    std::vector<FrameRegistration> frames; ///< all frames, also those left out
    std::int64_t reference = 0;
    std::string reference_reason; ///< why it is not the first usable frame; empty if it is
    /// The area of all result images, in the coordinates of the reference.
    registration::PixelArea canvas;
    registration::Combined average;  ///< of the registered frames, aligned
    registration::Combined recorded; ///< mean of the same frames, not aligned; if requested
    double offset = 0;       ///< to be added to all samples of results (core/frame_source.hpp)
    std::size_t resumed = 0; ///< number of results taken from the checkpoint, on this rank

    /// The time of each part on this rank.
    struct Times {
        Seconds inspection = 0, registration = 0, stages = 0, average = 0, writing = 0;
    } seconds;

    /// Number of stages that were run. A pair has one; a series whose frames still move by more
    /// than their deviations has up to three more than requested.
    int stages = 1;
    std::int64_t not_averaged = 0;     ///< number of frames with a reason in `not_averaged`
    std::vector<std::string> warnings; ///< sentences about the whole series
    std::int64_t defects = 0;          ///< number of defective pixels, which are gaps in all frames
    MotionModel model = MotionModel::rigid; ///< the model that was used, never `automatic`
    std::string model_reason; ///< why `automatic` chose this model; empty if it was requested
    registration::ThreadPlan thread_plan; ///< how threads were used, and the predicted times
    /// Statistics of threads that take whole frames, over all ranks; threads are listed rank by
    /// rank.
    registration::FrameThreadUse thread_use;
    bool flattened = false; ///< the frames' shading was removed before registration
    /// The motions that remain within the frames whose motion is not in doubt; 0 for displacement
    /// fields.
    registration::SeriesMisfit misfit = {};
    /// The RMS jitter of rows and drift within frames, pixels; none without scan_rows.
    std::optional<RowFitSummary> rows = {};
    /// Number of columns at the left edge of frames that the flyback of the scan disturbs, and that
    /// are gaps in all frames; 0 without scan_rows.
    std::int64_t flyback = 0;
    /// The correlation of the averages of every second frame; on rank 0, of two frames or more.
    registration::RingCorrelation resolution = {};
    std::int64_t inverted = 0; ///< number of registered frames with the opposite contrast of the
                               ///< reference; the signals of their contrasts are negative
};

/// States how threads were used and, if requested, the prediction that led to it.
std::string describe_threads(const RegistrationResult& result, bool with_prediction);

/// Returns a record of the result without the frames and the averages.
Record record_of(const RegistrationResult& result);

} // namespace sextant
