// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/levels.hpp"

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/walk.hpp"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::report {

namespace {

struct RankState {
    explicit RankState(const Program& p)
        : dependences(p), walk(p, dependences), ready(p.steps.size(), 0) {}

    Dependences dependences;
    Walk walk;
    std::vector<std::uint8_t> ready;
};

std::vector<std::unique_ptr<RankState>> states_of(const Schedule& schedule) {
    std::vector<std::unique_ptr<RankState>> states;
    for (const Program& program : schedule) {
        try {
            states.push_back(std::make_unique<RankState>(program));
        } catch (const std::logic_error& error) {
            throw std::logic_error(fmt::format("rank {}, {}", states.size(), error.what()));
        }
    }
    return states;
}

/// The steps that can happen now: work that is ready, and messages both sides of which are.
std::vector<StepOfRank> possible(std::vector<std::unique_ptr<RankState>>& states,
                                 const std::vector<std::vector<StepOfRank>>& mates) {
    std::vector<StepOfRank> now;
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
        RankState& state = *states[rank];
        for (int s = state.walk.next_work(); s != Walk::none; s = state.walk.next_work()) {
            now.push_back({static_cast<int>(rank), s});
        }
        for (int s = state.walk.next_message(); s != Walk::none; s = state.walk.next_message()) {
            state.ready[static_cast<std::size_t>(s)] = 1;
            const StepOfRank mate = mates[rank][static_cast<std::size_t>(s)];
            const RankState& other = *states[static_cast<std::size_t>(mate.rank)];
            if (!other.ready[static_cast<std::size_t>(mate.step)])
                continue;
            now.push_back({static_cast<int>(rank), s});
            now.push_back(mate);
        }
    }
    return now;
}

[[noreturn]] void fail_deadlock(const Schedule& schedule,
                                const std::vector<std::unique_ptr<RankState>>& states) {
    constexpr int most_named = 8;
    std::string ranks;
    int waiting = 0;
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
        const Walk& walk = states[rank]->walk;
        if (walk.done() || ++waiting > most_named)
            continue;
        int stuck = 0;
        while (walk.finished(stuck))
            ++stuck;
        const Verb verb = schedule[rank].steps[static_cast<std::size_t>(stuck)].verb;
        ranks += fmt::format("{}rank {} at step {} ({})", waiting > 1 ? ", " : "", rank, stuck,
                             name(verb));
    }
    if (waiting > most_named)
        ranks += fmt::format(" and {} more", waiting - most_named);
    throw std::logic_error("deadlock: the schedule never finishes; waiting for ever: " + ranks);
}

} // namespace

Levels levels(const Schedule& schedule, const std::vector<std::vector<StepOfRank>>& mates) {
    auto states = states_of(schedule);
    Levels levels;
    for (const Program& program : schedule)
        levels.of.emplace_back(program.steps.size(), 0);
    for (auto now = possible(states, mates); !now.empty(); now = possible(states, mates)) {
        for (const StepOfRank& at : now) {
            levels.of[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)] =
                levels.count;
            states[static_cast<std::size_t>(at.rank)]->walk.finish(at.step);
        }
        ++levels.count;
    }
    for (const auto& state : states) {
        if (!state->walk.done())
            fail_deadlock(schedule, states);
    }
    return levels;
}

} // namespace sextant::report
