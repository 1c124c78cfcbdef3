// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <string>
#include <string_view>

namespace sextant::report {

/// Returns a text as a quoted JSON string that is safe in a script of a page: nothing in it ends
/// the script or is parsed as markup. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

/// Writes a recording in the Trace Event Format, which Perfetto and chrome://tracing open: one
/// process per rank, its work on one track, its messages on others, arrows between them.
/// docs/trace.md describes the fields. Deterministic.
/// Requires  a recording that meets the requirements of `bars`.
std::string to_json(const Recording& recording);

/// Parses a trace written by to_json. Events may be in any order; unknown fields and events of
/// other programs are ignored. Only one event at a time is held as text, so large files take little
/// memory.
/// Throws    InvalidFile with event and field: not JSON or truncated, not a trace of Sextant, a
///           newer version, invalid values.
Recording parse_trace(std::string_view text, const std::string& path);

/// Reads and parses a trace file.
Recording read_trace(const std::string& path);

} // namespace sextant::report
