// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <string>

namespace sextant::report {

/// Whether this build can write archives of the Open Trace Format 2 (https://www.vi-hps.org).
bool otf2_available();

/// Whether a path is of such an archive: its name ends in .otf2, or in .otf2/.
bool is_otf2(const std::string& path);

/// Throws InvalidFile where an archive could not be begun at `folder` now, Error where this build
/// writes none, which says what to install. Leaves nothing.
void require_otf2(const std::string& folder);

/// A recording as an archive: a folder with traces.otf2, which Vampir opens, and the files that
/// this names. docs/trace.md says what of a recording is where. Appears whole or not at all, in
/// place of an archive already there. Deterministic.
///
/// Requires  what `otf2_locations` requires, and what `require_otf2` does.
void write_otf2(const std::string& folder, const Recording& recording);

} // namespace sextant::report
