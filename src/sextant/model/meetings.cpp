// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/meetings.hpp"

#include "sextant/model/message.hpp"
#include "sextant/model/sharing.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::model {

std::vector<int> waves_of(const Program& program, const Dependences& dependences) {
    std::vector<int> waves(program.steps.size());
    int worked = 0; // receives depend on nothing, but come from who is as far
    for (std::size_t s = 0; s < waves.size(); ++s) {
        const Step& step = program.steps[s];
        if (is_message(step.verb)) {
            const int windows = program.window > 0 ? step.round / program.window : 0;
            waves[s] = std::max({waves[s], worked, windows});
        } else {
            worked = std::max(worked, waves[s]);
        }
        const int next = waves[s] + (step.verb == Verb::receive ? 1 : 0);
        for (const Dependences::Edge& edge : dependences.after(static_cast<int>(s)))
            waves[edge.step] = std::max(waves[edge.step], next);
    }
    return waves;
}

namespace {

int node_of(const Question& question, int rank) {
    return question.nodes.empty() ? rank : question.nodes[static_cast<std::size_t>(rank)];
}

/// The messages of a wave, and the steps that send them.
struct Wave {
    std::vector<Travelling> messages;
    std::vector<StepOfRank> sends;
};

/// The messages of a schedule by wave.
std::vector<Wave> by_wave(const Question& question,
                          const std::vector<std::vector<StepOfRank>>& mates,
                          const std::vector<Dependences>& dependences) {
    std::vector<Wave> all;
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const Program& program = question.schedule[r];
        const std::vector<int> waves = waves_of(program, dependences[r]);
        for (std::size_t s = 0; s < program.steps.size(); ++s) {
            if (program.steps[s].verb != Verb::send)
                continue;
            const auto wave = static_cast<std::size_t>(waves[s]);
            if (wave >= all.size())
                all.resize(wave + 1);
            const Bytes bytes = bytes_of(question, program, program.steps[s]);
            all[wave].messages.push_back({node_of(question, rank),
                                          node_of(question, mates[r][s].rank),
                                          static_cast<double>(std::max<Bytes>(1, bytes)), 0});
            all[wave].sends.push_back({rank, static_cast<int>(s)});
        }
    }
    return all;
}

} // namespace

Meetings::Meetings(const Question& question, const std::vector<std::vector<StepOfRank>>& mates,
                   const std::vector<Dependences>& dependences)
    : sharing_(*question.wires) {
    const std::size_t ranks = question.schedule.size();
    if (!question.nodes.empty() && question.nodes.size() != ranks) {
        throw CannotExpress(fmt::format("nodes are given for {} ranks, the schedule has {}",
                                        question.nodes.size(), ranks));
    }
    for (const Program& program : question.schedule)
        times_.emplace_back(program.steps.size());
    for (const Wave& wave : by_wave(question, mates, dependences)) {
        share(wave.messages, wave.sends);
        messages_.insert(messages_.end(), wave.messages.begin(), wave.messages.end());
        sends_.insert(sends_.end(), wave.sends.begin(), wave.sends.end());
    }
}

void Meetings::start_as(const Trace& played) {
    std::vector<std::vector<Seconds>> starts = times_; // in that form
    for (const Event& event : played.events) {
        if (event.activity == Activity::send)
            starts[static_cast<std::size_t>(event.rank)][static_cast<std::size_t>(event.step)] =
                event.begin;
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        const StepOfRank send = sends_[i];
        const Seconds start =
            starts[static_cast<std::size_t>(send.rank)][static_cast<std::size_t>(send.step)];
        // Halfway, or plays could alternate between two for ever.
        messages_[i].start = played_ ? (messages_[i].start + start) / 2 : start;
    }
    share(messages_, sends_);
    played_ = true;
}

void Meetings::share(std::span<const Travelling> messages, std::span<const StepOfRank> sends) {
    const std::span<const Seconds> times = sharing_.of(messages);
    for (std::size_t i = 0; i < times.size(); ++i)
        times_[static_cast<std::size_t>(sends[i].rank)][static_cast<std::size_t>(sends[i].step)] =
            times[i];
}

} // namespace sextant::model
