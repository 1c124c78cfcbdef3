// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"

namespace sextant::model {

/// A lower bound of `critical_path` for every schedule in which some rank does what rank 0 does
/// here: at no time do the others keep it waiting. It follows from what a play never does: a rank
/// sends one message at a time, receives one at a time, works on one thing at a time, starts no
/// step before those that it depends on have finished, and folds in passes of which none is cheaper
/// for an application than the cheapest.
///
/// Input     the other ranks are the peers' sides of rank 0's messages. Where memory is shared,
///           they do not say whether a message is copied: whichever is cheapest counts.
/// Cost      about the edges of rank 0's dependences.
Seconds least_time(const Question& question, const Prices& prices, const Prepared& prepared);

} // namespace sextant::model
