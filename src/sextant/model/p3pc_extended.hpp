// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// The delay that a shared network adds to a message, from the mean utilisation of its links.
///
/// Contention in a k-ary n-cube: messages of B bytes that cross links with utilisation ρ wait at
/// each link, on average, ρ B G / (1 − ρ) · (k_d − 1) / k_d² · (1 + 1/n), where G is the time per
/// byte on a link and k_d the mean distance along one dimension. Every pair of ranks is assumed to
/// be the mean distance apart, because the positions of ranks in the network are unknown.
///
/// Requires  a mesh, torus or linear array (CannotExpress).
/// Source    Agarwal, IEEE TPDS 2(4), 1991; used in the same way in LoGPC, Moritz and Frank, IEEE
///           TPDS 12(4), 2001
class Contention {
  public:
    explicit Contention(const Question& question);

    /// True if the profile describes a network.
    bool known() const { return dimensions_ > 0; }
    /// The link utilisation if all messages between nodes are sent within `duration`.
    double use(Seconds duration) const;
    /// The delay of a message at a utilisation below 1; zero if no network is known.
    Span delay(Bytes bytes, double use) const;

  private:
    int dimensions_ = 0;
    double hops_ = 0;  ///< mean distance between two processors
    double links_ = 0; ///< number of links, one per direction
    Span seconds_per_byte_;
    double traffic_ = 0; ///< bytes sent between nodes
};

/// P-3PC with extensions: stride costs by block length; datatype or packing, as in the question;
/// consecutive sends no faster than the saturated gap; rendezvous sends above the last protocol
/// switch; and contention in the manner of LoGPC. Between nodes, work overlaps with messages except
/// for the cost of an empty one; within a node processors copy every byte, on both sides or, for
/// rendezvous sends, only at the receiver.
///
/// Between threads of one process, data that the receiver only folds is not copied: it costs the
/// measured zero-copy read. If packing was not measured, a packed message is a contiguous message
/// plus a copy at each strided side. Contention needs the profile's network: the mean utilisation ρ
/// of its links lengthens every path by the queueing delay, and the longer run lowers ρ; the
/// prediction uses the ρ for which both agree. If Question::wires is set, messages share the links
/// of their paths instead (link_contention.hpp).
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, sections 3.3 and 6; Moritz and Frank, IEEE
///           TPDS 12(4), 2001
Prediction p3pc_extended(const Question& question);

} // namespace sextant::model
