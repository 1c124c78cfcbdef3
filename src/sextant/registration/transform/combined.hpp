// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/reserved.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace sextant::registration {

/// Takes rows of a resampled area, in order.
using RowsShown = std::function<void(std::span<const float> rows)>;

/// Resamples frames of a series into the coordinates of the reference. Computes an area of T∘φ at a
/// time and reads only the rows of T that contribute to it. Interpolation is bilinear, so
/// it never overshoots; translations by whole pixels copy samples bit for bit. The result is NaN
/// where φ maps outside the frame and where a sample with non-zero weight is NaN. Of a RowMotion,
/// the two rows between which a sample is interpolated are each displaced by their own offset.
///
/// The team shares the rows. Deterministic: the bits do not depend on how rows are divided.
class Resampler {
  public:
    /// Requires  frames of at least 2x2 pixels (InvalidTask). The source and the team must outlive
    ///           this object.
    explicit Resampler(FrameSource& source, Team* team = nullptr);

    /// Writes an area of T∘φ, in the coordinates of the reference, to `to`. Returns false if the
    /// frame does not reach the area: then it is not read, and all samples are NaN.
    /// Requires  `to` has exactly the size of the area (std::logic_error); a field has the frames'
    ///           size (InvalidTask), and the area is within the reference (std::logic_error).
    /// Throws    as FrameSource.
    bool show(std::int64_t frame, const Transform& transform, const PixelArea& area,
              std::span<float> to);

    /// Resamples an area as show() does, and passes it on some rows at a time, from the first to
    /// the last, in `buffer`. Rows of the frame are read once, in order, unless the frame is
    /// rotated by more than 90 degrees.
    void show_rows(std::int64_t frame, const Transform& transform, const PixelArea& area,
                   std::vector<float>& buffer, const RowsShown& take);

  private:
    bool show(std::int64_t frame, const Transform& transform, const PixelArea& area,
              std::span<float> to, bool continued);
    void read(std::int64_t frame, double lowest, double highest);
    void read_missing(std::int64_t frame, double lowest, double highest);
    float sample(Point at) const;
    float sample_between_rows(const RowMotion& motion, double x, double y) const;
    void sample_row(std::span<const Point> places, float* to) const;
    template <class Phi>
    bool sample_run(const Phi& phi, std::int64_t first, double y, std::span<float> to) const;

    FrameSource& source_;
    Team* team_;
    Rows held_; ///< rows of the frame that are in memory
    std::vector<float> samples_;
};

/// Per-pixel statistics of registered frames, over the frames that cover each pixel. Pixels are
/// stored row by row.
struct Combined {
    std::vector<float> mean, median; ///< 0 where no frame covers the pixel
    std::vector<float> count;        ///< number of frames that cover the pixel
    std::vector<float>
        weight; ///< sum of their weights; empty without CombineOptions::contributions
    /// The means of every second frame, the first and the second one first, in the ring_area() of
    /// the result; NaN where none of these covers the pixel. Empty without CombineOptions::halves.
    std::array<std::vector<float>, 2> halves;
    Reserved<> reserved = {};
};

/// The contribution of a frame to averages: each sample T contributes gain · T + offset.
struct Contribution {
    double offset = 0, gain = 1;
    double weight = 1; ///< in the mean; the median does not use weights
};

struct CombineOptions {
    bool median = true;             ///< if false, `median` stays empty
    Bytes memory = Bytes{64} << 20; ///< memory for samples; sets the number of rows per pass
    int threads = 1;                ///< threads per rank; they share the rank's rows
    /// The contribution of each frame, in the order of the frames; empty: samples as they are, with
    /// equal weights.
    std::vector<Contribution> contributions = {};
    /// The area of the result in the coordinates of the reference; default: that of the reference.
    std::optional<PixelArea> area = {};
    bool halves = false; ///< also compute Combined::halves
    Reserved<> reserved = {};
};

/// Returns the least memory for combining frames of this width: one row of each frame.
Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options);

/// Computes mean, median and count of registered frames.
///
/// Rows of the area are divided among the ranks. Each rank reads from every frame only the rows
/// that contribute to its own, in several passes if they do not fit in memory at once.
///
/// Input     each rank has its own source of the same frames; `frames` is the same on all ranks.
/// Output    the whole result on every rank.
/// Requires  memory for at least one row (InvalidTask).
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      per pass, all ranks together read each frame about once. Memory per rank: three
///           numbers per pixel plus `options.memory`.
/// Collective.
/// Deterministic  The bits do not depend on ranks, threads or memory.
Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options = {}, const RunControl& control = {});

} // namespace sextant::registration
