// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/palette.hpp"
#include "sextant/schedule/trace.hpp"

#include <array>

namespace sextant::report {

/// All of them, in the order of their values.
inline constexpr std::array activities = {Activity::send, Activity::receive, Activity::fold,
                                          Activity::copy, Activity::compute, Activity::wait};

/// Its colour in every timeline.
Colour colour_of(Activity activity);

} // namespace sextant::report
