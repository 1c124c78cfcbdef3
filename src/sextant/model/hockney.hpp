// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

namespace sextant::model {

/// T(n) = α + n β for sender, receiver and path alike; messages and work do not overlap on a rank.
/// The parameters are those of the profile, or a line through its full path of contiguous messages.
///
/// Source    Hockney, Parallel Computing 20(3), 1994, doi:10.1016/S0167-8191(06)80021-9
Prediction hockney(const Question& question);

} // namespace sextant::model
