// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/tiles.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

// Reductions that divide the elements among the ranks. Each rank begins with one operand, an image
// or all blocks; tile or block i of the combined operands belongs to rank i.

/// Direct reduce-scatter: each rank sends every other rank its block at once, and combines what it
/// receives in rank order.
///
/// Input     all elements, of operand `rank`.
/// Output    block `rank` of the combined operands.
/// Cost      p − 1 messages per rank, of one block each; scratch of p − 1 blocks.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program direct_reduce_scatter(const Partition& data, int rank);

/// Ring reduce-scatter: block b starts at rank b + 1 and is sent from rank to rank, each of which
/// combines its operand, until rank b combines the last one. The order of operands is different for
/// each block, so the operator must be commutative.
///
/// Input     all elements, of operand `rank`.
/// Output    block `rank` of the combined operands.
/// Cost      p − 1 rounds of one message per rank, of one block each: the minimum that each rank
///           must send and receive; scratch of two blocks.
/// Source    Patarasuk and Yuan, JPDC 69(2), 2009, doi:10.1016/j.jpdc.2008.09.002
Program ring_reduce_scatter(const Partition& data, int rank);

/// Ring all-reduce: a ring reduce-scatter of equal parts (not of the partition's blocks), then a
/// ring all-gather of these parts. The operator must be commutative.
///
/// Input     all elements, of operand `rank`.
/// Output    all elements of the combined operands.
/// Cost      2 (p − 1) rounds of one message per rank, of 1/p of the elements each.
/// Source    Patarasuk and Yuan, JPDC 69(2), 2009, doi:10.1016/j.jpdc.2008.09.002
Program ring_all_reduce(const Partition& data, int rank);

} // namespace sextant::collective
