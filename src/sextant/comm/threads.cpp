// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "sextant/comm/scope.hpp"
#include "sextant/comm/shared_memory_exchange.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant {

namespace {

/// The distance between data that different ranks write: two cache lines, because processors fetch
/// lines in pairs.
constexpr std::size_t apart = 128;

/// Returns an address that identifies the calling thread.
const void* this_thread() {
    static thread_local char place = 0;
    return &place;
}

/// A lock that is held for a few instructions at a time. A waiting thread does not sleep: that
/// would take longer than the lock is held.
class SpinLock {
  public:
    void lock() {
        constexpr int looks = 100; // then the thread that holds the lock may need this core
        for (int look = 0; held_.exchange(true, std::memory_order_acquire);) {
            while (held_.load(std::memory_order_relaxed))
                ++look < looks ? pause_briefly() : std::this_thread::yield();
        }
    }
    void unlock() { held_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> held_{false};
};

/// A queue of notes to one rank: many producers, one consumer.
class alignas(apart) Inbox {
  public:
    void post(const Note& note);
    /// Swaps the posted notes with `to`, which must be empty.
    void take(std::vector<Note>& to);
    /// Reserves space for `notes` notes, so that posting them allocates nothing.
    void reserve(std::size_t notes);
    /// Wakes the consumer if it sleeps, even without a note.
    void wake();
    /// Sleeps until `post` or `wake` has been called since the last `take`, but only for a short
    /// time.
    void sleep();

  private:
    SpinLock lock_;
    std::vector<Note> notes_;
    std::atomic<std::uint32_t> posted_{0};
    std::uint32_t taken_ = 0; // used by the consumer only
    std::atomic<bool> asleep_{false};
};

/// The kind of a collective call, to detect ranks in different calls.
enum class Call : std::uint8_t { barrier, all_gather, run };

/// The collective calls that a rank has begun in a group.
struct alignas(apart) CallCount {
    std::atomic<std::int64_t> begun{0}; ///< number of the last call (call_after)
    /// Four times the number of calls that all ranks make, plus the kind (Call) of the last such
    /// call.
    std::atomic<std::int64_t> last_by_all{0};
    std::atomic<const void*> caller{nullptr}; ///< thread that made the last call
    /// In the base group of scopes: the number of the scope in which the rank last made a call that
    /// all ranks make.
    std::atomic<std::uint32_t> last{0};
    LastCore core{-1};
    // Used only by the rank itself:
    bool under_way = false;
    bool run_counted = false; ///< true if the next exchange belongs to a run already counted
};

/// The state shared by the ranks of a group.
class ThreadGroup : public std::enable_shared_from_this<ThreadGroup> {
  public:
    explicit ThreadGroup(int size)
        : size_(size),
          inboxes_(static_cast<std::size_t>(size)),
          returned_(static_cast<std::size_t>(size)),
          calls_(static_cast<std::size_t>(size)) {}
    /// A group of some ranks of `parent`.
    ThreadGroup(std::shared_ptr<ThreadGroup> parent, std::vector<int> ranks)
        : ThreadGroup(static_cast<int>(ranks.size())) {
        crowded_ = parent->crowded_;
        parent_ = std::move(parent);
        ranks_of_parent_ = std::move(ranks);
    }

    int size() const { return size_; }
    Inbox& inbox(int rank) { return inboxes_[static_cast<std::size_t>(rank)]; }
    /// True if there are fewer cores than ranks.
    bool crowded() const { return crowded_; }
    /// Moves a rank that has waited for some time off the core of another rank.
    void separate(int rank) {
        separate_ranks(calls_of(rank).core, [&](int core) {
            for (int other = 0; other < size_; ++other) {
                if (other != rank && calls_of(other).core.load(std::memory_order_relaxed) == core)
                    return true;
            }
            return false;
        });
    }

    /// Throws if the group is cancelled. If the failed rank has completed the current call of
    /// `rank`, throws only if `gives_up` is set.
    void check(int rank, bool gives_up = false) const {
        if (cancelled_)
            throw_cancelled(rank, gives_up);
    }

    /// Makes every rank that is in a call after the call `completed` throw PeerFailed, or
    /// InvalidTask if `order` is set. If `completed` is -1, this applies to all calls of this group
    /// and its subgroups.
    void cancel(int failed_rank, const std::string& text, std::int64_t completed = -1,
                bool order = false);
    /// Cancels the calls of this group and its subgroups that the given rank has not completed.
    void fail(int rank, const std::string& text);

