// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/frame_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sextant::registration {

GuardedFrames::GuardedFrames(FrameSource& source, std::mutex& mutex)
    : FrameSource(source.path(), source.header()), source_(source), mutex_(mutex) {}

void GuardedFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    const auto row = static_cast<std::size_t>(row_bytes());
    if (frame_ != frame) {
        samples_.resize(static_cast<std::size_t>(header().shape.height) * row);
        frame_ = -1; // stays -1 if reading throws
        const std::lock_guard lock(mutex_);
        source_.read_samples(frame, {0, header().shape.height}, samples_);
        frame_ = frame;
    }
    std::memcpy(to.data(), samples_.data() + static_cast<std::size_t>(rows.first) * row, to.size());
}

std::optional<std::vector<std::byte>> GuardedLedger::find(const EntryName& name) {
    const std::lock_guard lock(mutex_);
    return ledger_.find(name);
}

void GuardedLedger::keep(const EntryName& name, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    ledger_.keep(name, bytes);
}

void GuardedLedger::refresh() {
    const std::lock_guard lock(mutex_);
    ledger_.refresh();
}

FrameThreads::FrameThreads(FrameSource& source, int threads)
    : items_(static_cast<std::size_t>(threads)),
      team_(threads),
      lent_(items_.size(), false),
      references_(items_.size(), -1) {
    for (int thread = 0; thread < threads; ++thread)
        sources_.push_back(std::make_unique<GuardedFrames>(source, reading_));
}

/// Items that threads take in runs: half of an equal part of the rest at a time, because a thread
/// that continues at the next item still has the pyramids of the previous ones.
struct FrameThreads::Items {
    std::size_t all, threads;
    std::mutex mutex;
    std::size_t next = 0;
    bool stopped = false;

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
    /// True if a thread has failed.
    bool ended() {
        const std::lock_guard lock(mutex);
        return stopped;
    }
    void stop() {
        const std::lock_guard lock(mutex);
        stopped = true;
    }
};

void FrameThreads::for_each(std::size_t items,
                            const std::function<void(std::size_t item)>& on_caller,
                            const std::function<void(std::size_t item, int thread)>& body) {
    Items rest{items, sources_.size(), {}};
    team_.run(threads(), [&](int thread, int) {
        try {
            for (Items::Run run = rest.take(); run.first < run.last; run = rest.take()) {
                for (std::size_t item = run.first; item < run.last && !rest.ended(); ++item) {
                    if (this->on_caller())
                        on_caller(item);
                    body(item, thread);
                    ++items_[static_cast<std::size_t>(thread)];
                }
            }
        } catch (...) {
            rest.stop();
            throw;
        }
    });
}

FrameThreads::Loan FrameThreads::reserve(std::int64_t reference) {
    std::unique_lock lock(lending_);
    std::optional<std::size_t> found;
    returned_.wait(lock, [&] {
        for (std::size_t number = 0; number < lent_.size(); ++number) {
            if (!lent_[number] && (!found || references_[number] == reference))
                found = number;
        }
        return found.has_value();
    });
    lent_[*found] = true;
    references_[*found] = reference;
    ++items_[*found];
    return {*this, *found};
}

FrameThreads::Loan::~Loan() {
    if (!of_)
        return;
    {
        const std::lock_guard lock(of_->lending_);
        of_->lent_[number_] = false;
    }
    of_->returned_.notify_one();
}

Bytes memory_of_frame_thread(ImageShape shape, int kept, bool fields) {
    // A pyramid has 4/3 of a frame's pixels and scratch for bands; a thread also has the samples as
    // stored and as floats, and its registration about one frame. With displacement fields, there
    // are two frames, their pyramids, and the gradients and residuals of the fit.
    constexpr double of_pyramid = 1.5, beside = 3, of_fields = 9;
    const double frame = static_cast<double>(shape.elements()) * sizeof(float);
    return static_cast<Bytes>(frame * (of_pyramid * kept + beside + (fields ? of_fields : 0)));
}

} // namespace sextant::registration
