// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace sextant::report {

/// A text as JSON, quoted, that may stand in a script of a page: nothing in it ends the script or
/// is markup. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

/// Takes fields of one JSON object of a file. What is not there, or not as it should be, throws
/// InvalidFile: "run.json: event 7: args: round: -1, expected 0 to 4".
class JsonFields {
  public:
    /// `where` in the file the object stands. Keep the object and the path alive.
    JsonFields(const nlohmann::json& object, const std::string& path, std::string where);

    double number(const char* field) const; ///< finite
    std::int64_t integer(const char* field, std::int64_t least, std::int64_t most) const;
    bool truth(const char* field) const;
    std::string text(const char* field) const;

    /// Says what else is wrong with the object.
    [[noreturn]] void fail(const std::string& what) const;

  private:
    const nlohmann::json& object_;
    const std::string& path_;
    const std::string where_;
};

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
