// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// P-3PC with what it leaves out: the cost of strides by block length; datatype or packing, as the
/// question says; sends that follow one another no faster than the saturated gap; sends that wait
/// for their receive above the last switch of protocol; and contention in the manner of LoGPC.
/// Between nodes, work overlaps with messages but for the cost of an empty one; within a node
/// processors move every byte, those of both sides, or, where the send waits, the receiver's.
///
/// Between threads of one process, what is only folded is lent, not moved: it costs what lending
/// was measured to cost. Where packing was not measured, it is a contiguous message and a copy at
/// each strided side. Contention needs the network of the profile: the mean use ρ of its links
/// lengthens every path by what queues add, and the longer run lowers ρ, until both agree. Where
/// the question has the wires themselves, messages take what the links on their way let them; see
/// Sharing.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, sections 3.3 and 6; Moritz and Frank, IEEE
///           TPDS 12(4), 2001
Prediction p3pc_extended(const Question& question);

} // namespace sextant::model
