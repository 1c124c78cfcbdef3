// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <string>

namespace sextant::report {

/// A page about one run or several: how long each took and what it moved, what ranks did when on
/// one axis of time, why it took as long, what was sent in each.
/// Requires  what `bars` requires, of each.
Page comparison(std::string title, std::span<const Recording> recordings);

} // namespace sextant::report
