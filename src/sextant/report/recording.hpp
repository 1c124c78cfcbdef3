// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// A message recorded on both sides: indices into `Trace::events`.
struct Message {
    std::size_t send = 0, receive = 0;
};

constexpr bool is_message(Activity activity) {
    return activity == Activity::send || activity == Activity::receive;
}

/// Pairs the k-th send from a to b, in the order of steps, with the k-th receive of b from a.
/// Messages recorded on one side only, as in a truncated trace, are left out.
std::vector<Message> messages_of(const Trace& trace);

/// Returns for each event the index of the other side of its message, or its own index.
std::vector<std::size_t> other_sides(const Trace& trace);

/// The source of a trace.
enum class Origin : std::uint8_t { measured, predicted, simulated };

std::string_view name(Origin origin);

/// The trace of one run of all ranks, with the data needed to show it next to others.
struct Recording {
    std::string name; ///< "radix-k, radices 4,2"
    Origin origin = Origin::measured;
    int ranks = 0;
    Bytes element_size = 0; ///< size of the elements in messages; 0 if unknown
    int clocks = 1;         ///< number of clocks that measured the times
    /// The alignment of the clocks; empty if they were not aligned or there is only one.
    std::vector<ClockOffset> aligned = {};
    /// True if messages are shared buffers (`Loans`): they arrive immediately; for the sender, they
    /// last until the buffer is returned.
    bool lent = false;
    Trace trace;

    /// Returns "radix-k, radices 4,2 (predicted)".
    std::string title() const;
};

/// Describes the accuracy of times from several clocks: how they were aligned or, if that is
/// unknown, that they cannot be compared. Empty for one clock.
std::string clocks_text(int clocks, std::span<const ClockOffset> aligned);

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
