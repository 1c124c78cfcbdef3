// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_team.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// The time that a thread spins for work before it sleeps: longer than a wake-up and than the gaps
/// between the jobs of one registration, but shorter than the time to read a frame between
/// registrations.
constexpr std::chrono::microseconds patience{200};

/// A range of parts as one number that can be changed atomically.
std::uint64_t parts_between(std::uint64_t first, std::uint64_t last) {
    return first << 32 | last;
}

/// Spins until `done` returns true or `patience` has passed.
template <class Done>
void look_out(const Done& done) {
    const auto until = std::chrono::steady_clock::now() + patience;
    constexpr int looks = 64; // polls between two readings of the clock
    while (std::chrono::steady_clock::now() < until) {
        for (int look = 0; look < looks; ++look) {
            if (done())
                return;
        }
    }
}

} // namespace

Team::Team(int size) {
    if (size < 1)
        throw InvalidTask(fmt::format("cannot start {} threads, expected 1 or more", size));
    try {
        others_.reserve(static_cast<std::size_t>(size - 1));
        for (int member = 1; member < size; ++member)
            others_.emplace_back([this, member] { work(member); });
    } catch (const std::exception& error) {
        end();
        throw CommunicationFailed(fmt::format("only {} of {} threads could be started: {}",
                                              others_.size() + 1, size, error.what()));
    }
}

Team::~Team() {
    end();
}

void Team::end() {
    over_.store(true);
    ++round_;
    round_.notify_all();
    for (std::thread& other : others_)
        other.join();
}

void Team::share(int parts, Work body, const void* job) {
    if (parts < 1)
        return;
    // Members use the cancellation of the calling thread, one at a time.
    struct Cancellable {
        Work body;
        const void* job;
        Cancellation cancellation;
        std::mutex asking;
    } cancellable{body, job, cancellation_here(), {}};
    if (!cancellable.cancellation.one_at_a_time)
        cancellable.cancellation.one_at_a_time = &cancellable.asking;
    work_ = [](const void* shared, int part, int member) {
        const auto& own = *static_cast<const Cancellable*>(shared);
        const CancellationScope scope(own.cancellation);
        own.body(own.job, part, member);
    };
    job_ = &cancellable;
    failed_.store(false, std::memory_order_relaxed);
    undone_.store(parts, std::memory_order_relaxed);
    untaken_.store(parts_between(0, static_cast<std::uint64_t>(parts)), std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    if (!finish(do_parts(0))) {
        look_out([this] { return undone_.load(std::memory_order_acquire) == 0; });
        for (int undone = undone_.load(std::memory_order_acquire); undone != 0;
             undone = undone_.load(std::memory_order_acquire))
            undone_.wait(undone, std::memory_order_acquire);
    }
    if (failed_.load(std::memory_order_relaxed))
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// A member reads job data only after it has taken a part, and no new job is offered before that
/// part is done.
bool Team::take(int& part, int member) {
    const bool from_first = member % 2 == 0;
    std::uint64_t untaken = untaken_.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t first = untaken >> 32, last = untaken & 0xffffffff;
        if (first >= last)
            return false;
        const std::uint64_t rest =
            from_first ? parts_between(first + 1, last) : parts_between(first, last - 1);
        if (untaken_.compare_exchange_weak(untaken, rest, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
            part = static_cast<int>(from_first ? first : last - 1);
            return true;
        }
    }
}

void Team::do_part(int part, int member) {
    try {
        work_(job_, part, member);
    } catch (...) {
        if (!failed_.exchange(true))
            failure_ = std::current_exception();
    }
}

/// Does all parts that it can take; returns their number.
int Team::do_parts(int member) {
    int done = 0;
    for (int part = 0; take(part, member); ++done)
        do_part(part, member);
    return done;
}

/// Marks this number of parts as done; returns true if no unfinished part remains.
bool Team::finish(int parts) {
    return undone_.fetch_sub(parts, std::memory_order_acq_rel) == parts;
}

void Team::work(int member) {
    for (;;) {
        const unsigned round = round_.load(std::memory_order_acquire);
        if (over_.load(std::memory_order_relaxed))
            return;
        if (const int done = do_parts(member); done > 0 && finish(done))
            undone_.notify_one();
        look_out([&] { return round_.load(std::memory_order_relaxed) != round; });
        round_.wait(round, std::memory_order_relaxed);
    }
}

namespace {

/// The smallest part, in bytes, that is worth waking a thread for.
constexpr Bytes smallest_part = Bytes{16} << 10;

} // namespace

FoldTeam::FoldTeam(int threads) : team_(threads), sources_(static_cast<std::size_t>(threads)) {}

void FoldTeam::fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to,
                    Bytes size, Elements elements, Elements of) {
    const int parts = threads();
    if (parts == 1 || elements * size < smallest_part * parts)
        return fold(sources, to, elements, of);
    team_.run(parts, [&](int part, int) {
        const Elements first = elements * part / parts, last = elements * (part + 1) / parts;
        std::vector<const std::byte*>& moved = sources_[static_cast<std::size_t>(part)];
        moved.assign(sources.begin(), sources.end());
        for (const std::byte*& source : moved)
            source += first * size;
        fold(moved, to + first * size, last - first, of);
    });
}

Operator folded_by(FoldTeam& team, Operator op) {
    op.fold = [&team, fold = std::move(op.fold), size = op.element.size](
                  FoldFunction::Sources sources, std::byte* to, Elements elements, Elements of) {
        team.fold(fold, sources, to, size, elements, of);
    };
    return op;
}

} // namespace sextant
