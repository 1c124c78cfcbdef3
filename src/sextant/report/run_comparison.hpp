// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <string>

namespace sextant::report {

/// What ranks did when in one run or several, on one axis of time: a lane a rank, messages as
/// arrows, the critical path, to be zoomed. The runs of a rank stand one above the other.
///
/// Of more than 256 ranks neighbours share a lane, of more than 200,000 events neighbours are put
/// together, and of more than 100,000 messages the arrows are left out; the section says so.
/// Requires  what `bars` requires, of each.
Section timeline_section(std::span<const Recording> recordings);

/// A page about one run or several: how long each took and what it moved, what ranks did when on
/// one axis of time, why it took as long, what was sent in each.
/// Requires  what `bars` requires, of each.
Page comparison(std::string title, std::span<const Recording> recordings);

} // namespace sextant::report