    void begin_call(int rank, Call call, bool by_all);
    void begin_run(int rank) {
        if (!all_ranks_run())
            return;
        begin_call(rank, Call::run, true);
        calls_of(rank).run_counted = true;
    }
    void end_call(int rank) { calls_of(rank).under_way = false; }

    /// Makes this group a scope of `base`, which has the same ranks.
    void become_scope(const std::shared_ptr<ThreadGroup>& base, const std::string& what,
                      RunsOf runs);
    bool all_ranks_run() const { return runs_ == RunsOf::all_ranks; }
    /// Throws InvalidTask if this rank and another wait for each other in different scopes, or if
    /// another rank waits in a different call of this scope.
    void check_order(int rank);

    /// Marks a rank as done with this group and its subgroups: ranks that wait for it throw
    /// PeerFailed.
    void rank_returns(int rank);
    bool has_returned(int rank) const;

    /// Each rank stores its value and then reads all values. Two barriers ensure that no value is
    /// overwritten before every rank has read it.
    void all_gather(int rank, std::span<const std::byte> own, std::span<std::byte> all);

    void barrier(int rank);

    /// Counts the ranks that are in a run, because these may read each other's memory.
    void enter_run(int rank);
    void leave_run(int rank) {
        end_call(rank);
        running_.fetch_sub(1);
    }
    /// Waits until no rank is in a run. After some seconds, assumes that the others wait for `rank`
    /// in a call of another group, and fails the calls of all groups.
    void wait_until_none_runs(int rank);

    /// Returns the subgroup of all ranks that call this with the same `sequence` and `color`; the
    /// first call creates it.
    std::shared_ptr<ThreadGroup> child(int sequence, int color, std::vector<int> ranks);

  private:
    std::vector<std::weak_ptr<ThreadGroup>> children();
    void wake_all();
    void wake_with_children();
    int first_returned() const; ///< -1 if no rank has returned

    void throw_cancelled(int rank, bool gives_up) const;
    bool is_cancelled_for(int rank) const { // requires the lock
        return cancelled_ && calls_of(rank).begun.load() > completed_;
    }
    CallCount& calls_of(int rank) { return calls_[static_cast<std::size_t>(rank)]; }
    const CallCount& calls_of(int rank) const { return calls_[static_cast<std::size_t>(rank)]; }
    ThreadGroup& base() { return base_ ? *base_ : *this; }
    std::shared_ptr<ThreadGroup> scope(int number);
    std::string name() const;
    void throw_wrong_order(ThreadGroup& group, int rank, int other, const std::string& mine,
                           const std::string& theirs);

    /// Each rank runs its part under the lock, then waits until all ranks have done so. All ranks
    /// must make the same call with the same `bytes`.
    template <class Part>
    void meet(int rank, Call call, std::size_t bytes, Part&& part);

    const int size_;
    bool crowded_ = size_ > 1 && Cores::available().count() < size_;
    std::vector<Inbox> inboxes_;
    std::atomic<bool> cancelled_{false};
    // Why the group was cancelled; protected by mutex_.
    int failed_rank_ = -1;
    std::string failure_;
    std::int64_t completed_ = -1;
    bool wrong_order_ = false;
    alignas(apart) std::atomic<int> running_{0};             // written by all ranks in every run
    alignas(apart) std::vector<std::atomic<bool>> returned_; // only in the root group
    std::shared_ptr<ThreadGroup> parent_;                    // null in the root group
    std::vector<int> ranks_of_parent_;
    std::vector<CallCount> calls_;      // by rank
    std::shared_ptr<ThreadGroup> base_; // for a scope, the group that it belongs to; else null
    std::string what_ = "communicator";
    RunsOf runs_ = RunsOf::some_ranks;
    std::uint32_t number_ = 0, scopes_made_ = 0;
    std::map<std::uint32_t, std::weak_ptr<ThreadGroup>> scopes_;
    std::mutex order_mutex_; // in the base group: held while two groups are cancelled

