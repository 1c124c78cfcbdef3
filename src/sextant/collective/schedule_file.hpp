// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sextant {

/// A schedule as stored in a JSON file, whose fields docs/schedules.md lists.
struct ScheduleFile {
    Schedule schedule;
    /// The collective operation that the schedule performs, with rank 0 as its root; if unset,
    /// proofs do not check which operands are combined.
    std::optional<CollectiveKind> claim = {};
    bool commutative = false; ///< operands may be combined in any order

    /// The most ranks, steps and regions per rank, and elements of a buffer.
    static constexpr int most_ranks = 16384;
    static constexpr std::size_t most_steps = std::size_t{1} << 16;
    static constexpr Elements most_elements = Elements{1} << 40;
};

std::string json_of(const ScheduleFile& file);

/// Parses a schedule and checks it: unknown fields, regions outside their buffers, writes to
/// inputs, overlapping outputs and messages without a counterpart of the same size are errors. Only
/// a proof detects deadlocks and undefined elements. `path` is used in error messages.
///
/// Throws    InvalidFile naming the program (rank), the step, the value and what was expected.
/// Cost      bounded for every text: at most 2²⁴ dependences between steps, else an error.
ScheduleFile parse_schedule(std::string_view text, const std::string& path);

/// The claim to prove. Each rank has at most one input; blocks of a collective operation are in
/// rank order, and have the lengths of inputs (gather, all-gather) or results (scatter,
/// reduce-scatter). Throws InvalidTask if the inputs do not fit the operation.
Claim claim_of(const ScheduleFile& file);

} // namespace sextant
