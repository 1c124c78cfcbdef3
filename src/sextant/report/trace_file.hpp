// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <string>
#include <string_view>

namespace sextant::report {

/// A recording in the Trace Event Format, which Perfetto and chrome://tracing open too: a process a
/// rank, its work on one track, its messages on others, arrows between them. docs/trace.md has the
/// fields. Deterministic.
/// Requires  what `bars` requires.
std::string to_json(const Recording& recording);

/// The same back, from such a text alone. Events may be in any order; what other programs may have
/// added is passed over. An event at a time is held as text, so large files take little memory.
/// Throws    InvalidFile naming the event and field: no JSON or cut off, none of ours, a newer
///           version, values that cannot be.
Recording parse_trace(std::string_view text, const std::string& path);

/// The same from a file.
Recording read_trace(const std::string& path);

} // namespace sextant::report
