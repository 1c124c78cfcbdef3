// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"
#include "sextant/registration/frame_series.hpp"

#include <cstdint>

namespace sextant::registration {

/// How the cores of a machine register a series: ranks, which take frames, of so many threads each,
/// which share the rows of one registration.
struct Division {
    int ranks = 1, threads = 1;
    Seconds expected = 0;
};

/// What one thread takes for a frame of a series, seconds, and how well threads share it.
struct FrameCosts {
    Seconds neighbours = 0; ///< to register it to those before it, from nothing
    int links = 1;          ///< how many registrations that is
    Seconds combined = 0;   ///< an application of ⊙
    Seconds rest = 0;    ///< to read it, look at it and add it to the average: threads do not share
    double shared = 1;   ///< the part of a registration that threads share
    Seconds handing = 0; ///< what sharing one registration costs, each
};

/// By the pixel, as measured (docs/registration.md): what counts here are their ratios, which are
/// much the same on any machine.
FrameCosts usual_costs(ImageShape shape, int farthest, bool by_fields);

/// What a series takes so many ranks and threads: neighbours side by side, then the scan, rehearsed
/// with applications of that cost, then the rest.
Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan);

/// The fastest division of at most so many cores; of equally fast ones that of the most ranks.
/// Requires  a core or more (InvalidTask).
/// Deterministic
Division best_division(int cores, std::int64_t frames, const FrameCosts& costs,
                       const prefix::ScanOptions& scan = {});

} // namespace sextant::registration
