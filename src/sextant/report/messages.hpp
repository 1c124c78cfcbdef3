// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/trace.hpp"

#include <cstddef>
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

} // namespace sextant::report
