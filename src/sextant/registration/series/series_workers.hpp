// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/prefix/scan.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series/state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sextant::registration {

/// The workers of one rank that register pairs of frames: one worker whose threads share rows and,
/// if threads take whole frames, one more worker per thread.
template <class Worker>
class SeriesWorkers {
  public:
    /// The context must outlive this object.
    explicit SeriesWorkers(const SeriesContext& context) : context_(context) {
        if (context.threads.whole_frames)
            threads_.emplace(context.source, context.options.threads);
    }

    /// Creates the workers: make(source, shares_rows) returns a pointer to a new worker.
    template <class Make>
    void create(const Make& make) {
        of_threads_.clear();
        shared_ = make(context_.source, true);
        for (int thread = 0; threads_ && thread < threads_->threads(); ++thread)
            of_threads_.push_back(make(threads_->source(thread), false));
    }

    /// The worker whose threads share rows.
    Worker& shared() const { return *shared_; }

    /// Calls body(item, worker) for each item, on all threads if they take whole frames. The
    /// calling thread calls step(item) before each of its items.
    template <class Step, class Body>
    void for_each(std::size_t items, const Step& step, const Body& body) {
        if (threads_)
            return threads_->for_each(items, step, [&](std::size_t item, int thread) {
                body(item, *of_threads_[static_cast<std::size_t>(thread)]);
            });
        for (std::size_t item = 0; item < items; ++item) {
            step(item);
            body(item, *shared_);
        }
    }

    /// Scans the links of all ranks with the operator ⊙, which may call applied().
    template <class Link, class Operator>
    std::vector<Link> scanned(const std::vector<Link>& links, const prefix::Slots<Link>& slots,
                              bool names_elements, const Operator& combined) {
        prefix::ScanOptions options =
            steal() ? scan_with_threads(context_.options.threads) : scan_options(context_.options);
        options.names_elements = names_elements;
        prefix::Scan scan(context_.communicator, std::ssize(links),
                          prefix::operator_on(slots, combined), options);
        const Memory values =
            in_slots(context_.communicator, std::span<const Link>(links), slots, scan.first());
        Seconds elapsed = 0;
        std::span<const std::byte> results;
        timed(elapsed, [&] { results = scan.run(values.bytes()); });
        if (steal())
            use_ = {applications_, scan.stolen(), elapsed,
                    context_.options.threads * elapsed - busy_};
        return from_slots(context_.communicator, results, slots);
    }

    /// Returns apply(worker) for an application of ⊙ whose result has the reference frame
    /// `reference`. Thread-safe if threads steal.
    template <class Apply>
    auto applied(std::int64_t reference, const Apply& apply) {
        Seconds taken = 0;
        std::optional<decltype(apply(*shared_))> result;
        timed(taken, [&] {
            if (!steal()) {
                result = apply(*shared_);
                return;
            }
            threads_->with_reserved(reference, [&](int thread) {
                result = apply(*of_threads_[static_cast<std::size_t>(thread)]);
            });
        });
        const std::lock_guard lock(noting_);
        ++applications_;
        busy_ += taken;
        return *std::move(result);
    }

    /// True on the thread that reports progress.
    bool on_caller() const { return !threads_ || threads_->on_caller(); }

    /// Adds the statistics of the threads to `used` of the context.
    void note_use() const {
        if (!threads_ || !context_.used)
            return;
        std::vector<std::int64_t>& counts = context_.used->registrations;
        counts.resize(threads_->registrations().size());
        for (std::size_t thread = 0; thread < counts.size(); ++thread)
            counts[thread] += threads_->registrations()[thread];
        context_.used->scan = use_;
    }

  private:
    bool steal() const { return threads_ && context_.threads.steals; }

    const SeriesContext& context_;
    std::optional<FrameThreads> threads_; ///< only if threads take whole frames
    std::unique_ptr<Worker> shared_;
    std::vector<std::unique_ptr<Worker>> of_threads_;
    std::mutex noting_;             ///< protects applications_ and busy_
    std::int64_t applications_ = 0; ///< number of applications of ⊙
    Seconds busy_ = 0;              ///< time spent on ⊙, summed over threads
    FrameThreadUse::Scan use_;
};

} // namespace sextant::registration
