// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant::papers {

// Schedules of MPICH's reductions of long vectors with a user-defined operator, for comparison. The
// number of ranks must be a power of two.
// Source    Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, doi:10.1177/1094342005051521

/// MPI_Allreduce by recursive doubling: log2 p exchanges of whole vectors. Every rank ends with the
/// whole result.
Program recursive_doubling_allreduce(Elements elements, int ranks, int rank);

/// MPI_Allreduce by recursive halving, like Binary-Swap, and recursive doubling, which gathers the
/// parts on every rank. Each phase sends half of the vector, a quarter and so on.
/// Requires  elements divisible by the number of ranks.
Program halving_doubling_allreduce(Elements elements, int ranks, int rank);

/// MPI_Reduce_scatter for operators that do not commute, by recursive doubling. In each of log2 p
/// exchanges, a rank sends its partner the partner's block and the blocks of all ranks outside the
/// subtrees of both. (MPICH also sends the other blocks of the subtrees, which are not used.) At
/// the end, every rank has its block.
/// Requires  elements divisible by the number of ranks.
Program recursive_doubling_reduce_scatter(Elements elements, int ranks, int rank);

/// Pairwise MPI_Reduce_scatter for commutative operators. In each of p - 1 steps a rank sends the
/// block of one other rank, and combines the received block before the next step. Blocks are
/// combined in step order, not in rank order.
/// Requires  elements divisible by the number of ranks.
Program pairwise_reduce_scatter(Elements elements, int ranks, int rank);

} // namespace sextant::papers
