// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"
#include "sextant/prefix/scan.hpp"

#include <cstdint>

namespace sextant::registration {

/// A division of a machine's cores for registering a series: frames are divided among the ranks,
/// and the threads of a rank share the rows of one registration.
struct Division {
    int ranks = 1, threads = 1;
    Seconds expected = 0;
};

/// Time of one thread per frame, in seconds, and how well threads share it.
struct FrameCosts {
    Seconds neighbours = 0; ///< registrations of a frame to previous frames, each without a start
    int links = 1;          ///< number of these registrations
    Seconds combined = 0;   ///< one application of ⊙
    /// reading, checking and averaging, which are not divided among threads
    Seconds rest = 0;
    double shared = 1;   ///< fraction of a registration that is divided among threads
    Seconds handing = 0; ///< overhead of sharing one registration among threads
};

/// Returns costs per pixel as measured (docs/registration.md). Only their ratios matter here, which
/// are much the same on any machine.
FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields);

/// Returns the expected time of a series on that many ranks and threads: registrations to
/// neighbours in parallel, then the scan, simulated with applications of that cost, then the rest.
Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan);

/// Returns the fastest division of at most `cores` cores; among equals, that with the most ranks.
/// Requires  cores >= 1 (InvalidTask).
/// Deterministic
Division best_division(int cores, std::int64_t frames, const FrameCosts& costs,
                       const prefix::ScanOptions& scan = {});

} // namespace sextant::registration
