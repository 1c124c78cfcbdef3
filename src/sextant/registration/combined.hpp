// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/registration/resampler.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::registration {

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
