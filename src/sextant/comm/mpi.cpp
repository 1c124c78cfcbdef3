// SPDX-License-Identifier: BSD-3-Clause

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"

#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/comm/node_transport.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

namespace sextant {

namespace {

void barrier(MPI_Comm comm, MpiCalls* calls = nullptr) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    mpi_finish(request, "MPI_Ibarrier", calls);
}

/// Gathers through temporary buffers. If a rank fails, MPI may still access these buffers, so they
/// are leaked.
void all_gather(MPI_Comm comm, std::span<const std::byte> local, std::span<std::byte> all,
                MpiCalls* calls = nullptr) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int bytes = static_cast<int>(local.size());
    auto buffers = std::make_unique<std::byte[]>(local.size() + all.size());
    std::byte* const received = std::ranges::copy(local, buffers.get()).out;
    mpi_check(
        MPI_Iallgather(buffers.get(), bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm, &request),
        "MPI_Iallgather");
    try {
        mpi_finish(request, "MPI_Iallgather", calls);
    } catch (...) {
        static_cast<void>(buffers.release());
        throw;
    }
    std::copy_n(received, all.size(), all.begin());
}

/// True if the ranks of this node outnumber its cores. Collective.
bool is_crowded(MPI_Comm comm) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, ranks = 0;
    MPI_Get_processor_name(name, &length);
    MPI_Comm_size(comm, &ranks);
    const Seat local{std::hash<std::string_view>()({name, static_cast<std::size_t>(length)}),
                     Cores::available()};
    std::vector<Seat> all(static_cast<std::size_t>(ranks));
    all_gather(comm, std::as_bytes(std::span(&local, 1)), std::as_writable_bytes(std::span(all)));
    return is_crowded(local.host, all);
}

/// The library's duplicate of a caller's communicator, shared by all users of that communicator.
class Duplicate {
  public:
    explicit Duplicate(MPI_Comm original) {
        duplicate(original);
        crowded_ = is_crowded(comm_);
    }
    /// Creates another duplicate over the same ranks.
    explicit Duplicate(const Duplicate& other) : crowded_(other.crowded_) {
        duplicate(other.comm_);
    }
    Duplicate& operator=(const Duplicate&) = delete;
    ~Duplicate() {
        if (!has_strays && !mpi_finalized())
            MPI_Comm_free(&comm_);
    }
    MPI_Comm get() const { return comm_; }
    /// True if messages may still be in transit; the duplicate is then never freed.
    bool has_strays = false;
    bool crowded() const { return crowded_; }

  private:
    void duplicate(MPI_Comm original) {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Comm_idup(original, &comm_, &request), "MPI_Comm_idup");
        mpi_finish(request, "MPI_Comm_idup");
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    bool crowded_ = false;
};

/// A pool of duplicates of a communicator, one per object. When an object has been destroyed on all
/// ranks, its duplicate is reused, so that objects can be created often.
class DuplicatePool {
  public:
    using Mask = std::uint64_t;
    static constexpr int most = 64;

    /// A bit mask of the duplicates that no object of this rank uses.
    Mask free() const { return free_.load(); }
    /// Takes the first duplicate of `free_everywhere`, the bit mask of those that are free on all
    /// ranks; if there is none, creates one. Returns the index of the duplicate, or -1 if the pool
    /// is full and does not keep it. Collective.
    int take(Mask free_everywhere, const Duplicate& original, std::shared_ptr<Duplicate>& taken) {
        if (free_everywhere != 0) {
            const int index = std::countr_zero(free_everywhere);
            free_ &= ~(Mask{1} << index);
            taken = all_[static_cast<std::size_t>(index)];
            return index;
        }
        taken = std::make_shared<Duplicate>(original);
        if (static_cast<int>(all_.size()) == most)
            return -1;
        all_.push_back(taken);
        return static_cast<int>(all_.size()) - 1;
    }
    void give_back(int index) { free_ |= Mask{1} << index; }

  private:
    std::vector<std::shared_ptr<Duplicate>> all_; // the same on all ranks
    std::atomic<Mask> free_{0};
};

