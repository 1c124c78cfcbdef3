// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

namespace sextant::report {

/// What each rank sent and received: bytes (elements, where their size is not known) and messages;
/// and which bandwidth each pair of ranks reached, unless messages were lent. Nothing where no
/// message passed.
Section traffic_section(const Recording& recording);

} // namespace sextant::report
