// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_window.hpp"

#include "sextant/comm/mpi_call.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

namespace sextant {

namespace {

constexpr Bytes page = 4096;

/// The ranks of this one's host, for as long as they meet.
class HostGroup {
  public:
    explicit HostGroup(MPI_Comm comm) : all_(comm) {
        mpi_check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_),
                  "MPI_Comm_split_type");
    }
    HostGroup(const HostGroup&) = delete;
    HostGroup& operator=(const HostGroup&) = delete;
    ~HostGroup() { MPI_Comm_free(&comm_); }

    MPI_Comm get() const { return comm_; }

    /// Which of all ranks each of them is.
    std::vector<int> members() const {
        int size = 0;
        MPI_Comm_size(comm_, &size);
        std::vector<int> own(static_cast<std::size_t>(size)), of_all(own.size());
        std::iota(own.begin(), own.end(), 0);
        MPI_Group here = MPI_GROUP_NULL, everyone = MPI_GROUP_NULL;
        MPI_Comm_group(comm_, &here);
        MPI_Comm_group(all_, &everyone);
        MPI_Group_translate_ranks(here, size, own.data(), everyone, of_all.data());
        MPI_Group_free(&here);
        MPI_Group_free(&everyone);
        return of_all;
    }

  private:
    MPI_Comm all_;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// MPI may complain loudly about more than there is, or not notice; a file that is longer than
/// allowed ends its process by a signal.
Bytes share_of_host(Bytes wanted, std::size_t ranks) {
    const auto sharers = 2 * static_cast<Bytes>(ranks); // and as much again for others
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

/// From the first page in it: pages begin at the same places in every process.
Segment whole_pages(void* data, Bytes size, Segment::Whose whose) {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto skipped = static_cast<Bytes>((page - first % page) % page);
    return Segment::kept(static_cast<std::byte*>(data) + skipped, size - page, whose);
}

} // namespace

std::vector<Segment> segments_by_window(MPI_Comm comm, Bytes size) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    mpi_finish(request, "MPI_Ibarrier"); // what follows blocks: at least all enter it together
    const HostGroup host(comm);
    const std::vector<int> members = host.members();
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
