// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/division.hpp"

#include "sextant/core/error.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr double nano = 1e-9;

/// Returns the makespan of a scan of `values` values, in units of one application of the scan's
/// operator ⊙. Long series are simulated with fewer values and scaled, because the global phase
/// between the local stages is then negligible.
double applications(int ranks, std::int64_t values, const prefix::ScanOptions& options) {
    constexpr std::int64_t most_of_a_rank = 64;
    const std::int64_t replayed = std::min(values, most_of_a_rank * ranks);
    if (replayed < 2)
        return 0;
    const scan::Rehearsal rehearsal(scan::even_blocks(replayed, ranks),
                                    prefix::configuration_of(options));
    const Seconds makespan = rehearsal.run([](const scan::Application&) { return 1.; }).makespan;
    return makespan * static_cast<double>(values) / static_cast<double>(replayed);
}

} // namespace

FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields) {
    const double pixels = static_cast<double>(shape.elements()) * nano;
    constexpr double from_nothing = 26, refined = 6, field = 80, rest = 12, handing = 100e3;
    const double links = farthest * from_nothing;
    FrameCosts costs{pixels * links, farthest, pixels * refined,
                     pixels * rest,  .95,      handing * nano};
    if (by_fields) {
        costs.neighbours += pixels * field;
        ++costs.links;
        costs.combined = pixels * field;
        costs.rest += pixels * field;
        costs.shared = .9;
    }
    return costs;
}

namespace {

/// The number of frames of the busiest rank, and the number of these that have a previous frame.
struct BusiestRank {
    BusiestRank(int ranks, std::int64_t frames)
        : all((frames + ranks - 1) / ranks), linked(std::min(all, frames - 1)) {}
    std::int64_t all, linked;
};

} // namespace

Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan) {
    const BusiestRank busiest(ranks, frames);
    const auto by_threads = [&](Seconds alone, int registrations) {
        return threads == 1 ? alone
                            : alone * (1 - costs.shared + costs.shared / threads) +
                                  registrations * costs.handing;
    };
    return static_cast<double>(busiest.linked) * by_threads(costs.neighbours, costs.links) +
           static_cast<double>(busiest.all) * costs.rest +
           applications(ranks, frames - 1, scan) * by_threads(costs.combined, 1);
}

prefix::ScanOptions scan_with_threads(int threads) {
    prefix::ScanOptions options{"reduce-then-scan"};
    options.threads = threads;
    options.boundaries = scan::Boundaries::look_ahead;
    return options;
}

ThreadPlan plan_threads(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                        const prefix::ScanOptions& scan, bool reproducible) {
    ThreadPlan plan;
    plan.by_rows = plan.by_frames = expected_time(ranks, threads, frames, costs, scan);
    if (threads == 1)
        return plan;
    const BusiestRank busiest(ranks, frames);
    const std::int64_t of_a_thread = (busiest.linked + threads - 1) / threads;
    const Seconds before_scan = static_cast<double>(of_a_thread) * costs.neighbours +
                                static_cast<double>(busiest.all) * costs.rest;
    const Seconds shared =
        costs.combined * (1 - costs.shared + costs.shared / threads) + costs.handing;
    const Seconds by_rows = applications(ranks, frames - 1, scan) * shared;
    plan.by_frames = before_scan + by_rows;
    if (ranks == 1 && !reproducible) {
        const Seconds ahead =
            applications(1, frames - 1, scan_with_threads(threads)) * costs.combined;
        plan.steals = ahead < by_rows;
        plan.by_frames = before_scan + std::min(ahead, by_rows);
    }
    plan.whole_frames = plan.by_frames < plan.by_rows;
    plan.steals &= plan.whole_frames;
    return plan;
}

std::vector<Division> divisions(int cores, std::int64_t frames, const FrameCosts& costs,
                                const prefix::ScanOptions& scan, bool reproducible) {
    if (cores < 1)
        throw InvalidTask(fmt::format("{} cores: expected 1 or more", cores));
    const int most_ranks =
        static_cast<int>(std::clamp<std::int64_t>(frames - 1, 1, static_cast<std::int64_t>(cores)));
    std::vector<Division> all;
    for (int ranks = most_ranks; ranks >= 1; --ranks) {
        // Compare one thread per rank with using all cores, because more threads are not always
        // faster.
        for (const int threads : {1, cores / ranks}) {
            if (threads == 1 && !all.empty() && all.back().ranks == ranks)
                continue;
            const ThreadPlan plan = plan_threads(ranks, threads, frames, costs, scan, reproducible);
            all.push_back(
                {ranks, threads, std::min(plan.by_rows, plan.by_frames), plan.whole_frames});
        }
    }
    std::ranges::stable_sort(all, {}, &Division::expected);
    return all;
}

