// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// 3PC: each path has a constant and a time per byte of its own, whatever the layout: lines through
/// the costs of contiguous messages.
///
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 3.1
Prediction three_paths(const Question& question);

} // namespace sextant::model
