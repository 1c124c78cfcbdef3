// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/segment.hpp"

#include <vector>

#include <mpi.h>

namespace sextant {

/// Memory of MPI's that the ranks of a host share (MPI_Win_allocate_shared), for where processes
/// cannot open each other's: by rank, this one's and those of its host; empty ones of others. Of
/// each there is at most `size`, and no more than a part of what the host has for such memory.
/// Throws    CommunicationFailed.
/// Collective. Blocks inside MPI, and MPI keeps the addresses until it is finalized, since giving
/// them back would block too; memory that was touched goes back to the machine with the segments.
std::vector<Segment> segments_by_window(MPI_Comm comm, Bytes size);

} // namespace sextant
