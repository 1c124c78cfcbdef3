// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace sextant {

namespace {

class ThreadExchange;

/// What ranks put into each other's inboxes.
struct Note {
    enum class Kind : std::uint8_t {
        offer,    ///< "my message lies here"
        returned, ///< "your message has been read"
    };
    Kind kind = Kind::offer;
    bool lends = false;
    int source = 0;
    int tag = 0;
    Bytes bytes = 0;
    const std::vector<Blocks>* blocks = nullptr; ///< in the sender's exchange
    ThreadExchange* sender = nullptr;
    int message = 0; ///< the sender's
};

/// Notes for one rank. Several ranks post, one takes.
class Inbox {
  public:
    void post(const Note& note) {
        {
            const std::lock_guard lock(mutex_);
            notes_.push_back(note);
        }
        wake();
    }

    void take(std::vector<Note>& to) {
        if (posted_.load(std::memory_order_acquire) == taken_)
            return;
        const std::lock_guard lock(mutex_);
        taken_ = posted_.load(std::memory_order_acquire);
        std::swap(to, notes_);
    }

    void wake() {
        posted_.fetch_add(1, std::memory_order_seq_cst);
        if (asleep_.load(std::memory_order_seq_cst))
            posted_.notify_one();
    }

    /// Sleeps until something has been posted since the last take.
    void sleep() {
        asleep_.store(true, std::memory_order_seq_cst);
        posted_.wait(taken_, std::memory_order_seq_cst);
        asleep_.store(false, std::memory_order_relaxed);
    }

  private:
    std::mutex mutex_;
    std::vector<Note> notes_;
    std::atomic<std::uint32_t> posted_{0};
    std::uint32_t taken_ = 0; // of the owner
    std::atomic<bool> asleep_{false};
};

/// What the ranks of a group share.
class ThreadGroup {
  public:
    explicit ThreadGroup(int size) : size_(size), inboxes_(static_cast<std::size_t>(size)) {}

    int size() const { return size_; }
    Inbox& inbox(int rank) { return inboxes_[static_cast<std::size_t>(rank)]; }
    bool crowded() const {
        return std::thread::hardware_concurrency() < static_cast<unsigned>(size_);
    }

    void check() const {
        if (cancelled_)
            throw PeerFailed(failed_rank_, fmt::format("rank {} failed", failed_rank_));
    }

    /// Makes every rank throw from whatever it waits for, in this group and all made from it.
    void cancel(int failed_rank) {
        std::vector<std::weak_ptr<ThreadGroup>> children;
        {
            const std::lock_guard lock(mutex_);
            if (!cancelled_)
                failed_rank_ = failed_rank;
            cancelled_ = true;
            children = children_;
        }
        arrived_changed_.notify_all();
        for (Inbox& inbox : inboxes_)
            inbox.wake();
        for (const auto& child : children) {
            if (const auto group = child.lock())
                group->cancel(failed_rank);
        }
    }

    /// Everyone leaves a value and then reads all; twice, so that none is overwritten early.
    void all_gather(int rank, std::span<const std::byte> mine, std::span<std::byte> all) {
        if (mine.size() * static_cast<std::size_t>(size_) != all.size()) {
            throw std::logic_error("all_gather: sizes differ");
        }
        meet([&] {
            gathered_.resize(all.size());
            std::copy(mine.begin(), mine.end(),
                      gathered_.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank);
        });
        meet([&] { std::copy(gathered_.begin(), gathered_.end(), all.begin()); });
    }

    void barrier() {
        meet([] {});
    }

    /// Ranks between begin and end of a run: they may be reading each other's memory.
    void enter_run() {
        running_.fetch_add(1);
        if (cancelled_) {
            leave_run();
            check();
        }
    }
    void leave_run() { running_.fetch_sub(1); }
    void wait_until_none_runs() const {
        while (running_.load() > 0)
            std::this_thread::yield();
    }

    /// The group of everyone who asks with the same key, made by the first.
    std::shared_ptr<ThreadGroup> child(int sequence, int color, int size) {
        const std::lock_guard lock(mutex_);
        auto& group = splits_[{sequence, color}];
        if (!group) {
            group = std::make_shared<ThreadGroup>(size);
            children_.push_back(group);
        }
        const std::shared_ptr<ThreadGroup> made = group;
        if (++joined_[{sequence, color}] == size) {
            splits_.erase({sequence, color});
            joined_.erase({sequence, color});
        }
        return made;
    }

  private:
    /// Each rank does its part under the lock, then waits until all have.
    template <class Part>
    void meet(Part&& part) {
        std::unique_lock lock(mutex_);
        check();
        part();
        const std::uint64_t meeting = meetings_;
        if (++arrived_ == size_) {
            arrived_ = 0;
            ++meetings_;
            arrived_changed_.notify_all();
        }
        arrived_changed_.wait(lock, [&] { return meetings_ != meeting || cancelled_; });
        if (meetings_ == meeting)
            check();
    }