    mutable std::mutex mutex_;
    std::condition_variable arrived_changed_;
    int arrived_ = 0;
    Call call_ = Call::barrier; // call of the ranks that have arrived
    std::size_t bytes_ = 0;
    int first_arrived_ = 0;
    std::atomic<std::uint64_t> meetings_{0}; // changed under the lock
    std::vector<std::byte> gathered_;
    std::vector<std::weak_ptr<ThreadGroup>> children_;
    std::map<std::pair<int, int>, std::shared_ptr<ThreadGroup>> splits_; // groups being formed
    std::map<std::pair<int, int>, int> joined_;
};

/// The transport of one rank in a group of threads. All threads are neighbours and share memory.
class ThreadTransport : public Transport, public Scoping, private Neighbourhood {
  public:
    /// `name` appears in error messages; it is empty for the root group.
    ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank, std::string name = "");
    ThreadTransport(const ThreadTransport&) = delete;
    ThreadTransport& operator=(const ThreadTransport&) = delete;
    /// If an exception destroys this transport, reports the failure to all ranks.
    ~ThreadTransport() override {
        if (!name_.empty() && std::uncaught_exceptions() > exceptions_)
            group_->fail(rank_, fmt::format("an exception destroyed its {}", name_));
    }

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }
    bool shares_memory() const override { return true; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    Memory memory(Bytes size) override { return Memory(size); }
    void barrier() override { group_->barrier(rank_); }
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        group_->all_gather(rank_, own, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;

    std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf runs) override;
    void fail(const std::string& text) override { group_->fail(rank_, text); }
    void look() override {
        group_->check(rank_);
        if (group_->all_ranks_run())
            group_->check_order(rank_);
    }
    void begin_run() override { group_->begin_run(rank_); }
    void end_run() override { group_->end_call(rank_); }

  private:
    int own_rank() const override { return rank_; }
    bool has(int) const override { return true; }
    std::uintptr_t base(int) const override { return 0; }
    bool shows(const std::byte*, Bytes) const override { return true; }
    void make_room(std::size_t notes) override;
    void post(int to, const Note& note) override { group_->inbox(to).post(note); }
    const std::vector<Note>& take() override;
    void rest(int idle) override;
    bool is_gone(int rank) const override { return group_->has_returned(rank); }
    void check_failure() const override { group_->check(rank_, true); }
    void enter_run() override { group_->enter_run(rank_); }
    void leave_run() override { group_->leave_run(rank_); }
    void abandon_run() override;
    void leave_with_all() override;

    std::shared_ptr<ThreadGroup> group_;
    const int rank_;
    const std::string name_;
    const int exceptions_ = std::uncaught_exceptions();
    const bool crowded_;
    Yielding yielding_;
    int splits_ = 0;
    std::size_t room_ = 0;    // capacity for notes
    std::vector<Note> taken_; // swapped with the inbox's vector, so that both keep their capacity
};

/// The exceptions of all ranks' bodies, and the rank that failed first.
class Errors {
  public:
    explicit Errors(int ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}

    void add(int rank) {
        of_rank_[static_cast<std::size_t>(rank)] = std::current_exception();
        int nobody = -1;
        first_.compare_exchange_strong(nobody, rank);
    }

    /// Throws the lowest rank's error that was not caused by another rank. If there is none, throws
    /// the lowest rank's PeerFailed that names a rank without an error, which therefore returned
    /// too early; else the error that was thrown first.
    void rethrow() const {
        std::exception_ptr of_one_that_returned;
        for (const std::exception_ptr& error : of_rank_) {
            if (!error)
                continue;
            try {
                std::rethrow_exception(error);
            } catch (const PeerFailed& peer) {
                const auto named = static_cast<std::size_t>(peer.rank());
                if (!of_one_that_returned && named < of_rank_.size() && !of_rank_[named])
                    of_one_that_returned = error;
            }
        }
        if (of_one_that_returned)
            std::rethrow_exception(of_one_that_returned);
        if (first_ >= 0)
            std::rethrow_exception(of_rank_[static_cast<std::size_t>(first_.load())]);
    }

  private:
    std::vector<std::exception_ptr> of_rank_;
    std::atomic<int> first_{-1}; // rank that failed first; -1 if none has failed
};

} // namespace

