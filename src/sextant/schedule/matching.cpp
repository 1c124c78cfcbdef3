// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/matching.hpp"

#include "sextant/core/equal_range.hpp"

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace sextant {

namespace {

/// One side of a message.
struct Side {
    int peer, step;
};

std::string where(int rank, int step) {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
}

/// The sends or the receives of each rank, grouped by peer, in program order.
std::vector<std::vector<Side>> sides(const Schedule& schedule, Verb verb) {
    const int ranks = static_cast<int>(schedule.size());
    std::vector<std::vector<Side>> all(schedule.size());
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& steps = schedule[static_cast<std::size_t>(rank)].steps;
        std::vector<Side>& own = all[static_cast<std::size_t>(rank)];
        for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
            const Step& step = steps[static_cast<std::size_t>(i)];
            if (step.verb != verb)
                continue;
            if (step.peer < 0 || step.peer >= ranks || step.peer == rank) {
                throw std::logic_error(where(rank, i) +
                                       ": no such peer: " + std::to_string(step.peer) +
                                       ", expected another rank below " + std::to_string(ranks));
            }
            own.push_back({step.peer, i});
        }
        std::ranges::stable_sort(own, {}, &Side::peer);
    }
    return all;
}

[[noreturn]] void fail_with_counts(int from, std::size_t sends, int to, std::size_t receives) {
    throw std::logic_error("rank " + std::to_string(from) + " sends " + std::to_string(sends) +
                           " messages to rank " + std::to_string(to) + ", which receives " +
                           std::to_string(receives));
}

/// Checks that both sides of a message agree on its size and on the size of its elements.
void check_sizes(const Schedule& schedule, StepOfRank send, StepOfRank receive) {
    const auto program = [&](StepOfRank at) -> const Program& {
        return schedule[static_cast<std::size_t>(at.rank)];
    };
    const auto step = [&](StepOfRank at) -> const Step& {
        return program(at).steps[static_cast<std::size_t>(at.step)];
    };
    const Elements sent = program(send).elements_of(step(send));
    const Elements expected = program(receive).elements_of(step(receive));
    if (sent != expected) {
        throw std::logic_error(where(send.rank, send.step) + " sends " + std::to_string(sent) +
                               " elements; " + where(receive.rank, receive.step) + " expects " +
                               std::to_string(expected));
    }
    const auto format = [&](StepOfRank at) {
        const auto regions = program(at).regions_of(step(at));
        return program(at).buffers[static_cast<std::size_t>(regions[0].buffer)].element;
    };
    if (format(send) != format(receive)) {
        throw std::logic_error(where(send.rank, send.step) + " and " +
                               where(receive.rank, receive.step) +
                               " exchange elements of different sizes");
    }
}

} // namespace

std::vector<std::vector<StepOfRank>> match_messages(const Schedule& schedule) {
    std::vector<std::vector<StepOfRank>> mates;
    for (const Program& program : schedule)
        mates.emplace_back(program.steps.size());
    const auto sends = sides(schedule, Verb::send), receives = sides(schedule, Verb::receive);
    const auto mate = [&](StepOfRank at) -> StepOfRank& {
        return mates[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    };
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        const std::vector<Side>& own = sends[static_cast<std::size_t>(rank)];
        for (auto first = own.begin(); first != own.end();) {
            const auto theirs =
                equal_range(receives[static_cast<std::size_t>(first->peer)], rank, &Side::peer);
            const auto last = std::find_if(
                first, own.end(), [&](const Side& side) { return side.peer != first->peer; });
            if (last - first != std::ssize(theirs)) {
                fail_with_counts(rank, static_cast<std::size_t>(last - first), first->peer,
                                 theirs.size());
            }
            for (const Side& receive : theirs) {
                const StepOfRank from{rank, first->step}, to{first->peer, receive.step};
                check_sizes(schedule, from, to);
                mate(from) = to;
                mate(to) = from;
                ++first;
            }
        }
    }
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        const std::vector<Side>& own = receives[static_cast<std::size_t>(rank)];
        for (const Side& receive : own) {
            if (mate({rank, receive.step}).rank < 0) {
                const auto all = equal_range(own, receive.peer, &Side::peer);
                fail_with_counts(receive.peer, 0, rank, all.size());
            }
        }
    }
    return mates;
}

std::logic_error fault(const Schedule& schedule, StepOfRank at, std::string_view what) {
    const Program& program = schedule[static_cast<std::size_t>(at.rank)];
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    std::string peer;
    if (step.verb == Verb::send)
        peer = fmt::format(" to rank {}", step.peer);
    if (step.verb == Verb::receive)
        peer = fmt::format(" from rank {}", step.peer);
    return std::logic_error(
        fmt::format("rank {}, step {} ({}{}): {}", at.rank, at.step, name(step.verb), peer, what));
}

} // namespace sextant
