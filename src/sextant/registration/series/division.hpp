// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"
#include "sextant/prefix/scan.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace sextant::registration {

/// A division of a machine's cores for registering a series: frames are divided among the ranks,
/// and the threads of a rank share the rows of one registration or take whole frames.
struct Division {
    int ranks = 1, threads = 1;
    Seconds expected = 0;
    bool whole_frames = false; ///< see ThreadPlan
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
};

/// Returns costs from measured times per pixel (docs/registration.md). Only their ratios matter
/// here, and these hardly depend on the machine.
FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields);

/// Returns the expected time to register a series on the given ranks and threads per rank: the
/// registrations to previous frames in parallel, then the simulated scan, then the rest.
Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan);

/// The use of a rank's threads that is predicted to be fastest.
struct ThreadPlan {
    /// True if each thread registers whole frames; otherwise all of them share the rows of one.
    bool whole_frames = false;
    /// True if the scan of motions also runs on several threads, which look ahead and steal work
    /// (scan/look_ahead.hpp); otherwise ⊙ shares rows. Only if `whole_frames`, on a single rank.
    bool steals = false;
    Seconds by_rows = 0, by_frames = 0; ///< predicted times of the two, in the units of FrameCosts
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

/// A source that several threads share with the owner's other readers: each thread has its own
/// GuardedFrames, and all of them lock the same mutex while they read. A frame is read whole, so
/// that the decoder of a compressed file never returns to a frame that another thread interrupted.
///
/// Cost      memory: one frame as stored.
class GuardedFrames : public FrameSource {
  public:
    /// The source and the mutex must outlive this object.
    GuardedFrames(FrameSource& source, std::mutex& mutex);

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);

    FrameSource& source_;
    std::mutex& mutex_;
    std::vector<std::byte> samples_; ///< of frame_
    std::int64_t frame_ = -1;
};

/// Statistics of threads that take whole frames.
struct FrameThreadUse {
    std::vector<std::int64_t> registrations; ///< frames or applications of ⊙, by thread

    /// The scan of motions, if it ran on several threads.
    struct Scan {
        std::int64_t applications = 0; ///< of ⊙
        std::int64_t stolen = 0; ///< results computed by another thread than with equal blocks
        Seconds seconds = 0;     ///< duration
        Seconds idle = 0;        ///< time of all threads that was not spent on ⊙
    } scan;
};

/// Threads of one rank that each register whole frames. Users keep the pyramids and buffers of each
/// thread, by its number; reading frames is serialised.
///
/// Cost      memory: one frame as stored per thread.
class FrameThreads {
  public:
    /// Input     the number of threads, including the one that calls for_each(). The source must
    ///           outlive this object. Nothing else may read it while for_each() or with_reserved()
    ///           runs.
    FrameThreads(FrameSource& source, int threads);

    int threads() const { return static_cast<int>(sources_.size()); }
    /// The source of one thread.
    FrameSource& source(int thread) { return *sources_[static_cast<std::size_t>(thread)]; }

    /// Calls body(item, thread) once for each item below `items`, on all threads: each takes runs
    /// of consecutive items, which become shorter towards the end. The calling thread takes part,
    /// and calls on_caller(item) before each of its items, for instance to report progress.
    ///
    /// Throws    the first exception of a body or of on_caller. The other threads then stop after
    ///           their current item.
    /// Deterministic  if the bodies do not depend on one another or on the number of the thread.
    void for_each(std::size_t items, const std::function<void(std::size_t item)>& on_caller,
                  const std::function<void(std::size_t item, int thread)>& body);

    /// Calls body(number) with the number of a thread, whose pyramids and buffers are reserved
    /// until it returns: if possible one that was last used with the same reference frame. Waits if
    /// all are reserved. Thread-safe.
    template <class Body>
    void with_reserved(std::int64_t reference, const Body& body) {
        const std::size_t number = reserve(reference);
        const std::shared_ptr<void> released(nullptr, [&](void*) { release(number); });
        body(static_cast<int>(number));
    }

    /// True on the thread that constructed this object.
    bool on_caller() const { return std::this_thread::get_id() == caller_; }

    /// The number of items and reservations of each number so far.
    const std::vector<std::int64_t>& registrations() const { return items_; }

  private:
    struct Items;

    std::size_t reserve(std::int64_t reference);
    void release(std::size_t number);

    const std::thread::id caller_ = std::this_thread::get_id();
    std::mutex reading_;
    std::vector<std::unique_ptr<GuardedFrames>> sources_;
    std::vector<std::int64_t> items_;
    Team team_;

    std::mutex reserving_;
    std::condition_variable released_;
    std::vector<bool> reserved_;
    std::vector<std::int64_t> references_; ///< of the last reservation
};

/// The memory that each thread takes that registers whole frames by rigid motions, with `kept`
/// pyramids, or by displacement fields.
Bytes memory_of_frame_thread(ImageShape shape, int kept, bool fields);

} // namespace sextant::registration