class MpiTransport : public Transport, public Scoping {
  public:
    explicit MpiTransport(std::shared_ptr<Duplicate> duplicate) : duplicate_(std::move(duplicate)) {
        read_sizes();
        calls_ = std::make_shared<MpiCalls>(comm(), most_tag_, duplicate_, duplicate_->has_strays);
    }
    /// The transport for some of the ranks of `whole`; MpiCalls explains `which`.
    MpiTransport(MpiTransport& whole, std::shared_ptr<Duplicate> duplicate, std::uint64_t which)
        : duplicate_(std::move(duplicate)), name_("part of a communicator"), outer_(whole.calls_) {
        read_sizes();
        calls_ = std::make_shared<MpiCalls>(*whole.calls_, comm(), which);
        whole.calls_->add_dependant(calls_);
    }
    /// The transport for an object that uses the communicator of `base`.
    MpiTransport(MpiTransport& base, DuplicatePool::Mask free_everywhere, const std::string& name,
                 RunsOf runs)
        : pool_(base.pool_), name_(name) {
        index_ = pool_->take(free_everywhere, *base.duplicate_, duplicate_);
        read_sizes();
        calls_ = std::make_shared<MpiCalls>(base.own_calls(), name, runs);
        is_scope_ = true;
    }
    MpiTransport(const MpiTransport&) = delete;
    MpiTransport& operator=(const MpiTransport&) = delete;
    /// If an exception destroys this transport, reports the failure to all ranks.
    ~MpiTransport() override {
        if (!name_.empty() && std::uncaught_exceptions() > exceptions_ && !mpi_finalized()) {
            try {
                calls_->fail(fmt::format("an exception destroyed its {}", name_));
            } catch (...) { // MPI no longer works: no rank can be notified
            }
        }
        // Other ranks may have sent messages that this rank will not receive.
        if (calls_->failed() || (outer_ && outer_->failed()))
            duplicate_->has_strays = true;
        if (index_ >= 0 && !calls_->failed() && !(within_ && within_->failed()) &&
            !duplicate_->has_strays)
            pool_->give_back(index_);
    }

    MPI_Comm comm() const { return duplicate_->get(); }
    int most_tag() const { return most_tag_; }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    bool shares_memory() const override { return false; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;

    std::vector<Segment> shared_segments(Bytes size) override {
        return segments_by_window(comm(), size);
    }

    std::unique_ptr<LibraryOperation> library_operation(const LibraryTask& task) override {
        return mpi_collective(comm(), conditions(), task);
    }

    void barrier() override {
        call(MpiCalls::Kind::barrier, 0, [&] { sextant::barrier(comm(), calls_.get()); });
    }
    void all_gather(std::span<const std::byte> local, std::span<std::byte> all) override {
        if (local.size() * static_cast<std::size_t>(size_) != all.size())
            throw std::logic_error(
                "all_gather: the receive buffer does not hold one block per rank");
        call(MpiCalls::Kind::all_gather, static_cast<Bytes>(local.size()),
             [&] { sextant::all_gather(comm(), local, all, calls_.get()); });
    }

    std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf runs) override;
    void fail(const std::string& text) override { calls_->fail(text); }
    void look() override { calls_->look(); }
    void begin_run() override { calls_->begin_run(); }
    void end_run() override { calls_->end(); }

    std::shared_ptr<Transport> split(int color, int key) override {
        // MPI has no non-blocking split: the barrier makes all ranks enter the split together.
        barrier();
        MPI_Comm part = MPI_COMM_NULL;
        mpi_check(MPI_Comm_split(comm(), color < 0 ? MPI_UNDEFINED : color, key, &part),
                  "MPI_Comm_split");
        if (part == MPI_COMM_NULL) {
            ++splits_;
            return nullptr;
        }
        const std::uint64_t which = std::uint64_t{++splits_} << 32 | static_cast<unsigned>(color);
        auto transport =
            std::make_shared<MpiTransport>(*this, std::make_shared<Duplicate>(part), which);
        MPI_Comm_free(&part);
        return transport;
    }

  private:
    /// Reads the rank, the number of ranks and the largest tag, which is reserved for notices.
    void read_sizes() {
        mpi_check(MPI_Comm_rank(comm(), &rank_), "MPI_Comm_rank");
        mpi_check(MPI_Comm_size(comm(), &size_), "MPI_Comm_size");
        int found = 0;
        int* bound = nullptr;
        MPI_Comm_get_attr(comm(), MPI_TAG_UB, &bound, &found);
        if (found)
            most_tag_ = *bound;
    }

    MpiConditions conditions() const {
        return {duplicate_->crowded(), most_tag_ - 1, &duplicate_->has_strays, calls_};
    }

    /// Runs a collective MPI call. If a rank has failed, the MPI call stays pending, so the
    /// duplicate is never freed.
    template <class Run>
    void call(MpiCalls::Kind kind, Bytes bytes, const Run& run) {
        calls_->begin(kind, bytes);
        try {
            run();
        } catch (...) {
            duplicate_->has_strays = true;
            throw;
        }
        calls_->end();
    }

