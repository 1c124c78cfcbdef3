// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/matching.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace sextant {

namespace {

struct Pair {
    int from, to;
    auto operator<=>(const Pair&) const = default;
};

struct Steps {
    std::vector<int> sends, receives;
};

std::string where(int rank, int step) {
    return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
}

std::map<Pair, Steps> steps_of_pairs(const Schedule& schedule) {
    std::map<Pair, Steps> pairs;
    const int ranks = static_cast<int>(schedule.size());
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& steps = schedule[static_cast<std::size_t>(rank)].steps;
        for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
            const Step& step = steps[static_cast<std::size_t>(i)];
            if (!is_message(step.verb))
                continue;
            if (step.peer < 0 || step.peer >= ranks || step.peer == rank) {
                throw std::logic_error(where(rank, i) +
                                       ": no such peer: " + std::to_string(step.peer));
            }
            if (step.verb == Verb::send)
                pairs[{rank, step.peer}].sends.push_back(i);
            else
                pairs[{step.peer, rank}].receives.push_back(i);
        }
    }
    return pairs;
}

} // namespace

std::vector<std::vector<StepOfRank>> match_messages(const Schedule& schedule) {
    std::vector<std::vector<StepOfRank>> mates;
    for (const Program& program : schedule)
        mates.emplace_back(program.steps.size());
    const auto size_of = [&](int rank, int step) {
        const Program& program = schedule[static_cast<std::size_t>(rank)];
        return program.elements_of(program.steps[static_cast<std::size_t>(step)]);
    };
    const auto format_of = [&](int rank, int step) {
        const Program& program = schedule[static_cast<std::size_t>(rank)];
        const auto regions = program.regions_of(program.steps[static_cast<std::size_t>(step)]);
        return program.buffers[static_cast<std::size_t>(regions[0].buffer)].element;
    };
    const auto mate = [&](int rank, int step) -> StepOfRank& {
        return mates[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)];
    };
    for (const auto& [pair, steps] : steps_of_pairs(schedule)) {
        if (steps.sends.size() != steps.receives.size()) {
            throw std::logic_error("rank " + std::to_string(pair.from) + " sends " +
                                   std::to_string(steps.sends.size()) + " messages to rank " +
                                   std::to_string(pair.to) + ", which receives " +
                                   std::to_string(steps.receives.size()));
        }
        for (std::size_t k = 0; k < steps.sends.size(); ++k) {
            const int send = steps.sends[k], receive = steps.receives[k];
            if (size_of(pair.from, send) != size_of(pair.to, receive)) {
                throw std::logic_error(where(pair.from, send) + " sends " +
                                       std::to_string(size_of(pair.from, send)) + " elements; " +
                                       where(pair.to, receive) + " expects " +
                                       std::to_string(size_of(pair.to, receive)));
            }
            if (format_of(pair.from, send) != format_of(pair.to, receive)) {
                throw std::logic_error(where(pair.from, send) + " and " + where(pair.to, receive) +
                                       " exchange elements of different sizes");
            }
            mate(pair.from, send) = {pair.to, receive};
            mate(pair.to, receive) = {pair.from, send};
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
