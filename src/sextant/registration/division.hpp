// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/reserved.hpp"
#include "sextant/core/units.hpp"
#include "sextant/prefix/scan.hpp"

#include <cstdint>
#include <vector>

namespace sextant::registration {

/// A division of a machine's cores for registering a series: frames are divided among the ranks,
/// and the threads of a rank share the rows of one registration or take whole frames.
struct Division {
    int ranks = 1, threads = 1;
    Seconds expected = 0;
    bool whole_frames = false; ///< see ThreadPlan
    Reserved<> reserved = {};
};

/// Single-threaded times per frame, and how well they scale with threads.
struct FrameCosts {
    Seconds neighbours = 0; ///< registrations to `links` previous frames, without a starting motion
    int links = 1;          ///< number of previous frames that each frame is registered to
    Seconds combined = 0;   ///< one application of the scan's operator ⊙
    /// reading, checking and averaging, which are not divided among threads
    Seconds rest = 0;
    double shared = 1;   ///< fraction of a registration that is divided among threads
    Seconds handing = 0; ///< overhead of sharing one registration among threads
    Reserved<> reserved = {};
};

/// Returns costs from measured times per pixel (docs/registration.md). Only their ratios matter
/// here, and these hardly depend on the machine.
FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields);

/// Returns the expected time to register a series on the given ranks and threads per rank: the
/// registrations to previous frames in parallel, then the simulated scan, then the rest.
Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan);

/// How the threads of a rank are predicted to be used best.
struct ThreadPlan {
    /// True if each thread registers whole frames; otherwise all of them share the rows of one.
    bool whole_frames = false;
    /// True if the scan of motions also runs on several threads, which look ahead and steal work
    /// (scan/look_ahead.hpp); otherwise ⊙ shares rows. Only if `whole_frames`, on a single rank.
    bool steals = false;
    Seconds by_rows = 0, by_frames = 0; ///< predicted times of the two, in the units of FrameCosts
    Reserved<> reserved = {};
};

/// Predicts a series on the given ranks and threads per rank, with threads that share rows and with
/// threads that take whole frames: these register to previous frames without the overhead of
/// sharing, and in the scan either share rows or look ahead, whichever is faster in a rehearsal.
///
/// Input     `reproducible`: the bracketing of the scan must not depend on time, so threads share
///           the rows of ⊙.
/// Deterministic
ThreadPlan plan_threads(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                        const prefix::ScanOptions& scan, bool reproducible);

/// Returns the options of a scan whose threads look ahead.
prefix::ScanOptions scan_with_threads(int threads);

/// Returns divisions of at most `cores` cores, the fastest first; in a tie, those with the most
/// ranks first. Requires and Deterministic as below.
std::vector<Division> divisions(int cores, std::int64_t frames, const FrameCosts& costs,
                                const prefix::ScanOptions& scan = {}, bool reproducible = false);

/// Returns the first of divisions().
/// Requires  cores >= 1 (InvalidTask).
/// Deterministic
Division best_division(int cores, std::int64_t frames, const FrameCosts& costs,
                       const prefix::ScanOptions& scan = {}, bool reproducible = false);

} // namespace sextant::registration