void run_threads(int ranks, const std::function<void(Communicator)>& body) {
    if (ranks < 1 || ranks > most_thread_ranks) {
        throw InvalidTask(fmt::format("cannot run {} ranks as threads: expected 1 to {}", ranks,
                                      most_thread_ranks));
    }
    const auto group = std::make_shared<ThreadGroup>(ranks);
    Errors errors(ranks);
    const auto run = [&](int rank) {
        try {
            body(Communicator(std::make_shared<ThreadTransport>(group, rank)));
            group->rank_returns(rank);
        } catch (...) {
            errors.add(rank);
            group->fail(rank, "");
            group->rank_returns(rank);
        }
    };
    std::vector<std::jthread> threads;
    try {
        for (int rank = 1; rank < ranks; ++rank)
            threads.emplace_back(run, rank);
    } catch (const std::exception& error) {
        group->cancel(static_cast<int>(threads.size()) + 1, "");
        throw CommunicationFailed(
            fmt::format("only {} of {} threads for ranks could be started: {}", threads.size() + 1,
                        ranks, error.what()));
    }
    run(0);
    threads.clear();
    errors.rethrow();
}

ThreadTransport::ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank, std::string name)
    : group_(std::move(group)), rank_(rank), name_(std::move(name)), crowded_(group_->crowded()) {
    runs.resize(static_cast<std::size_t>(size()));
}

std::unique_ptr<Exchange> ThreadTransport::open(std::vector<Message> messages) {
    Neighbourhood& neighbours = *this;
    return std::make_unique<LoanExchange>(neighbours, std::move(messages));
}

void ThreadTransport::make_room(std::size_t notes) {
    room_ = std::max(room_, notes);
    group_->inbox(rank_).reserve(room_);
    early.reserve(room_);
    taken_.reserve(room_);
}

const std::vector<Note>& ThreadTransport::take() {
    group_->check(rank_);
    taken_.clear();
    group_->inbox(rank_).take(taken_);
    return taken_;
}

void ThreadTransport::rest(int idle) {
    // These limits count calls of this function; a call that sleeps takes up to 10 ms.
    constexpr int yields = 400, between_looks = 32, before_giving_up = 640;
    if (!crowded_ && idle < looks_before_sleep()) {
        if (idle == looks_before_separating)
            group_->separate(rank_);
        return pause_briefly();
    }
    if (crowded_ && idle < yields && yielding_.yield())
        return;
    group_->inbox(rank_).sleep();
    if (idle % between_looks == 0) {
        group_->check(rank_, idle > looks_before_sleep() + before_giving_up);
        if (group_->all_ranks_run())
            group_->check_order(rank_);
    }
}

void ThreadTransport::abandon_run() {
    group_->fail(rank_, "failed");
    leave_with_all();
}

void ThreadTransport::leave_with_all() {
    group_->leave_run(rank_);
    group_->wait_until_none_runs(rank_);
}

std::shared_ptr<Transport> ThreadTransport::split(int color, int key) {
    struct Wish {
        int color, key, rank;
        auto operator<=>(const Wish&) const = default;
    };
    std::vector<Wish> wishes(static_cast<std::size_t>(size()));
    const Wish own{color, key, rank_};
    all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(wishes)));
    ++splits_;
    if (color < 0)
        return nullptr;
    std::erase_if(wishes, [&](const Wish& wish) { return wish.color != color; });
    std::sort(wishes.begin(), wishes.end());
    const auto place = std::find(wishes.begin(), wishes.end(), own) - wishes.begin();
    std::vector<int> ranks;
    for (const Wish& wish : wishes)
        ranks.push_back(wish.rank);
    return std::make_shared<ThreadTransport>(group_->child(splits_, color, std::move(ranks)),
                                             static_cast<int>(place), "part of a communicator");
}

std::shared_ptr<Transport> ThreadTransport::make_scope(const std::string& what, RunsOf runs) {
    const std::uint64_t own = hash_of_kind(what);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
    all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
    const auto other =
        std::ranges::find_if(all, [&](std::uint64_t each) { return each != all[0]; });
    if (other != all.end())
        throw_different_names(*this, what, static_cast<int>(other - all.begin()));
    ++splits_;
    std::vector<int> ranks(all.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const std::shared_ptr<ThreadGroup> group = group_->child(splits_, 0, std::move(ranks));
    group->become_scope(group_, what, runs);
    return std::make_shared<ThreadTransport>(group, rank_, what);
}

void Inbox::post(const Note& note) {
    {
        const std::lock_guard lock(lock_);
        notes_.push_back(note);
    }
    wake();
}

void Inbox::take(std::vector<Note>& to) {
    if (posted_.load(std::memory_order_acquire) == taken_)
        return;
    const std::lock_guard lock(lock_);
    taken_ = posted_.load(std::memory_order_acquire);
    std::swap(to, notes_);
}

void Inbox::reserve(std::size_t notes) {
    const std::lock_guard lock(lock_);
    notes_.reserve(notes);
}

void Inbox::wake() {
    posted_.fetch_add(1, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst))
        wake_one(posted_);
}

