// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/shared_memory.hpp"
#include "sextant/comm/transport.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <mpi.h>

namespace sextant {

/// Throws CommunicationFailed with the text of MPI's error code, unless it is MPI_SUCCESS.
void mpi_check(int code, const char* call);

/// Completes a request without blocking inside MPI, which may spin: lets others run meanwhile.
void mpi_finish(MPI_Request& request, const char* call);

/// Whether MPI has been shut down: nothing of it may be freed then.
bool mpi_finalized();

/// What one call moves at most of a contiguous message.
inline constexpr Bytes mpi_chunk = Bytes{256} << 20;

/// Bytes that do not lie in one piece, as MPI knows them: relative to the first.
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

/// Memory of MPI's that the ranks of a host share (MPI_Win_allocate_shared), for where processes
/// cannot open each other's: by rank, this one's and those of its host; empty ones of others. Of
/// each there is at most `size`, and no more than a part of what the host has for such memory.
/// Throws    CommunicationFailed.
/// Collective. Blocks inside MPI, and MPI keeps the addresses until it is finalized, since giving
/// them back would block too; memory that was touched goes back to the machine with the segments.
std::vector<Segment> segments_by_window(MPI_Comm comm, Bytes size);

/// How messages travel over a communicator of ours.
struct MpiConditions {
    bool crowded = false; ///< more ranks on this node than cores
    int most_tag = 32767; ///< MPI_TAG_UB
    /// Set when a run ends with messages under way, which MPI would deliver to the next
    /// communicator that it gives the same context.
    bool* has_strays = nullptr;
};

/// Messages over MPI: non-blocking calls only.
/// Throws    InvalidTask where a message needs a tag that this MPI has not.
std::unique_ptr<Exchange> open_over_mpi(MPI_Comm comm, const MpiConditions& conditions,
                                        std::vector<Message> messages);

} // namespace sextant