    const int size_;
    std::vector<Inbox> inboxes_;
    std::atomic<bool> cancelled_{false};
    std::atomic<int> failed_rank_{-1};
    std::atomic<int> running_{0};

    std::mutex mutex_;
    std::condition_variable arrived_changed_;
    int arrived_ = 0;
    std::uint64_t meetings_ = 0;
    std::vector<std::byte> gathered_;
    std::vector<std::weak_ptr<ThreadGroup>> children_;
    std::map<std::pair<int, int>, std::shared_ptr<ThreadGroup>> splits_; // while being joined
    std::map<std::pair<int, int>, int> joined_;
};

/// A rank's end of a group.
class ThreadTransport : public Transport {
  public:
    ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank)
        : group_(std::move(group)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return group_->size(); }
    bool shares_memory() const override { return true; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    void barrier() override { group_->barrier(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        group_->all_gather(rank_, mine, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;

    ThreadGroup& group() { return *group_; }
    /// Offers for a run that has not begun.
    std::vector<Note> early;

  private:
    std::shared_ptr<ThreadGroup> group_;
    const int rank_;
    int splits_ = 0;
};

std::shared_ptr<Transport> ThreadTransport::split(int color, int key) {
    struct Wish {
        int color, key, rank;
        auto operator<=>(const Wish&) const = default;
    };
    std::vector<Wish> wishes(static_cast<std::size_t>(size()));
    const Wish mine{color, key, rank_};
    all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(wishes)));
    ++splits_;
    if (color < 0)
        return nullptr;
    std::erase_if(wishes, [&](const Wish& wish) { return wish.color != color; });
    std::sort(wishes.begin(), wishes.end());
    const auto place = std::find(wishes.begin(), wishes.end(), mine) - wishes.begin();
    return std::make_shared<ThreadTransport>(
        group_->child(splits_, color, static_cast<int>(wishes.size())), static_cast<int>(place));
}

void copy_blocks(const std::vector<Blocks>& to, const std::vector<Blocks>& from) {
    std::size_t t = 0, f = 0;
    Bytes done_to = 0, done_from = 0; // within blocks t and f
    const auto left = [](const Blocks& b, Bytes done) {
        return b.contiguous() ? b.bytes() - done : b.length - done % b.length;
    };
    const auto address = [](const Blocks& b, Bytes done) {
        return b.contiguous() ? b.base + done
                              : b.base + done / b.length * b.stride + done % b.length;
    };
    while (t < to.size() && f < from.size()) {
        const Bytes count = std::min(left(to[t], done_to), left(from[f], done_from));
        std::memcpy(address(to[t], done_to), address(from[f], done_from),
                    static_cast<std::size_t>(count));
        done_to += count;
        done_from += count;
        if (done_to == to[t].bytes())
            ++t, done_to = 0;
        if (done_from == from[f].bytes())
            ++f, done_from = 0;
    }
}

class ThreadExchange : public Exchange {
  public:
    ThreadExchange(ThreadTransport& transport, std::vector<Message> messages)
        : transport_(transport),
          group_(transport.group()),
          messages_(std::move(messages)),
          receives_(messages_.size()),
          crowded_(group_.crowded()) {
        for (std::size_t m = 0; m < messages_.size(); ++m) {
            const Message& message = messages_[m];
            if (!message.sends)
                by_sender_[{message.peer, message.tag}] = static_cast<int>(m);
        }
        finished_.reserve(messages_.size());
        notes_.reserve(2 * messages_.size());
    }

    bool lends() const override { return true; }

    void place(int message, const std::vector<Blocks>& blocks) override {
        at(message).blocks = blocks;
    }

    void begin() override {
        group_.enter_run();
        std::fill(receives_.begin(), receives_.end(), Receive{});
        finished_.clear();
        std::vector<Note> early = std::move(transport_.early);
        transport_.early.clear();
        for (const Note& note : early)
            take(note);
    }
    void end() override { group_.leave_run(); }
    void abandon() override {
        group_.cancel(transport_.rank());
        group_.leave_run();
        group_.wait_until_none_runs();
    }

    void start(int m) override {
        if (at(m).sends)
            return offer(m, at(m).bytes());
        Receive& receive = receives_[static_cast<std::size_t>(m)];
        receive.started = true;
        if (receive.offered)
            match(m);
    }
    void start_empty(int m) override { offer(m, 0); }

    int poll(std::span<Completion> completions) override {
        group_.check();
        notes_.clear();
        group_.inbox(transport_.rank()).take(notes_);
        for (const Note& note : notes_)
            take(note);
        const std::size_t count = std::min(completions.size(), finished_.size());
        std::copy_n(finished_.begin(), count, completions.begin());
        finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
        return static_cast<int>(count);
    }

    void give_back(int m) override {
        const Note& offer = receives_[static_cast<std::size_t>(m)].offer;
        group_.inbox(at(m).peer)
            .post({Note::Kind::returned, false, transport_.rank(), offer.tag, 0, nullptr,
                   offer.sender, offer.message});
    }

    void copy_loan(int m) override {
        copy_blocks(at(m).blocks, *receives_[static_cast<std::size_t>(m)].offer.blocks);
        give_back(m);
    }

    void rest(int idle) override {
        constexpr int pauses = 200, yields = 400;
        if (idle < pauses && !crowded_)
            pause_briefly();
        else if (idle < yields)
            std::this_thread::yield();
        else
            group_.inbox(transport_.rank()).sleep();
    }

  private:
    struct Receive {
        bool started = false, offered = false;
        Note offer;
    };

    Message& at(int message) { return messages_[static_cast<std::size_t>(message)]; }

    void offer(int m, Bytes bytes) {
        const Message& message = at(m);
        group_.inbox(message.peer)
            .post({Note::Kind::offer, message.lends, transport_.rank(), message.tag, bytes,
                   &message.blocks, this, m});
    }

    void take(const Note& note) {
        if (note.kind == Note::Kind::returned) {
            finished_.push_back({note.message, note.sender->at(note.message).bytes(), {}});
            return;
        }
        const auto found = by_sender_.find({note.source, note.tag});
        if (found == by_sender_.end() ||
            receives_[static_cast<std::size_t>(found->second)].offered) {
            transport_.early.push_back(note);
            return;
        }
        Receive& receive = receives_[static_cast<std::size_t>(found->second)];
        receive.offered = true;
        receive.offer = note;
        if (receive.started)
            match(found->second);
    }

    void match(int m) {
        const Note& offer = receives_[static_cast<std::size_t>(m)].offer;
        if (offer.bytes > at(m).bytes()) {
            throw std::logic_error(fmt::format("rank {}: {} bytes from rank {}, room for {}",
                                               transport_.rank(), offer.bytes, offer.source,
                                               at(m).bytes()));
        }
        if (offer.lends && at(m).lends && offer.bytes > 0) {
            finished_.push_back({m, offer.bytes, *offer.blocks});
            return;
        }
        if (offer.bytes > 0)
            copy_blocks(at(m).blocks, *offer.blocks);
        give_back(m);
        finished_.push_back({m, offer.bytes, {}});
    }

    ThreadTransport& transport_;
    ThreadGroup& group_;
    std::vector<Message> messages_;
    std::vector<Receive> receives_;                // by message
    std::map<std::pair<int, int>, int> by_sender_; // (peer, tag) of each receive
    std::vector<Completion> finished_;
    std::vector<Note> notes_;
    const bool crowded_;
};

std::unique_ptr<Exchange> ThreadTransport::open(std::vector<Message> messages) {
    return std::make_unique<ThreadExchange>(*this, std::move(messages));
}

/// What each rank's body threw, and who was first.
class Errors {
  public:
    explicit Errors(int ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}

    void add(int rank) { of_rank_[static_cast<std::size_t>(rank)] = std::current_exception(); }

    /// Throws the first that was not caused by another.
    void rethrow() const {
        std::exception_ptr consequence;
        for (const std::exception_ptr& error : of_rank_) {
            if (!error)
                continue;
            try {
                std::rethrow_exception(error);
            } catch (const PeerFailed&) {
                if (!consequence)
                    consequence = error;
            }
        }
        if (consequence)
            std::rethrow_exception(consequence);
    }

  private:
    std::vector<std::exception_ptr> of_rank_;
};

} // namespace

void run_threads(int ranks, const std::function<void(Communicator)>& body) {
    if (ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", ranks));
    const auto group = std::make_shared<ThreadGroup>(ranks);
    Errors errors(ranks);
    const auto run = [&](int rank) {
        try {
            body(Communicator(std::make_shared<ThreadTransport>(group, rank)));
        } catch (...) {
            errors.add(rank);
            group->cancel(rank);
        }
    };
    std::vector<std::jthread> threads;
    try {
        for (int rank = 1; rank < ranks; ++rank)
            threads.emplace_back(run, rank);
    } catch (const std::system_error& error) {
        group->cancel(static_cast<int>(threads.size()) + 1);
        throw CommunicationFailed(fmt::format("only {} of {} ranks got a thread: {}",
                                              threads.size() + 1, ranks, error.what()));
    }
    run(0);
    threads.clear();
    errors.rethrow();
}

} // namespace sextant
