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

/// A message that a trace shows on both its sides: places among `Trace::events`.
struct Message {
    std::size_t send = 0, receive = 0;
};

constexpr bool is_message(Activity activity) {
    return activity == Activity::send || activity == Activity::receive;
}

/// The k-th send from a to b, in the order of their steps, with the k-th receive of b from a. What
/// a trace shows on one side only, as one that was cut does, is left out.
std::vector<Message> messages_of(const Trace& trace);

/// By event: the other side of its message, or its own place where there is none.
std::vector<std::size_t> other_sides(const Trace& trace);

/// Where what a trace tells comes from.
enum class Origin : std::uint8_t { measured, predicted, simulated };

std::string_view name(Origin origin);

/// What all ranks did in one run, with what it takes to show it beside others.
struct Recording {
    std::string name; ///< "radix-k, radices 4,2"
    Origin origin = Origin::measured;
    int ranks = 0;
    Bytes element_size = 0; ///< of what messages carry; 0: not known
    int clocks = 1;         ///< how many clocks its times were taken on
    /// How these were aligned; empty where they were not, or there is one.
    std::vector<ClockOffset> aligned = {};
    /// Whether messages are loans of memory that ranks share (`Loans`): they arrive at once, and
    /// last for their sender until they are given back.
    bool lent = false;
    Trace trace;

    /// "radix-k, radices 4,2 (predicted)".
    std::string title() const;
};

/// What is to be known of times that were taken on several clocks: how they were aligned, or, where
/// nothing is known of them, that they cannot be compared. Empty for one clock.
std::string clocks_text(int clocks, std::span<const ClockOffset> aligned);

} // namespace sextant::report
