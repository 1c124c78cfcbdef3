// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/registration/motion.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace sextant::registration {

/// φ, with T∘φ ≈ R.
using Transform = std::variant<RigidMotion, DisplacementField>;

/// Of a frame of a series; asked for when it is needed, since fields are large.
using TransformOf = std::function<Transform(std::int64_t frame)>;

/// φ(x), of images of that shape.
Point apply(const Transform& transform, Point x, ImageShape shape);
/// φ⁻¹(y). Throws InvalidTask where a field folds.
Point apply_inverse(const Transform& transform, Point y, ImageShape shape);

/// Shows frames of a series where they lie: some rows of T∘φ at a time, from the rows of T that
/// these need. Bilinear, which makes nothing darker or brighter than it was; motions by whole
/// pixels copy samples, bit for bit. NaN where φ leads out of the frame, and where a sample that
/// has weight is NaN.
///
/// A team shares the rows. Deterministic  the same bits however the rows are cut.
class Resampler {
  public:
    /// Requires  frames of at least 2x2 pixels (InvalidTask), a source that stays, as a team does.
    explicit Resampler(FrameSource& source, Team* team = nullptr);

    /// Requires  room for exactly these rows (std::logic_error), a field of the frames' size
    ///           (InvalidTask).
    /// Throws    as FrameSource.
    void show(std::int64_t frame, const Transform& transform, Rows rows, std::span<float> to);

  private:
    void read(std::int64_t frame, double lowest, double highest);
    float sample(Point at) const;

    FrameSource& source_;
    Team* team_;
    Rows held_; ///< the rows of the frame that are in memory
    std::vector<float> samples_;
};

/// What registered frames have in common, pixel by pixel over those that show it: row after row.
struct Combined {
    std::vector<float> mean, median; ///< 0 where none shows it
    std::vector<float> count;        ///< how many frames show it
};

struct CombineOptions {
    bool median = true;             ///< else it stays empty
    Bytes memory = Bytes{64} << 20; ///< for samples of all frames, of as many rows as fit
    int threads = 1;                ///< of each rank, which share its rows
};

/// The least memory that frames of that width can be combined in: samples of a row of each.
Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options);

/// Mean, median and count of registered frames.
///
/// Rows are shared out to the ranks, and each reads those rows of all frames that its own need, as
/// many times as they do not fit into memory at once.
///
/// Input     each rank has a source of the same frames; which of them, in order, the same on all
///           ranks; where each lies.
/// Output    all of it on every rank.
/// Requires  memory for a row (InvalidTask).
/// Throws    AgreedFailure on every rank when anything goes wrong on any.
/// Cost      each frame is read about once by all ranks together for each time; three numbers a
///           pixel and `memory` a rank.
/// Collective.
/// Deterministic  the same bits on any number of ranks and threads, in any memory.
Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options = {});

} // namespace sextant::registration
