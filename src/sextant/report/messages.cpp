// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/messages.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sextant::report {

namespace {

/// The events of one kind, by sender, receiver, then in the order of their steps.
std::vector<std::size_t> in_order(const Trace& trace, Activity kind) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        if (trace.events[i].activity == kind)
            places.push_back(i);
    }
    const auto key = [&](std::size_t i) {
        const Event& e = trace.events[i];
        const bool sends = kind == Activity::send;
        return std::tuple(sends ? e.rank : e.peer, sends ? e.peer : e.rank, e.step, e.begin);
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return places;
}

} // namespace

std::vector<Message> messages_of(const Trace& trace) {
    const std::vector<std::size_t> sends = in_order(trace, Activity::send),
                                   receives = in_order(trace, Activity::receive);
    std::vector<Message> messages;
    const auto ends = [&](std::size_t send, std::size_t receive) {
        const Event &s = trace.events[send], &r = trace.events[receive];
        return std::pair(std::pair(s.rank, s.peer), std::pair(r.peer, r.rank));
    };
    for (std::size_t s = 0, r = 0; s < sends.size() && r < receives.size();) {
        const auto [from, to] = ends(sends[s], receives[r]);
        if (from == to)
            messages.push_back({sends[s++], receives[r++]});
        else
            from < to ? ++s : ++r;
    }
    return messages;
}

std::vector<std::size_t> other_sides(const Trace& trace) {
    std::vector<std::size_t> sides(trace.events.size());
    std::iota(sides.begin(), sides.end(), 0);
    for (const Message& message : messages_of(trace)) {
        sides[message.send] = message.receive;
        sides[message.receive] = message.send;
    }
    return sides;
}

} // namespace sextant::report
