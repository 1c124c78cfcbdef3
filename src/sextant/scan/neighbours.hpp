// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/application.hpp"
#include "sextant/scan/series.hpp"

#include <vector>

namespace sextant::scan {

/// When each rank has registered its values with their neighbours, on so many threads, and may
/// begin to scan: one value after another goes to the thread that is free first.
///
/// Input     the time of an application that joins two neighbours, and how many times as long their
///           registration takes.
std::vector<Seconds> neighbours_done(const Series& series, int threads, double factor,
                                     const OperatorTime& time);

} // namespace sextant::scan
