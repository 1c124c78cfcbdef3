// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// Hockney: T(n) = α + n β for sender, receiver and path alike; messages and work do not overlap on
/// a rank. The parameters are those of the profile, or a line fitted to its full path for
/// contiguous messages.
///
/// Source    Hockney, Parallel Computing 20(3), 1994, doi:10.1016/S0167-8191(06)80021-9
Prediction hockney(const Question& question);

/// LogGP in terms of the three paths: each side is busy for g + n G, of which the processor for o;
/// the path takes 2 o + L + n G. Work overlaps with messages except for o. If the profile has no
/// LogGP parameters, they follow from contiguous messages: g and o are the send time of an empty
/// message, G is the slope of the path, and 2 o + L is the path of an empty message.
///
/// Source    Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995, doi:10.1145/215399.215427
Prediction loggp(const Question& question);

/// LogGP*, the model that P-3PC was compared with: g = t_cs, L = t_cf, G = t_a,full,cc(n),
/// piecewise linear; T_send = T_recv = t_cs + t_a,full,cc(n) and T_full = t_cf + t_a,full,cc(n),
/// for any layout.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 5.1
Prediction loggp_star(const Question& question);

/// 3PC: each path has its own constant and time per byte, for any layout: lines fitted to the costs
/// of contiguous messages.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.1
Prediction three_paths(const Question& question);

/// P-3PC as published: each path is piecewise linear in the size, for each of the four layouts.
/// Ignores block lengths, gaps, protocols and contention. A rank can send and receive at the same
/// time, as in the paper's border exchange.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.3
Prediction p3pc(const Question& question);

} // namespace sextant::model
