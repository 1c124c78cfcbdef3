// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// T(n) = α + n β for sender, receiver and path alike; messages and work do not overlap on a rank.
/// The parameters are those of the profile, or a line through its full path of contiguous messages.
///
/// Source    Hockney, Parallel Computing 20(3), 1994, doi:10.1016/S0167-8191(06)80021-9
Prediction hockney(const Question& question);

/// LogGP as a case of the three paths: a side is busy for g + n G, of which the processor for o;
/// the path takes 2 o + L + n G. Work overlaps with messages but for o. Parameters are those of the
/// profile; else, of contiguous messages, g and o are the send of none, G the slope of the path,
/// and 2 o + L the path of none.
///
/// Source    Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995, doi:10.1145/215399.215427
Prediction loggp(const Question& question);

/// LogGP*, what P-3PC was compared with: g = t_cs, L = t_cf, G = t_a,full,cc(n), piecewise linear;
/// T_send = T_recv = t_cs + t_a,full,cc(n) and T_full = t_cf + t_a,full,cc(n), whatever the layout.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 5.1
Prediction loggp_star(const Question& question);

/// 3PC: each path has a constant and a time per byte of its own, whatever the layout: lines through
/// the costs of contiguous messages.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.1
Prediction three_paths(const Question& question);

/// P-3PC as published: each path piecewise linear in the size, for each of the four layouts. Block
/// lengths, gaps, protocols and contention do not exist. A rank sends and receives at one time, as
/// in its border exchange.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.3
Prediction p3pc(const Question& question);

} // namespace sextant::model
