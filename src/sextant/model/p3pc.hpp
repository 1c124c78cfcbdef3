// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// P-3PC as published: each path piecewise linear in the size, for each of the four layouts. Block
/// lengths, gaps, protocols and contention do not exist. A rank sends and receives at one time, as
/// in its border exchange.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.3
Prediction p3pc(const Question& question);

} // namespace sextant::model
