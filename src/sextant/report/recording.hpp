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

/// A message that was recorded on both sides. Members are indices into `Trace::events`.
struct Message {
    std::size_t send = 0, receive = 0;
};

constexpr bool is_message(Activity activity) {
    return activity == Activity::send || activity == Activity::receive;
}

/// Pairs the k-th send from rank a to b, in the order of steps, with the k-th receive of b from a.
/// Messages that were recorded on one side only, as in a truncated trace, are omitted.
std::vector<Message> messages_of(const Trace& trace);

/// Returns, for each event, the index of the other side of its message; for events without another
/// side, their own index.
std::vector<std::size_t> other_sides(const Trace& trace);

/// The source of a trace.
enum class Origin : std::uint8_t { measured, predicted, simulated };

std::string_view name(Origin origin);

/// The trace of all ranks in one run, with the data needed to show it next to the traces of other
/// runs.
struct Recording {
    std::string name; ///< "radix-k, radices 4,2"
    Origin origin = Origin::measured;
    int ranks = 0;
    Bytes element_size = 0; ///< size of the elements in messages; 0 if unknown
    int clocks = 1;         ///< number of clocks that measured the times
    /// The alignment of the clocks; empty if they were not aligned or there is only one.
    std::vector<ClockOffset> aligned = {};
    /// True if messages are shared buffers (`Loans`): they arrive immediately, and a send lasts
    /// until the receiver returns the buffer.
    bool lent = false;
    Trace trace;

    /// Returns "radix-k, radices 4,2 (predicted)".
    std::string title() const;
};

/// Describes the accuracy of times from several clocks: how the clocks were aligned or, if they
/// were not, that their times cannot be compared. Returns "" for one clock.
std::string clocks_text(int clocks, std::span<const ClockOffset> aligned);

/// Returns a text as a quoted JSON string that is safe in a script of a page: it cannot end the
/// script or be parsed as markup. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

/// Writes a recording in the Trace Event Format, which Perfetto and chrome://tracing can open: one
/// process per rank, with its work on one track, its messages on other tracks, and arrows between
/// messages. docs/trace.md describes the fields. Deterministic.
/// Requires  a recording that satisfies the requirements of `bars`.
std::string to_json(const Recording& recording);

/// Parses a trace written by to_json(). Events may be in any order; unknown fields and events of
/// other programs are ignored. Memory use is low even for large files, because only one event at a
/// time is held as text.
/// Throws    InvalidFile, naming the event and the field, for a file that is not JSON, is
///           truncated, is not a trace of Sextant, has a newer version, or has invalid values.
Recording parse_trace(std::string_view text, const std::string& path);

/// Reads and parses a trace file.
Recording read_trace(const std::string& path);

} // namespace sextant::report