void Inbox::sleep() {
    asleep_.store(true, std::memory_order_seq_cst);
    sleep_while(posted_, taken_);
    asleep_.store(false, std::memory_order_relaxed);
}

void ThreadGroup::throw_cancelled(int rank, bool gives_up) const {
    const std::lock_guard lock(mutex_);
    if (!gives_up && !is_cancelled_for(rank))
        return;
    if (wrong_order_)
        throw InvalidTask(failure_);
    throw PeerFailed(failed_rank_, failure_.empty()
                                       ? fmt::format("rank {} failed", failed_rank_)
                                       : fmt::format("rank {}: {}", failed_rank_, failure_));
}

void ThreadGroup::cancel(int failed_rank, const std::string& text, std::int64_t completed,
                         bool order) {
    {
        const std::lock_guard lock(mutex_);
        if (!cancelled_) {
            failed_rank_ = failed_rank;
            failure_ = text;
            wrong_order_ = order;
        }
        completed_ = cancelled_ ? std::min(completed_, completed) : completed;
        cancelled_ = true;
    }
    if (completed < 0) {
        for (const auto& child : children()) {
            if (const auto group = child.lock())
                group->cancel(failed_rank, text);
        }
    }
    wake_all();
}

void ThreadGroup::fail(int rank, const std::string& text) {
    for (const auto& child : children()) {
        const auto group = child.lock();
        if (!group)
            continue;
        const auto& ranks = group->ranks_of_parent_;
        if (const auto own = std::ranges::find(ranks, rank); own != ranks.end())
            group->fail(static_cast<int>(own - ranks.begin()), text);
    }
    const CallCount& own = calls_of(rank);
    cancel(rank, text, own.begun.load() - (own.under_way ? 1 : 0));
}

void ThreadGroup::begin_call(int rank, Call call, bool by_all) {
    CallCount& own = calls_of(rank);
    const std::int64_t next = call_after(own.begun.load(std::memory_order_relaxed), by_all);
    own.under_way = true;
    own.caller.store(this_thread(), std::memory_order_relaxed);
    own.begun.store(next, std::memory_order_release);
    if (!by_all)
        return;
    own.last_by_all.store(4 * calls_by_all(next) + static_cast<int>(call),
                          std::memory_order_release);
    base().calls_of(rank).last.store(number_, std::memory_order_release);
}

void ThreadGroup::become_scope(const std::shared_ptr<ThreadGroup>& base, const std::string& what,
                               RunsOf runs) {
    const std::lock_guard lock(base->mutex_);
    if (base_)
        return; // another rank has already made this group a scope
    std::erase_if(base->scopes_, [](const auto& scope) { return scope.second.expired(); });
    what_ = what;
    runs_ = runs;
    number_ = ++base->scopes_made_;
    base->scopes_[number_] = shared_from_this();
    base_ = base;
}

std::shared_ptr<ThreadGroup> ThreadGroup::scope(int number) {
    const std::lock_guard lock(mutex_);
    if (number == 0)
        return shared_from_this();
    const auto found = scopes_.find(static_cast<std::uint32_t>(number));
    return found == scopes_.end() ? nullptr : found->second.lock();
}

std::string ThreadGroup::name() const {
    return number_ == 0 ? what_ : fmt::format("{} (object {})", what_, number_);
}

/// Cancels the current calls of this group and of `group`, in which rank `other` waits, on all
/// ranks. `mine` and `theirs` describe where the two ranks wait.
void ThreadGroup::throw_wrong_order(ThreadGroup& group, int rank, int other,
                                    const std::string& mine, const std::string& theirs) {
    {
        // If one of the groups is cancelled, the ranks may already wait in other calls.
        const std::lock_guard one_at_a_time(base().order_mutex_);
        if (group.cancelled_ || cancelled_)
            return;
        const std::string own = fmt::format("rank {} waits in {}", rank, mine),
                          its = fmt::format("rank {} waits in {}", other, theirs);
        const std::string text =
            fmt::format("ranks make collective calls in different orders: {}; {}",
                        rank < other ? own : its, rank < other ? its : own);
        if (&group != this)
            group.cancel(rank, text, group.calls_of(other).begun.load() - 1, true);
        cancel(rank, text, calls_of(rank).begun.load() - 1, true);
    }
    check(rank);
}

