// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// LogGP*, what P-3PC was compared with: g = t_cs, L = t_cf, G = t_a,full,cc(n), piecewise linear;
/// T_send = T_recv = t_cs + t_a,full,cc(n) and T_full = t_cf + t_a,full,cc(n), whatever the layout.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 5.1
Prediction loggp_star(const Question& question);

} // namespace sextant::model