namespace {

/// Returns the frames of a source for one of several threads, which lock the mutex while they read.
/// Frames are read whole, so that threads do not interrupt the decoding of a frame in a compressed
/// file. The source and the mutex must outlive the result.
std::unique_ptr<FrameSource> guarded(FrameSource& source, std::mutex& mutex) {
    const auto read = [&source, &mutex, samples = std::vector<std::byte>(),
                       held = std::int64_t{-1}](std::int64_t frame, Rows rows,
                                                std::span<std::byte> to) mutable {
        const auto row = static_cast<std::size_t>(source.header().row_bytes());
        if (held != frame) {
            samples.resize(static_cast<std::size_t>(source.header().shape.height) * row);
            held = -1; // stays -1 if reading throws
            const std::lock_guard lock(mutex);
            source.read_samples(frame, {0, source.header().shape.height}, samples);
            held = frame;
        }
        std::memcpy(to.data(), samples.data() + static_cast<std::size_t>(rows.first) * row,
                    to.size());
    };
    return std::make_unique<FrameSource>(source.path(), source.header(), FrameReading{read});
}

} // namespace

FrameThreads::FrameThreads(FrameSource& source, int threads)
    : items_(static_cast<std::size_t>(threads)),
      team_(threads),
      reserved_(items_.size(), false),
      references_(items_.size(), -1) {
    for (int thread = 0; thread < threads; ++thread)
        sources_.push_back(guarded(source, reading_));
}

/// Hands out items to threads in runs of consecutive items (guided self-scheduling): each run has
/// half of an equal part of the remaining items. Runs are consecutive because a thread can reuse
/// the pyramids of the previous items.
struct FrameThreads::Items {
    std::size_t all, threads;
    std::mutex mutex;
    std::size_t next = 0;
    std::atomic<bool> stopped = false; ///< true if a thread has failed

    struct Run {
        std::size_t first = 0, last = 0;
    };
    Run take() {
        constexpr std::size_t fewest = 4;
        const std::lock_guard lock(mutex);
        if (stopped)
            return {};
        const std::size_t first = next;
        const std::size_t part = std::max(fewest, (all - first) / (2 * threads));
        next = std::min(all, first + part);
        return {first, next};
    }
};

void FrameThreads::for_each(std::size_t items,
                            const std::function<void(std::size_t item)>& on_caller,
                            const std::function<void(std::size_t item, int thread)>& body) {
    Items rest{items, sources_.size(), {}};
    team_.run(threads(), [&](int thread, int) {
        try {
            for (Items::Run run = rest.take(); run.first < run.last; run = rest.take()) {
                for (std::size_t item = run.first; item < run.last && !rest.stopped; ++item) {
                    if (this->on_caller())
                        on_caller(item);
                    body(item, thread);
                    ++items_[static_cast<std::size_t>(thread)];
                }
            }
        } catch (...) {
            rest.stopped = true;
            throw;
        }
    });
}

std::size_t FrameThreads::reserve(std::int64_t reference) {
    std::unique_lock lock(reserving_);
    std::optional<std::size_t> found;
    released_.wait(lock, [&] {
        for (std::size_t number = 0; number < reserved_.size(); ++number) {
            if (!reserved_[number] && (!found || references_[number] == reference))
                found = number;
        }
        return found.has_value();
    });
    reserved_[*found] = true;
    references_[*found] = reference;
    ++items_[*found];
    return *found;
}

void FrameThreads::release(std::size_t number) {
    {
        const std::lock_guard lock(reserving_);
        reserved_[number] = false;
    }
    released_.notify_one();
}

Bytes memory_of_frame_thread(ImageShape shape, int kept, bool fields) {
    // A pyramid has 4/3 of a frame's pixels plus scratch for bands. A thread also stores the
    // samples as recorded and as floats, and its registration needs about one frame. Displacement
    // fields need two frames, their pyramids, and the gradients and residuals of the fit.
    constexpr double of_pyramid = 1.5, beside = 3, of_fields = 9;
    const double frame = static_cast<double>(shape.elements()) * sizeof(float);
    return static_cast<Bytes>(frame * (of_pyramid * kept + beside + (fields ? of_fields : 0)));
}

} // namespace sextant::registration
