// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// What a shared network adds to a message, from how much it is used on average.
///
/// Contention of a k-ary n-cube: messages of B bytes that cross links used for a share ρ of the
/// time wait at each of them, on average, ρ B G / (1 − ρ) · (k_d − 1) / k_d² · (1 + 1/n), G the
/// time of a byte on a link and k_d the mean distance along one dimension. Every pair is taken to
/// be as far apart as pairs are on average: the schedule's ranks are not placed.
///
/// Requires  a mesh, torus or linear array (CannotExpress).
/// Source    Agarwal, IEEE TPDS 2(4), 1991; used so in LoGPC, Moritz and
///           Frank, IEEE TPDS 12(4), 2001
class Contention {
  public:
    explicit Contention(const Question& question);

    /// Whether the profile describes a network at all.
    bool known() const { return dimensions_ > 0; }
    /// The share of time for which links are used, if the schedule's messages between nodes take so
    /// long.
    double use(Seconds duration) const;
    /// What is added to a message at this use, which is below 1; nothing where no network is known.
    Span delay(Bytes bytes, double use) const;

  private:
    int dimensions_ = 0;
    double hops_ = 0;  ///< the mean distance of two processors
    double links_ = 0; ///< in both directions
    Span seconds_per_byte_;
    double traffic_ = 0; ///< bytes between nodes
};

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
