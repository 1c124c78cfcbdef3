// SPDX-License-Identifier: BSD-3-Clause

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_calls.hpp"

#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sextant {

void send_notice(MPI_Comm comm, int tag, std::span<const int> ranks,
                 std::span<const std::byte> bytes) {
    int own = 0;
    MPI_Comm_rank(comm, &own);
    auto copy = std::make_unique<std::byte[]>(bytes.size() + 1);
    std::ranges::copy(bytes, copy.get());
    bool read = true;
    for (const int rank : ranks) {
        if (rank == own)
            continue;
        MPI_Request request = MPI_REQUEST_NULL;
        int done = 0;
        mpi_check(MPI_Isend(copy.get(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, comm,
                            &request),
                  "MPI_Isend");
        mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (!done)
            mpi_check(MPI_Request_free(&request), "MPI_Request_free");
        read = read && (done || bytes.empty());
    }
    if (!read)
        static_cast<void>(copy.release()); // leaked: MPI may still read these few bytes
}

std::optional<MpiNotice> receive_notice(MPI_Comm comm, int tag) {
    int came = 0;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    mpi_check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &came, &message, &status), "MPI_Improbe");
    if (!came)
        return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    MpiNotice notice{status.MPI_SOURCE, status.MPI_TAG, {}};
    notice.bytes.resize(static_cast<std::size_t>(size));
    mpi_check(MPI_Mrecv(notice.bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
    return notice;
}

namespace {

/// The number of calls that this rank has begun for the user with this number, as sent in notices.
/// Includes only calls that all ranks make.
struct Count {
    std::int64_t number, begun;
};

std::vector<std::byte> notice_of(const auto& head, std::span<const std::byte> rest) {
    std::vector<std::byte> bytes(sizeof head + rest.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    std::ranges::copy(rest, bytes.begin() + sizeof head);
    return bytes;
}

constexpr std::chrono::milliseconds first_patience{200};
constexpr std::chrono::seconds most_patience{64};
/// The time that this rank allows for completing a call that the failed rank has completed. The
/// call normally completes sooner. But if ranks have counted calls differently, for example after
/// an earlier error, a call with a lower number may wait for the failed rank.
constexpr std::chrono::seconds to_complete{5};
constexpr std::size_t ended_kept = 64, early_kept = 1000;

/// Hashes two numbers; collisions are very unlikely.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t sum = (a ^ (b + odd + (a << 6) + (a >> 2))) * odd;
    return sum ^ (sum >> 29);
}

} // namespace

/// The header of a notice. A failure or order notice is followed by the error text, a wait notice
/// by an array of Count.
struct MpiCalls::Head {
    enum What : int { failure, order, wait };
    int what;
    std::uint64_t family;
    int number; ///< number of the user of the communicator
    /// In a wait notice, the call that waits; in other notices, the last completed call.
    std::int64_t calls;
    int rank; ///< rank that failed or waits
    Kind kind;
    Bytes bytes;
};

/// A rank that has announced that it waits in a call.
struct MpiCalls::Waiting {
    int rank = 0;
    Head head{};
    std::vector<Count> counts;
};

/// The program's communicator, on which all notices are sent.
struct MpiCalls::Root {
    MPI_Comm comm = MPI_COMM_NULL;
    int tag = 0;
    std::shared_ptr<void> owner;
    bool* has_strays = nullptr;
    std::recursive_mutex mutex; // several threads may use objects of one communicator
    std::map<std::uint64_t, Family*> families;
    /// Failures of users that this rank has not created yet, by family and user number.
    std::map<std::pair<std::uint64_t, int>, Failure> early;
};

/// The users of one communicator, and the ranks that have announced that they wait.
struct MpiCalls::Family {
    Family(std::shared_ptr<Root> its_root, std::uint64_t its_key, MPI_Comm comm)
        : root(std::move(its_root)), key(its_key), ranks(mpi_ranks_in(root->comm, comm)) {
        mpi_check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
        const std::lock_guard lock(root->mutex);
        root->families[key] = this;
    }
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;
    ~Family() {
        const std::lock_guard lock(root->mutex);
        root->families.erase(key);
    }

    const std::shared_ptr<Root> root;
    const std::uint64_t key;
    const std::vector<int> ranks; // in the root's communicator
    int rank = 0;
    std::map<int, MpiCalls*> users;
    std::deque<Count> ended;
    std::map<int, std::string> ended_names;
    int made = 0;
    std::set<int> failed;           // numbers of failed users
    std::map<int, Waiting> waiting; // by rank
    Clock::duration patience = first_patience;

    /// Returns the counts of users that have ended, and of users whose last call was made by the
    /// given thread. Other threads of this rank need not wait for that thread.
    std::vector<Count> counts(const void* thread) const {
        std::vector<Count> all(ended.begin(), ended.end());
        for (const auto& [number, calls] : users) {
            if (calls->caller_.load(std::memory_order_relaxed) == thread)
                all.push_back({number, calls->by_all()});
        }
        return all;
    }
    void send(const Head& head, std::span<const std::byte> rest) const {
        send_notice(root->comm, root->tag, ranks, notice_of(head, rest));
    }
};

MpiCalls::MpiCalls(MPI_Comm comm, int tag, std::shared_ptr<void> owner, bool& has_strays)
    : what_("communicator") {
    const auto root = std::make_shared<Root>();
    root->comm = comm;
    root->tag = tag;
    root->owner = std::move(owner);
    root->has_strays = &has_strays;
    family_ = std::make_shared<Family>(root, 0, comm);
    family_->users[0] = this;
}

MpiCalls::MpiCalls(MpiCalls& outer, MPI_Comm comm, std::uint64_t which)
    : family_(std::make_shared<Family>(outer.family_->root, mixed(outer.key(), which), comm)),
      what_("communicator") {
    const std::lock_guard lock(family_->root->mutex);
    family_->users[0] = this;
    take_early();
}

MpiCalls::MpiCalls(std::shared_ptr<MpiCalls> base, std::string what, RunsOf runs)
    : family_(base->family_), base_(std::move(base)), what_(std::move(what)), runs_(runs) {
    const std::lock_guard lock(family_->root->mutex);
    number_ = ++family_->made;
    family_->users[number_] = this;
    take_early();
}

void MpiCalls::take_early() {
    auto& all = family_->root->early;
    if (const auto early = all.find({family_->key, number_}); early != all.end()) {
        set_failure(early->second);
        all.erase(early);
    }
}

std::uint64_t MpiCalls::key() const {
    return mixed(family_->key, static_cast<std::uint64_t>(number_));
}

MpiCalls::~MpiCalls() {
    const std::lock_guard lock(family_->root->mutex);
    family_->users.erase(number_);
    family_->ended.push_back({number_, by_all()});
    family_->ended_names[number_] = what_;
    if (family_->ended.size() > ended_kept) {
        family_->ended_names.erase(static_cast<int>(family_->ended.front().number));
        family_->ended.pop_front();
    }
}

void MpiCalls::add_dependant(const std::shared_ptr<MpiCalls>& calls) {
    const std::lock_guard lock(family_->root->mutex);
    std::erase_if(dependants_, [](const auto& dependant) { return dependant.expired(); });
    dependants_.push_back(calls);
}

void MpiCalls::count(Kind kind, Bytes bytes) {
    static thread_local char thread = 0; // its address identifies the thread
    is_by_all_ = kind != Kind::run || runs_ == RunsOf::all_ranks;
    caller_.store(&thread, std::memory_order_relaxed);
    begun_.store(call_after(begun_.load(std::memory_order_relaxed), is_by_all_),
                 std::memory_order_relaxed);
    kind_ = kind;
    bytes_ = bytes;
    under_way_ = true;
    waits_ = false;
}

void MpiCalls::look() {
    const std::lock_guard lock(family_->root->mutex);
    const Clock::time_point now = Clock::now();
    receive();
    if (failed_)
        check_failure();
    if (!std::exchange(waits_, true)) {
        waits_since_ = now;
        told_ = false;
    }
    if (!under_way_ || !is_by_all_ || now - waits_since_ < family_->patience)
        return;
    if (!std::exchange(told_, true))
        tell_waiting();
    check_order();
}

void MpiCalls::receive() {
    const Root& root = *family_->root;
    while (const std::optional<MpiNotice> notice = receive_notice(root.comm, root.tag))
        take(*notice);
}

void MpiCalls::take(const MpiNotice& notice) {
    Head head;
    std::memcpy(&head, notice.bytes.data(), sizeof head);
    const std::span<const std::byte> rest = std::span(notice.bytes).subspan(sizeof head);
    Root& root = *family_->root;
    const auto family = root.families.find(head.family);
    if (head.what == Head::What::wait) {
        if (family == root.families.end())
            return;
        Waiting& waiting = family->second->waiting[head.rank];
        waiting = {head.rank, head, std::vector<Count>(rest.size() / sizeof(Count))};
        std::memcpy(waiting.counts.data(), rest.data(), rest.size());
        return;
    }
    const Failure failure{head.rank, head.what == Head::What::order, head.calls,
                          std::string(reinterpret_cast<const char*>(rest.data()), rest.size())};
    if (family == root.families.end() || head.number > family->second->made) {
        if (root.early.size() < early_kept)
            root.early.emplace(std::pair{head.family, head.number}, failure);
        return;
    }
    const auto user = family->second->users.find(head.number);
    if (user != family->second->users.end())
        user->second->set_failure(failure);
}

void MpiCalls::set_failure(const Failure& failure) {
    if (failed_)
        return;
    *family_->root->has_strays = true;
    family_->failed.insert(number_);
    failure_ = failure;
    failed_since_ = Clock::now();
    failed_ = true;
}

void MpiCalls::check_failure() {
    if (begun() <= failure_.calls && Clock::now() - failed_since_ < to_complete)
        return;
    if (failure_.order)
        throw InvalidTask(failure_.text);
    throw PeerFailed(failure_.rank, fmt::format("rank {}: {}", failure_.rank, failure_.text));
}

void MpiCalls::fail(const std::string& text) {
    const std::lock_guard lock(family_->root->mutex);
    for (const auto& dependant : dependants_) {
        if (const auto calls = dependant.lock())
            calls->fail(text);
    }
    if (number_ == 0) {
        for (const auto& [number, user] : family_->users) {
            if (number > 0)
                user->fail(text);
        }
    }
    if (failed_)
        return;
    const Failure failure{family_->rank, false, begun() - (under_way_ ? 1 : 0), text};
    set_failure(failure);
    family_->send(head(Head::What::failure, number_, failure.calls),
                  std::as_bytes(std::span(text)));
}

/// Announces that this rank waits. The time before each announcement doubles, so that few notices
/// pile up at a busy rank that never receives them.
void MpiCalls::tell_waiting() {
    family_->patience = std::min<Clock::duration>(2 * family_->patience, most_patience);
    const std::vector<Count> counts = family_->counts(caller_);
    family_->send(head(Head::What::wait, number_, begun()), std::as_bytes(std::span(counts)));
}

/// Detects two ranks in different calls of one user, and two ranks that wait for each other forever
/// because each waits in a call that the other has not begun. If all ranks made their calls in the
/// same order, the rank whose call comes later would have begun the other's call. Compares only
/// calls that all ranks make, because a rank may skip runs of some ranks, and only calls made by
/// the same thread of a rank, because threads need not wait for each other. Ignores failed users,
/// because a failed rank may skip calls.
void MpiCalls::check_order() {
    const auto begun_in = [](const std::vector<Count>& counts, int number) {
        const auto found = std::ranges::find(counts, number, &Count::number);
        return found == counts.end() ? std::int64_t{-1} : found->begun;
    };
    const std::vector<Count> own = family_->counts(caller_);
    for (const auto& [rank, other] : family_->waiting) {
        const Head& head = other.head;
        if (failed_ || family_->failed.contains(head.number))
            continue;
        if (head.number == number_) {
            const bool differs = head.kind != kind_ || head.bytes != bytes_;
            if (head.calls == begun() && differs)
                fail_order(other);
            continue;
        }
        const std::int64_t here = begun_in(own, head.number),
                           there = begun_in(other.counts, number_);
        if (here >= 0 && there >= 0 && here < calls_by_all(head.calls) && there < by_all())
            fail_order(other);
    }
}

MpiCalls::Head MpiCalls::head(int what, int number, std::int64_t calls) const {
    return {what, family_->key, number, calls, family_->rank, kind_, bytes_};
}

/// Describes the call in which a rank waits. `says_call`: also name the kind of call; needed if
/// both ranks call the same object.
std::string MpiCalls::text_of(int rank, int number, Kind kind, Bytes bytes, bool says_call) const {
    const auto user = family_->users.find(number);
    const std::string name =
        user != family_->users.end() ? user->second->what_ : family_->ended_names[number];
    const std::string object =
        number > 0 ? fmt::format("the {} (object {})", name, number) : "the communicator";
    if (number > 0 && !says_call)
        return fmt::format("rank {} waits in {}", rank, object);
    return fmt::format("rank {} waits in {} of {}", rank,
                       kind == Kind::run       ? "a run"
                       : kind == Kind::barrier ? "a barrier"
                                               : fmt::format("an all-gather of {} bytes", bytes),
                       object);
}

void MpiCalls::fail_order(const Waiting& other) {
    const bool same = other.head.number == number_;
    const std::string own = text_of(family_->rank, number_, kind_, bytes_, same),
                      its = text_of(other.rank, other.head.number, other.head.kind,
                                    other.head.bytes, same);
    const bool first = family_->rank < other.rank;
    const std::string text = fmt::format("ranks make collective calls in different orders: {}; {}",
                                         first ? own : its, first ? its : own);
    for (const int number : {number_, other.head.number}) {
        const auto user = family_->users.find(number);
        const std::int64_t calls = number == number_ ? begun() : other.head.calls;
        if (user != family_->users.end())
            user->second->set_failure({family_->rank, true, calls - 1, text});
        family_->send(head(Head::What::order, number, calls - 1), std::as_bytes(std::span(text)));
    }
    check_failure();
}

} // namespace sextant

#endif