/// Two ranks wait for each other forever if each waits in a call that the other has not begun. If
/// all ranks made their calls in the same order, the rank whose call comes later would have begun
/// the other's call. Compares only calls that all ranks make, because a rank may skip runs of some
/// ranks, and only calls made by the same thread of a rank, because threads need not wait for each
/// other. Ignores cancelled groups, because a failed rank may skip calls. Ranks publish their calls
/// before they check, so the last rank to wait detects the deadlock.
void ThreadGroup::check_order(int rank) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const CallCount& mine = calls_of(rank);
    const std::int64_t own = calls_by_all(mine.begun.load());
    const auto call_in = [](std::int64_t last) { return static_cast<Call>(last % 4); };
    const auto text_of = [&](Call call) {
        return fmt::format("{} of the {}",
                           call == Call::run       ? "a run"
                           : call == Call::barrier ? "a barrier"
                                                   : "an all-gather",
                           name());
    };
    for (int other = 0; other < size_; ++other) {
        const CallCount& its_here = calls_of(other);
        const Call call = call_in(mine.last_by_all.load());
        const std::int64_t last = its_here.last_by_all.load(std::memory_order_acquire);
        const bool one_runs =
            call != call_in(last) && (call == Call::run || call_in(last) == Call::run);
        if (last / 4 == own && one_runs && !cancelled_)
            throw_wrong_order(*this, rank, other, text_of(call), text_of(call_in(last)));
        const std::uint32_t number = base().calls_of(other).last.load(std::memory_order_acquire);
        const std::shared_ptr<ThreadGroup> group =
            number == number_ ? nullptr : base().scope(static_cast<int>(number));
        if (!group || group->cancelled_ || cancelled_)
            continue;
        const CallCount &its = group->calls_of(other), &here = group->calls_of(rank);
        const std::int64_t its_calls = calls_by_all(its.begun.load(std::memory_order_acquire));
        const bool one_thread =
            here.caller.load() == mine.caller.load() && its.caller.load() == its_here.caller.load();
        if (calls_by_all(here.begun.load()) < its_calls &&
            calls_by_all(its_here.begun.load()) < own && one_thread)
            throw_wrong_order(*group, rank, other, "the " + name(), "the " + group->name());
    }
}

std::vector<std::weak_ptr<ThreadGroup>> ThreadGroup::children() {
    const std::lock_guard lock(mutex_);
    return children_;
}

void ThreadGroup::wake_all() {
    arrived_changed_.notify_all();
    for (Inbox& inbox : inboxes_)
        inbox.wake();
}

void ThreadGroup::rank_returns(int rank) {
    returned_[static_cast<std::size_t>(rank)] = true;
    wake_with_children();
}

void ThreadGroup::wake_with_children() {
    // children() takes the lock, so a rank that checked before the change is asleep by now and gets
    // woken.
    for (const auto& child : children()) {
        if (const auto group = child.lock())
            group->wake_with_children();
    }
    wake_all();
}

bool ThreadGroup::has_returned(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return parent_ ? parent_->has_returned(ranks_of_parent_[at]) : returned_[at].load();
}

int ThreadGroup::first_returned() const {
    int rank = 0;
    while (rank < size_ && !has_returned(rank))
        ++rank;
    return rank < size_ ? rank : -1;
}

