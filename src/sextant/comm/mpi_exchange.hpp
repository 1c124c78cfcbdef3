// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/mpi_calls.hpp"
#include "sextant/comm/shared_memory.hpp"
#include "sextant/comm/transport.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

namespace sextant {

/// Throws CommunicationFailed with the text of MPI's error code, unless `code` is MPI_SUCCESS.
void mpi_check(int code, const char* call);

/// Waits for a request by polling; after `patience` polls, yields the processor between polls,
/// because a blocking MPI call may spin. Checks for failures if `calls` is given.
void mpi_finish(MPI_Request& request, const char* call, MpiCalls* calls = nullptr,
                int patience = 8);

/// Returns the rank that each process of `part` has in `whole`.
std::vector<int> mpi_ranks_in(MPI_Comm whole, MPI_Comm part);

/// True if MPI has been finalized: MPI objects must not be freed then.
bool mpi_finalized();

/// The maximum number of bytes of a contiguous message that one MPI call transfers.
inline constexpr Bytes mpi_chunk = Bytes{256} << 20;

/// An MPI datatype for strided bytes, relative to the first byte.
class Datatype {
  public:
    Datatype() = default;
    explicit Datatype(std::span<const Blocks> blocks);
    Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    Datatype& operator=(Datatype&& other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~Datatype() {
        if (type_ != MPI_DATATYPE_NULL && !mpi_finalized())
            MPI_Type_free(&type_);
    }
    MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Allocates MPI memory shared by the ranks of a host (MPI_Win_allocate_shared), for systems where
/// processes cannot open each other's memory. Returns one segment per rank, empty for ranks of
/// other hosts. Each has at most `size` bytes, and no more than a safe fraction of the host's
/// shared memory.
/// Throws    CommunicationFailed.
/// Collective. Blocks inside MPI. MPI keeps the address ranges until it is finalized, because
/// freeing them would block too; the segments return touched memory to the system when they are
/// destroyed.
std::vector<Segment> segments_by_window(MPI_Comm comm, Bytes size);

/// The properties of a communicator that affect its messages.
struct MpiConditions {
    bool crowded = false; ///< more ranks than cores on this node
    int most_tag = 32767; ///< value of MPI_TAG_UB
    /// Set if a run ends with messages in transit, which MPI could deliver to a later communicator
    /// with the same context.
    bool* has_strays = nullptr;
    std::shared_ptr<MpiCalls> calls = {}; ///< counts the runs

    /// Number of polls before a rank yields its core.
    int patience() const { return crowded ? 8 : 10000; }
};

/// Opens messages over MPI; uses only non-blocking calls.
/// Throws    InvalidTask if a message needs a tag beyond the limit of this MPI.
std::unique_ptr<Exchange> open_over_mpi(MPI_Comm comm, const MpiConditions& conditions,
                                        std::vector<Message> messages);

/// An operator for MPI's reductions: an MPI_Op, and the datatype of an element. The operator must
/// not throw, because MPI calls it.
class MpiOperator {
  public:
    explicit MpiOperator(const Operator& op);
    MpiOperator(const MpiOperator&) = delete;
    MpiOperator& operator=(const MpiOperator&) = delete;
    ~MpiOperator();

    MPI_Op op() const { return op_; }
    MPI_Datatype element() const { return element_; }

  private:
    const Operator operator_;
    MPI_Op op_ = MPI_OP_NULL;
    MPI_Datatype element_ = MPI_DATATYPE_NULL;
};

/// See Transport::library_operation. Uses only non-blocking calls.
std::unique_ptr<LibraryOperation> mpi_collective(MPI_Comm comm, const MpiConditions& conditions,
                                                 const LibraryTask& task);

} // namespace sextant
