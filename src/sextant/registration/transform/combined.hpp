// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/filter/sorting_network.hpp"
#include "sextant/registration/transform/resampler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// Returns the median of at least one finite value; for an even number of values, the mean of the
/// middle two. Reorders the values.
float middle_of(std::span<float> values);

/// Computes the medians of several pixels at once. All pixels have the same number of finite
/// values. Up to 64 values are sorted with a sorting network, which is the same for all pixels.
/// Source    Knuth, The Art of Computer Programming 3, 5.2.2, Algorithm M (Batcher's merge
///           exchange)
class PixelMedians {
  public:
    static constexpr std::size_t pixels = kernel::sorted_together; ///< number of pixels at a time

    /// Computes the medians of `pixels` adjacent pixels with `count` values each. Requires count >=
    /// 1. Value i of pixel k is values[i * stride + k].
    /// Output    the same bits as middle_of().
    void find(const float* values, std::size_t count, std::size_t stride, float* medians);

  private:
    using Network = std::vector<kernel::Exchange>;

    static Network network_of(std::size_t count);

    std::vector<Network> networks_; ///< by number of values; empty until first used
    std::vector<float> held_;       ///< [value][pixel], or [pixel][value] without a network
};

/// Per-pixel statistics of registered frames, over the frames that cover each pixel. Pixels are
/// stored row by row.
struct Combined {
    std::vector<float> mean, median; ///< 0 where no frame covers the pixel
    std::vector<float> count;        ///< number of frames that cover the pixel
    std::vector<float>
        weight; ///< sum of the weights of these frames; empty without CombineOptions::contributions
    /// The means of every second frame: of the first, third … frame and of the second, fourth …
    /// frame, in the ring_area() of the result; NaN where no frame of the half covers the pixel.
    /// Empty without CombineOptions::halves.
    std::array<std::vector<float>, 2> halves;
};

/// The contribution of a frame to averages: each sample T contributes gain · T + offset.
struct Contribution {
    double offset = 0, gain = 1;
    double weight = 1; ///< weight in the mean; the median does not use weights
};

struct CombineOptions {
    bool median = true;             ///< if false, `median` stays empty
    Bytes memory = Bytes{64} << 20; ///< memory for samples; determines the number of rows per pass
    int threads = 1;                ///< threads per rank; they share the rank's rows
    /// The contribution of each frame, in the order of the frames. Empty: unmodified samples with
    /// equal weights.
    std::vector<Contribution> contributions = {};
    /// The area of the result in the coordinates of the reference. Default: the area of the
    /// reference.
    std::optional<PixelArea> area = {};
    bool halves = false; ///< also compute Combined::halves
    bool count = true;   ///< if false, Combined::count stays empty
};

/// Returns the minimum memory for combining frames of this width: one row of each frame.
Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options);

/// Computes the mean, the median and the count of registered frames.
///
/// Rows of the area are divided among the ranks. Each rank reads from every frame only the rows
/// that contribute to the rank's rows, in several passes if the rows do not fit in memory at once.
///
/// Input     on each rank, its own source of the same frames; `frames` is equal on all ranks.
/// Output    the whole result on every rank.
/// Requires  memory for at least one row (InvalidTask).
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      per pass, all ranks together read each frame about once. Memory per rank: three
///           numbers per pixel plus `options.memory`.
/// Collective.
/// Deterministic  the bits do not depend on ranks, threads or memory.
Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options = {}, const RunControl& control = {});

} // namespace sextant::registration