template <class Part>
void ThreadGroup::meet(int rank, Call call, std::size_t bytes, Part&& part) {
    constexpr std::chrono::milliseconds between_looks{200};
    constexpr int before_giving_up = 25;
    std::unique_lock lock(mutex_);
    if (is_cancelled_for(rank)) {
        lock.unlock();
        check(rank);
    }
    if (arrived_ == 0) {
        call_ = call;
        bytes_ = bytes;
        first_arrived_ = rank;
    } else if (call_ != call || bytes_ != bytes) {
        const auto name = [](Call each, std::size_t size) {
            return each == Call::barrier ? "a barrier"
                                         : fmt::format("an all-gather of {} bytes", size);
        };
        const std::string text = fmt::format(
            "ranks make collective calls in different orders: rank {} waits in {}, rank {} in {}",
            first_arrived_, name(call_, bytes_), rank, name(call, bytes));
        lock.unlock();
        cancel(rank, text, calls_of(rank).begun.load() - 1, true);
        check(rank);
    }
    part();
    const std::uint64_t meeting = meetings_;
    if (++arrived_ == size_) {
        arrived_ = 0;
        ++meetings_;
        arrived_changed_.notify_all();
        return;
    }
    lock.unlock();
    check_order(rank);
    for (int look = 0; look < looks_before_sleep() && size_ > 1 && !crowded_ && !cancelled_;
         ++look) {
        if (meetings_.load(std::memory_order_acquire) != meeting)
            return;
        if (look == looks_before_separating)
            separate(rank);
        pause_briefly();
    }
    lock.lock();
    int returned = -1;
    const auto over = [&] {
        if (meetings_ != meeting || is_cancelled_for(rank))
            return true;
        returned = first_returned();
        return returned >= 0;
    };
    arrived_changed_.wait(lock, [&] { return over() || cancelled_; });
    // The group is cancelled, but the failed rank has completed this call, which may still complete
    // here.
    for (int looks = 0; !arrived_changed_.wait_for(lock, between_looks, over); ++looks) {
        lock.unlock();
        check(rank, looks > before_giving_up);
        lock.lock();
    }
    if (meetings_ != meeting)
        return;
    const bool cancelled = is_cancelled_for(rank);
    lock.unlock();
    check(rank, !cancelled);
    throw PeerFailed(returned, fmt::format("rank {} has returned, but other ranks wait for it in a "
                                           "collective call",
                                           returned));
}

void ThreadGroup::all_gather(int rank, std::span<const std::byte> own, std::span<std::byte> all) {
    if (own.size() * static_cast<std::size_t>(size_) != all.size()) {
        throw std::logic_error("all_gather: the receive buffer does not hold one block per rank");
    }
    begin_call(rank, Call::all_gather, true);
    meet(rank, Call::all_gather, own.size(), [&] {
        gathered_.resize(all.size());
        std::copy(own.begin(), own.end(),
                  gathered_.begin() + static_cast<std::ptrdiff_t>(own.size()) * rank);
    });
    meet(rank, Call::all_gather, own.size(),
         [&] { std::copy(gathered_.begin(), gathered_.end(), all.begin()); });
    end_call(rank);
}

void ThreadGroup::barrier(int rank) {
    begin_call(rank, Call::barrier, true);
    meet(rank, Call::barrier, 0, [] {});
    end_call(rank);
}

void ThreadGroup::enter_run(int rank) {
    if (!std::exchange(calls_of(rank).run_counted, false))
        begin_call(rank, Call::run, all_ranks_run());
    running_.fetch_add(1);
    if (!cancelled_)
        return;
    try {
        check(rank);
    } catch (...) {
        running_.fetch_sub(1);
        throw;
    }
}

void ThreadGroup::wait_until_none_runs(int rank) {
    constexpr std::chrono::seconds patience{5};
    const auto since = std::chrono::steady_clock::now();
    for (bool told = false; running_.load() > 0; std::this_thread::yield()) {
        if (told || std::chrono::steady_clock::now() - since < patience)
            continue;
        told = true;
        ThreadGroup* group = this;
        for (; group->parent_; group = group->parent_.get())
            rank = group->ranks_of_parent_[static_cast<std::size_t>(rank)];
        group->fail(rank, "failed");
    }
}

std::shared_ptr<ThreadGroup> ThreadGroup::child(int sequence, int color, std::vector<int> ranks) {
    const std::lock_guard lock(mutex_);
    auto& group = splits_[{sequence, color}];
    const int size = static_cast<int>(ranks.size());
    if (!group) {
        group = std::make_shared<ThreadGroup>(shared_from_this(), std::move(ranks));
        children_.push_back(group);
    }
    const std::shared_ptr<ThreadGroup> made = group;
    if (++joined_[{sequence, color}] == size) {
        splits_.erase({sequence, color});
        joined_.erase({sequence, color});
    }
    return made;
}

} // namespace sextant