    /// Returns the calls that serve as `base` of the objects on this communicator.
    const std::shared_ptr<MpiCalls>& own_calls() {
        if (!is_scope_)
            return calls_;
        if (!within_) {
            within_ = std::make_shared<MpiCalls>(*calls_, comm(), 0);
            calls_->add_dependant(within_);
        }
        return within_;
    }

    std::shared_ptr<DuplicatePool> pool_ = std::make_shared<DuplicatePool>();
    std::shared_ptr<Duplicate> duplicate_;
    int index_ = -1; // index of the duplicate in the pool; -1 if it is not pooled
    std::uint32_t splits_ = 0;
    const std::string name_; // for errors; empty for a communicator of the program
    const int exceptions_ = std::uncaught_exceptions();
    std::shared_ptr<MpiCalls> outer_; // calls of the communicator that this one was split from
    bool is_scope_ = false;
    std::shared_ptr<MpiCalls> calls_;
    std::shared_ptr<MpiCalls> within_; // for a scope: base of the objects created within it
    int rank_ = 0, size_ = 0, most_tag_ = 32767;
};

/// Nested objects share the pool of the outermost communicator.
std::shared_ptr<Transport> MpiTransport::make_scope(const std::string& what, RunsOf runs) {
    struct Declared {
        std::uint64_t name;
        DuplicatePool::Mask free;
    };
    const Declared own{hash_of_kind(what), pool_->free()};
    std::vector<Declared> all(static_cast<std::size_t>(size_));
    all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
    DuplicatePool::Mask free = ~DuplicatePool::Mask{0};
    for (const Declared& each : all)
        free &= each.free;
    const auto other =
        std::ranges::find_if(all, [&](const Declared& each) { return each.name != all[0].name; });
    if (other == all.end())
        return std::make_shared<MpiTransport>(*this, free, what, runs);
    throw_different_names(*this, what, static_cast<int>(other - all.begin()));
}

std::unique_ptr<Exchange> MpiTransport::open(std::vector<Message> messages) {
    return open_over_mpi(comm(), conditions(), std::move(messages));
}

/// Returns an object that is attached to a caller's communicator as an MPI attribute. The first
/// call creates the object from the communicator; freeing the communicator destroys it. Duplicates
/// of the communicator do not inherit the object.
template <class Owned>
Owned& owned_by(MPI_Comm communicator) {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        const auto free_owned = [](MPI_Comm, int, void* attribute, void*) -> int {
            delete static_cast<Owned*>(attribute);
            return MPI_SUCCESS;
        };
        mpi_check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_owned, &made, nullptr),
                  "MPI_Comm_create_keyval");
        return made;
    }();
    void* attribute = nullptr;
    int found = 0;
    mpi_check(MPI_Comm_get_attr(communicator, key, &attribute, &found), "MPI_Comm_get_attr");
    if (!found) {
        auto made = std::make_unique<Owned>(communicator);
        mpi_check(MPI_Comm_set_attr(communicator, key, made.get()), "MPI_Comm_set_attr");
        attribute = made.release();
    }
    return *static_cast<Owned*>(attribute);
}

struct OwnedTransport {
    explicit OwnedTransport(MPI_Comm original)
        : transport(std::make_shared<MpiTransport>(std::make_shared<Duplicate>(original))) {}
    std::shared_ptr<MpiTransport> transport;
};

} // namespace

Communicator from_mpi(MPI_Comm communicator) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (!initialized)
        throw CommunicationFailed("from_mpi: MPI is not initialised");
    if (communicator == MPI_COMM_NULL)
        throw InvalidTask(
            "from_mpi: the communicator is MPI_COMM_NULL, expected an intracommunicator");
    int joins_two_groups = 0;
    mpi_check(MPI_Comm_test_inter(communicator, &joins_two_groups), "MPI_Comm_test_inter");
    if (joins_two_groups != 0) {
        throw InvalidTask("from_mpi: the communicator is an intercommunicator, expected an "
                          "intracommunicator (MPI_Intercomm_merge creates one)");
    }
    return Communicator(owned_by<OwnedTransport>(communicator).transport);
}

MPI_Comm to_mpi(const Communicator& any) {
    const Communicator& communicator = made_scope(any);
    if (const auto* node = dynamic_cast<const NodeTransport*>(&communicator.transport()))
        return to_mpi(node->messages());
    const auto* transport = dynamic_cast<const MpiTransport*>(&communicator.transport());
    return transport ? transport->comm() : MPI_COMM_NULL;
}

struct StopNotices::State {
    explicit State(MPI_Comm original) : duplicate(original) {
        mpi_check(MPI_Comm_size(duplicate.get(), &size), "MPI_Comm_size");
    }
    Duplicate duplicate;
    int size = 0;
    int operation = 0; ///< number of the current operation, and tag of its notices
    bool stops = false, stops_next = false;
    std::string reason, reason_next;
};

