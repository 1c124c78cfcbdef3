// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant::reproduce {

// What MPICH does to combine vectors of many elements by an operator of the user's own, written as
// schedules to be compared with. Ranks: powers of two.
// Source    Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, doi:10.1177/1094342005051521

/// MPI_Allreduce by recursive doubling: log2 p exchanges of whole vectors. Every rank ends with
/// the whole.
Program recursive_doubling_allreduce(Elements elements, int ranks, int rank);

/// MPI_Reduce_scatter of operands that do not commute, by recursive doubling: in each of log2 p
/// exchanges two trees of ranks give each other the blocks of all ranks outside them, and each rank
/// its partner's. (MPICH sends the other blocks of the trees too, which nobody uses.) Every rank
/// ends with its block.
/// Requires  elements that the ranks divide.
Program recursive_doubling_reduce_scatter(Elements elements, int ranks, int rank);

/// MPI_Reduce_scatter of operands that commute, by pairs: in each of p - 1 steps a rank gives one
/// more rank its block and combines what it gets before it goes on. Blocks meet in the order of
/// steps, not of ranks.
/// Requires  elements that the ranks divide.
Program pairwise_reduce_scatter(Elements elements, int ranks, int rank);

} // namespace sextant::reproduce
