// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/recording.hpp"

#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// Returns the indices of the events of one kind, ordered by sender, receiver, then step.
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

std::string_view name(Origin origin) {
    switch (origin) {
    case Origin::measured:
        return "measured";
    case Origin::predicted:
        return "predicted";
    case Origin::simulated:
        return "simulated";
    }
    return "";
}

std::string Recording::title() const {
    return fmt::format("{} ({})", name, report::name(origin));
}

std::string clocks_text(int clocks, std::span<const ClockOffset> aligned) {
    constexpr std::size_t most_named = 4;
    if (clocks < 2)
        return "";
    if (aligned.size() < 2)
        return fmt::format("The clocks of {} hosts cannot be compared: each host counts "
                           "time from the start of its first rank",
                           clocks);
    Seconds uncertainty = 0;
    for (const ClockOffset& clock : aligned)
        uncertainty = std::max(uncertainty, clock.uncertainty);
    std::string text = fmt::format("The clocks of {} hosts were aligned to within {}", clocks,
                                   to_text(uncertainty));
    for (std::size_t i = 1; i < std::min(aligned.size(), most_named + 1); ++i)
        text += fmt::format("{} the clock of rank {} was {} {}", i == 1 ? ":" : ",",
                            aligned[i].first_rank, to_text(std::abs(aligned[i].offset)),
                            aligned[i].offset > 0 ? "behind that of rank 0"
                                                  : "ahead of that of rank 0");
    return text + (aligned.size() > most_named + 1 ? ", and so on" : "");
}

} // namespace sextant::report