namespace {

constexpr int numbers_of_operations = 32768; // every MPI supports these tags

} // namespace

StopNotices::StopNotices(MPI_Comm communicator) : state_(owned_by<State>(communicator)) {
    state_.operation = (state_.operation + 1) % numbers_of_operations;
    state_.stops = std::exchange(state_.stops_next, false);
    state_.reason = std::exchange(state_.reason_next, "");
}

void StopNotices::send() {
    send("");
}

void StopNotices::send(const std::string& reason) {
    constexpr std::size_t most = 2000;
    state_.stops = true;
    std::vector<int> all(static_cast<std::size_t>(state_.size));
    std::iota(all.begin(), all.end(), 0);
    send_notice(state_.duplicate.get(), state_.operation, all,
                std::as_bytes(std::span(reason).first(std::min(reason.size(), most))));
}

bool StopNotices::received() {
    const auto keep = [](const MpiNotice& notice, bool& stops, std::string& reason) {
        stops = true;
        if (reason.empty() && !notice.bytes.empty())
            reason =
                fmt::format("rank {}: {}", notice.source,
                            std::string_view(reinterpret_cast<const char*>(notice.bytes.data()),
                                             notice.bytes.size()));
    };
    while (const auto notice = receive_notice(state_.duplicate.get(), MPI_ANY_TAG)) {
        // A rank that has ended this operation may already stop the next one. All other notices
        // belong to earlier operations and are ignored.
        if (notice->tag == state_.operation)
            keep(*notice, state_.stops, state_.reason);
        else if (notice->tag == (state_.operation + 1) % numbers_of_operations)
            keep(*notice, state_.stops_next, state_.reason_next);
    }
    return state_.stops;
}

const std::string& StopNotices::reason() const {
    return state_.reason;
}

namespace {

constexpr Bytes page = 4096;

/// The communicator of the ranks on this rank's host, used to set up shared segments.
class HostGroup {
  public:
    explicit HostGroup(MPI_Comm comm) {
        mpi_check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_),
                  "MPI_Comm_split_type");
    }
    HostGroup(const HostGroup&) = delete;
    HostGroup& operator=(const HostGroup&) = delete;
    ~HostGroup() { MPI_Comm_free(&comm_); }

    MPI_Comm get() const { return comm_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Limits the size of a segment to a safe fraction of the free shared memory and of the file size
/// limit. If a segment exceeds the free memory, MPI may print errors or not notice that memory is
/// short; if its file exceeds the file size limit, a signal kills the process.
Bytes share_of_host(Bytes wanted, std::size_t ranks) {
    const auto sharers = 2 * static_cast<Bytes>(ranks); // half is for other processes
    Bytes share = wanted;
    struct statvfs there {};
    if (statvfs("/dev/shm", &there) == 0)
        share = std::min(share, static_cast<Bytes>(there.f_bavail) *
                                    static_cast<Bytes>(there.f_frsize) / sharers);
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur < static_cast<rlim_t>(wanted) * static_cast<rlim_t>(sharers))
        share = std::min(share, static_cast<Bytes>(limit.rlim_cur) / sharers);
    return share / page * page;
}

/// Returns the whole pages within a range; page boundaries are the same in every process.
Segment whole_pages(void* data, Bytes size, Segment::Whose whose) {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto skipped = static_cast<Bytes>((page - first % page) % page);
    return Segment::kept(static_cast<std::byte*>(data) + skipped, size - page, whose);
}

} // namespace

std::vector<Segment> segments_by_window(MPI_Comm comm, Bytes size) {
    barrier(comm); // the next call blocks: make all ranks enter it together
    const HostGroup host(comm);
    const std::vector<int> members = mpi_ranks_in(comm, host.get());
    const Bytes wanted = share_of_host((size + page - 1) / page * page, members.size()) + page;
    void* own = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    mpi_check(MPI_Win_allocate_shared(wanted, 1, MPI_INFO_NULL, host.get(), &own, &window),
              "MPI_Win_allocate_shared");
    int ranks = 0, rank = 0;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    std::vector<Segment> segments(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < members.size(); ++i) {
        MPI_Aint length = 0;
        int unit = 0;
        void* data = nullptr;
        mpi_check(MPI_Win_shared_query(window, static_cast<int>(i), &length, &unit, &data),
                  "MPI_Win_shared_query");
        segments[static_cast<std::size_t>(members[i])] = whole_pages(
            data, length, members[i] == rank ? Segment::Whose::ours : Segment::Whose::a_peers);
    }
    return segments;
}

} // namespace sextant

#endif
