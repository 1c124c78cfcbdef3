// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/threaded_scan.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>

namespace sextant::prefix {

/// Assigns values to threads during one reduction; thread-safe.
class ThreadedScan::Reduction {
  public:
    Reduction(Elements values, int threads, scan::Boundaries boundaries)
        : stealing_(values, threads, boundaries) {}

    Elements start(int thread) const { return stealing_.start(thread); }
    std::optional<scan::Extension> next(int thread) {
        const std::lock_guard lock(mutex_);
        if (stopped_)
            throw PeerFailed(thread, "another thread of this rank failed");
        const auto since = std::chrono::steady_clock::now() - begin_;
        return stealing_.next(thread, std::chrono::duration<double>(since).count());
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    const scan::Stealing& stealing() const { return stealing_; }

  private:
    scan::Stealing stealing_;
    std::mutex mutex_;
    bool stopped_ = false;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Assigns applications to threads during one look-ahead scan; thread-safe.
class ThreadedScan::LookingAhead {
  public:
    LookingAhead(Elements values, int threads) : state_(values, threads) {}

    /// Ends the thread's current task and waits for the next one. Returns nothing if the scan is
    /// finished or a thread has failed.
    std::optional<scan::LookAhead::Task> next(int thread) {
        std::unique_lock lock(mutex_);
        std::optional<scan::LookAhead::Task> task;
        // A call that finds no task cannot make one available to another thread, so only calls that
        // return notify the waiting threads.
        while (!stopped_ && !(task = state_.next(thread)) && !state_.finished())
            called_.wait(lock);
        lock.unlock();
        called_.notify_all();
        return task;
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        called_.notify_all();
    }
    Elements stolen() const { return state_.stolen(); }

  private:
    scan::LookAhead state_;
    std::mutex mutex_;
    std::condition_variable called_;
    bool stopped_ = false;
};

namespace {

/// True if only this rank has values, and more than one of its threads is employed.
bool can_look_ahead(const scan::Series& series, const scan::Configuration& configuration,
                    int rank) {
    const Elements own = series[static_cast<std::size_t>(rank)];
    return configuration.boundaries == scan::Boundaries::look_ahead &&
           std::accumulate(series.begin(), series.end(), Elements{0}) == own &&
           scan::employed(own, configuration.threads) > 1;
}

bool first_with_values(const scan::Series& series, int rank) {
    return std::accumulate(series.begin(), series.begin() + rank, Elements{0}) == 0;
}

} // namespace

ThreadedScan::ThreadedScan(Communicator communicator, scan::Series series,
                           const scan::Configuration& configuration,
                           std::vector<Operator> operators)
    : communicator_(std::move(communicator)),
      configuration_(configuration),
      operators_(std::move(operators)),
      size_(static_cast<std::size_t>(operators_[0].element.size)),
      own_(series[static_cast<std::size_t>(communicator_.rank())]),
      is_first_(first_with_values(series, communicator_.rank())),
      looks_ahead_(can_look_ahead(series, configuration, communicator_.rank())),
      totals_(scan::totals(series, configuration.global, communicator_.rank())),
      totals_run_(communicator_, totals_.program, operators_[0]),
      partials_(static_cast<Bytes>(size_) * employed()),
      prefixes_(static_cast<Bytes>(size_) * employed()),
      output_(static_cast<Bytes>(size_) * own_),
      segments_(static_cast<std::size_t>(employed())) {}

std::byte* ThreadedScan::slot(Memory& memory, Elements i) const {
    return memory.data() + static_cast<std::size_t>(i) * size_;
}

const std::byte* ThreadedScan::value(Elements i) const {
    return values_.data() + static_cast<std::size_t>(i) * size_;
}

void ThreadedScan::apply(int thread, const std::byte* left, const std::byte* right,
                         std::byte* to) const {
    const std::array operands = {left, right};
    operators_[static_cast<std::size_t>(thread)].fold(operands, to, 1);
}

void ThreadedScan::copy(std::byte* to, const std::byte* from) const {
    if (to != from)
        std::memcpy(to, from, size_);
}

std::span<const std::byte> ThreadedScan::run(std::span<const std::byte> values) {
    values_ = values;
    std::exception_ptr failure;
    try {
        if (looks_ahead_)
            look_ahead();
        else if (own_ > 0)
            reduce();
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure)
        run_failed(failure);
    if (looks_ahead_)
        return std::as_const(output_).bytes();
    if (own_ > 0)
        totals_run_.bind(0, std::as_const(prefixes_).bytes().last(size_));
    totals_run_.run();
    if (own_ > 0)
        run_threads(employed(), [this](const Communicator& threads) { finish(threads.rank()); });
    return std::as_const(output_).bytes();
}

void ThreadedScan::look_ahead() {
    LookingAhead tasks(own_, employed());
    copy(slot(output_, 0), value(0));
    Team team(employed());
    team.run(employed(), [&](int thread, int) {
        try {
            while (const auto task = tasks.next(thread))
                apply(thread, *task);
        } catch (...) {
            tasks.stop();
            throw;
        }
    });
    stolen_ = tasks.stolen();
}

/// The output slot of a segment's last value stores the segment's total until the prefix before the
/// segment is combined with it.
void ThreadedScan::apply(int thread, const scan::LookAhead::Task& task) {
    const auto& [first, last] = task.segment;
    using Kind = scan::LookAhead::Task::Kind;
    if (task.kind == Kind::prefix)
        return apply(thread, slot(output_, last - 1), value(last), slot(output_, last));
    const std::byte* const total = last - first == 1 ? value(first) : slot(output_, last - 1);
    if (task.kind == Kind::extend)
        apply(thread, total, value(last), slot(output_, last));
    else
        apply(thread, slot(output_, first - 1), total, slot(output_, last - 1));
}

void ThreadedScan::reduce() {
    Reduction reduction(own_, employed(), configuration_.boundaries);
    run_threads(employed(), [&](const Communicator& threads) {
        const int thread = threads.rank();
        const Elements start = reduction.start(thread);
        // The partial sums of thread 0 on the first rank are final results, so they go to the
        // output.
        const bool in_hand = is_first_ && thread == 0;
        std::byte* sum = in_hand ? slot(output_, start) : slot(partials_, thread);
        copy(sum, value(start));
        try {
            while (const auto claim = reduction.next(thread)) {
                std::byte* const to = in_hand ? slot(output_, claim->value) : sum;
                if (claim->before)
                    apply(thread, value(claim->value), sum, to);
                else
                    apply(thread, sum, value(claim->value), to);
                sum = to;
            }
        } catch (...) {
            reduction.stop();
            throw;
        }
        copy(slot(partials_, thread), sum);
        segments_[static_cast<std::size_t>(thread)] = reduction.stealing().segment(thread);
        scan_partials(threads);
    });
    stolen_ = reduction.stealing().stolen();
}

/// Scans the segments' totals with a schedule on the threads of this rank.
void ThreadedScan::scan_partials(const Communicator& threads) {
    const int thread = threads.rank();
    Execution execution(threads,
                        scan::program(scan::find(scan::circuit_among_threads),
                                      {threads.size(), 1, scan::Form::inclusive}, {}, thread),
                        operators_[static_cast<std::size_t>(thread)]);
    execution.bind(0, std::span<const std::byte>(slot(partials_, thread), size_));
    execution.run();
    copy(slot(prefixes_, thread), execution.result().data());
}

const std::byte* ThreadedScan::before_rank() const {
    return totals_run_.result().data();
}

void ThreadedScan::finish(int thread) {
    const bool is_last = thread == employed() - 1;
    const scan::Interval& segment = segments_[static_cast<std::size_t>(thread)];
    const scan::LastPhase phase = scan::last_phase(segment, thread, is_last, totals_, is_first_);
    const std::byte* sum = totals_.before ? before_rank() : nullptr;
    if (thread > 0) {
        std::byte* const up_to_here = slot(output_, segment.first - 1);
        if (phase.joins)
            apply(thread, before_rank(), slot(prefixes_, thread - 1), up_to_here);
        else
            copy(up_to_here, slot(prefixes_, thread - 1));
        sum = up_to_here;
    }
    for (Elements i = phase.applied.first; i < phase.applied.last; ++i) {
        apply(thread, sum, value(i), slot(output_, i));
        sum = slot(output_, i);
    }
    if (is_last && totals_.through) {
        const std::size_t place = totals_.before ? size_ : 0;
        copy(slot(output_, own_ - 1), totals_run_.result().data() + place);
    }
}

} // namespace sextant::prefix
