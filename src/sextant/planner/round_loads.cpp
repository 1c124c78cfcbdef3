// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/round_loads.hpp"

#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace sextant::planner {

namespace {

/// Candidates with more rounds are divided into this many groups of rounds.
constexpr int most_groups = 32;

std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
    constexpr std::uint64_t prime = 0x9E3779B97F4A7C15;
    key = (key ^ value) * prime;
    return key ^ (key >> 29);
}

/// Returns the group of each round. A round starts a group if the rank then sends data that it did
/// not have from the start.
std::vector<int> groups_of(const Program& program) {
    std::vector<int> starts(1, 0);
    for (const Step& step : program.steps) {
        const auto round = static_cast<std::size_t>(step.round);
        starts.resize(std::max(starts.size(), round + 1), 0);
        if (step.verb != Verb::send)
            continue;
        for (const Region& region : program.regions_of(step)) {
            const BufferSpec& from = program.buffers[static_cast<std::size_t>(region.buffer)];
            if (from.role != Role::input)
                starts[round] = 1;
        }
    }
    starts[0] = 0;
    for (std::size_t round = 1; round < starts.size(); ++round)
        starts[round] += starts[round - 1];
    if (const int groups = starts.back() + 1; groups > most_groups) {
        for (int& group : starts)
            group = static_cast<int>(std::int64_t{group} * most_groups / groups);
    }
    return starts;
}

} // namespace

double RoundLoads::bytes_of(const Program& program, const Step& message) const {
    return setting_.density * static_cast<double>(program.bytes_of(message, setting_.element_size));
}

RoundLoads::Rounds RoundLoads::rounds_of(const Candidate& candidate, const Program& program,
                                         int rank) const {
    Rounds rounds;
    rounds.group_of = groups_of(program);
    const auto groups = static_cast<std::size_t>(rounds.group_of.back()) + 1;
    rounds.keys.assign(groups, std::hash<std::string_view>()(candidate.algorithm));
    rounds.own.assign(groups, 0);
    std::map<std::pair<std::size_t, int>, Load> loads; // by group and link
    std::vector<int> path;
    for (const Step& step : program.steps) {
        if (!is_message(step.verb))
            continue;
        const bool sends = step.verb == Verb::send;
        const auto group =
            static_cast<std::size_t>(rounds.group_of[static_cast<std::size_t>(step.round)]);
        std::uint64_t& key = rounds.keys[group];
        key = mixed(key, static_cast<std::uint64_t>(step.peer) * 2 + (sends ? 1 : 0));
        key = mixed(key, static_cast<std::uint64_t>(program.elements_of(step)));
        path.clear();
        setting_.wires->route(sends ? rank : step.peer, sends ? step.peer : rank, path);
        for (const int link : path) {
            Load& load = loads[{group, link}];
            load.bytes += bytes_of(program, step);
            const Seconds busy = setting_.wires->busy(link, load.bytes, ++load.messages);
            rounds.own[group] = std::max(rounds.own[group], busy);
        }
    }
    return rounds;
}

std::optional<Seconds> RoundLoads::added(const Rounds& rounds) const {
    Seconds sum = 0;
    for (std::size_t group = 0; group < rounds.keys.size(); ++group) {
        const auto found = busiest_.find(rounds.keys[group]);
        if (found == busiest_.end())
            return std::nullopt;
        sum += std::max(0.0, found->second - rounds.own[group]);
    }
    return sum;
}

void RoundLoads::load(const Candidate& candidate, const Rounds& rounds) {
    std::vector<std::vector<Load>> loads(rounds.keys.size());
    for (std::size_t group = 0; group < loads.size(); ++group) {
        if (!busiest_.contains(rounds.keys[group]))
            loads[group].resize(static_cast<std::size_t>(setting_.wires->links));
    }
    std::vector<int> path;
    for (int rank = 0; rank < candidate.ranks; ++rank) {
        const Program program = candidate.program(rank);
        check_cancelled(static_cast<Elements>(program.steps.size()));
        for (const Step& step : program.steps) {
            const auto round =
                std::min(static_cast<std::size_t>(step.round), rounds.group_of.size() - 1);
            std::vector<Load>& links = loads[static_cast<std::size_t>(rounds.group_of[round])];
            if (step.verb != Verb::send || links.empty())
                continue;
            path.clear();
            setting_.wires->route(rank, step.peer, path);
            for (const int link : path) {
                Load& load = links[static_cast<std::size_t>(link)];
                load.bytes += bytes_of(program, step);
                ++load.messages;
            }
        }
    }
    for (std::size_t group = 0; group < loads.size(); ++group) {
        for (std::size_t link = 0; link < loads[group].size(); ++link) {
            const Load& load = loads[group][link];
            Seconds& most = busiest_[rounds.keys[group]];
            if (load.messages > 0)
                most = std::max(
                    most, setting_.wires->busy(static_cast<int>(link), load.bytes, load.messages));
        }
    }
}

} // namespace sextant::planner
