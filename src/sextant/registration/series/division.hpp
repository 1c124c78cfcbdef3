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

/// A division of a machine's cores into ranks and threads. Frames are divided among the ranks. The
/// threads of a rank either share the rows of one registration or each register whole frames.
struct Division {
    int ranks = 1, threads = 1;
    Seconds expected = 0;
    bool whole_frames = false; ///< see ThreadPlan
};

/// Single-threaded times per frame, and parameters of their scaling with threads.
struct FrameCosts {
    Seconds neighbours = 0; ///< registrations to `links` previous frames, without a starting motion
    int links = 1;          ///< number of previous frames that each frame is registered to
    Seconds combined = 0;   ///< one application of the scan's operator ⊙
    /// time of reading, checking and averaging, which are not divided among threads
    Seconds rest = 0;
    double shared = 1;   ///< fraction of a registration that is divided among threads
    Seconds handing = 0; ///< overhead of sharing one registration among threads
};

/// Returns costs based on measured times per pixel (docs/registration.md). Only the ratios of the
/// costs matter, and these hardly depend on the machine.
FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields);

/// Returns the expected time to register a series on the given ranks and threads per rank: the
/// registrations to previous frames in parallel, then the simulated scan, then the rest.
Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan);

/// The predicted fastest use of a rank's threads.
struct ThreadPlan {
    /// True if each thread registers whole frames; otherwise all threads share the rows of one
    /// frame.
    bool whole_frames = false;
    /// True if the scan of motions also runs on several threads that look ahead and steal work
    /// (scan/look_ahead.hpp); otherwise all threads share the rows of each application of ⊙. True
    /// only with `whole_frames` on a single rank.
    bool steals = false;
    /// Predicted times if threads share rows and if they process whole frames, in units of
    /// FrameCosts.
    Seconds by_rows = 0, by_frames = 0;
};

/// Predicts the times of a series on the given ranks and threads per rank, for threads that share
/// rows and for threads that take whole frames. Threads with whole frames register to previous
/// frames without the overhead of sharing. In the scan they either share rows or look ahead,
/// whichever is faster in a simulation.
///
/// Input     `reproducible`: the association order of the scan must not depend on timing, so
///           threads share the rows of ⊙.
/// Deterministic
ThreadPlan plan_threads(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                        const prefix::ScanOptions& scan, bool reproducible);

/// Returns the options of a scan with look-ahead threads.
prefix::ScanOptions scan_with_threads(int threads);

/// Returns divisions of at most `cores` cores, the fastest first; in a tie, more ranks come first.
/// Requires  cores >= 1 (InvalidTask).
/// Deterministic
std::vector<Division> divisions(int cores, std::int64_t frames, const FrameCosts& costs,
                                const prefix::ScanOptions& scan = {}, bool reproducible = false);

/// Statistics of threads that take whole frames.
struct FrameThreadUse {
    /// By thread: number of registered frames or applications of ⊙.
    std::vector<std::int64_t> registrations;

    /// Statistics of the scan of motions, if it ran on several threads.
    struct Scan {
        std::int64_t applications = 0; ///< number of applications of ⊙
        /// Number of results computed by a different thread than if all threads had equal blocks.
        std::int64_t stolen = 0;
        Seconds seconds = 0; ///< duration
        Seconds idle = 0;    ///< time not spent on ⊙, summed over threads
    } scan;
};

/// The threads of one rank that each register whole frames. Callers store pyramids and buffers per
/// thread, indexed by the thread's number. Frame reads are serialised.
///
/// Cost      memory: one frame as stored per thread.
class FrameThreads {
  public:
    /// Input     the number of threads, including the one that calls for_each(). The source must
    ///           outlive this object. Nothing else may read it while for_each() or with_reserved()
    ///           runs.
    FrameThreads(FrameSource& source, int threads);

    int threads() const { return static_cast<int>(sources_.size()); }
    /// The frame source of one thread.
    FrameSource& source(int thread) { return *sources_[static_cast<std::size_t>(thread)]; }

    /// Calls body(item, thread) once for each item below `items`, on all threads. Each thread takes
    /// runs of consecutive items, which become shorter towards the end. The calling thread takes
    /// part, and calls on_caller(item) before each of its items, for instance to report progress.
    ///
    /// Throws    the first exception of a body or of on_caller. The other threads then stop after
    ///           their current item.
    /// Deterministic  if the calls of `body` do not depend on one another or on the thread number.
    void for_each(std::size_t items, const std::function<void(std::size_t item)>& on_caller,
                  const std::function<void(std::size_t item, int thread)>& body);

    /// Reserves the pyramids and buffers of a thread and calls body(number) with the thread's
    /// number. Prefers buffers that were last used with the same reference frame. Waits if all are
    /// reserved. Thread-safe.
    template <class Body>
    void with_reserved(std::int64_t reference, const Body& body) {
        const std::size_t number = reserve(reference);
        const std::shared_ptr<void> released(nullptr, [&](void*) { release(number); });
        body(static_cast<int>(number));
    }

    /// True on the thread that constructed this object.
    bool on_caller() const { return std::this_thread::get_id() == caller_; }

    /// The number of items and reservations so far, by thread number.
    const std::vector<std::int64_t>& registrations() const { return items_; }

  private:
    struct Items;

    std::size_t reserve(std::int64_t reference);
    void release(std::size_t number);

    const std::thread::id caller_ = std::this_thread::get_id();
    std::mutex reading_;
    std::vector<std::unique_ptr<FrameSource>> sources_;
    std::vector<std::int64_t> items_;
    Team team_;

    std::mutex reserving_;
    std::condition_variable released_;
    std::vector<bool> reserved_;
    std::vector<std::int64_t> references_; ///< reference frame of the last reservation, by thread
};

/// Returns the memory per thread that registers whole frames, with `kept` pyramids. `fields`: for
/// displacement fields instead of rigid motions.
Bytes memory_of_frame_thread(ImageShape shape, int kept, bool fields);

} // namespace sextant::registration
