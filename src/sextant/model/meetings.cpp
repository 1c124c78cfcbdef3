// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/meetings.hpp"

#include "sextant/model/message.hpp"

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

struct Sent {
    StepOfRank send;
    int to = 0;
    double bytes = 0;
    std::size_t path = 0, path_end = 0; ///< in the paths of its wave
};

/// One wave after another; memory for the links is used again.
class Wave {
  public:
    explicit Wave(const machine::Wires& wires)
        : wires_(wires), links_(static_cast<std::size_t>(wires.links)) {}

    template <class Node, class Take>
    void meet(std::vector<Sent>& messages, const Node& node, const Take& take) {
        for (Sent& message : messages)
            add(message, node);
        for (const Sent& message : messages)
            take(message.send, busiest(message));
        for (const int link : paths_)
            links_[index(link)] = {};
        paths_.clear();
    }

  private:
    struct Load {
        double bytes = 0;
        int messages = 0;
    };
    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    template <class Node>
    void add(Sent& message, const Node& node) {
        message.path = paths_.size();
        wires_.route(node(message.send.rank), node(message.to), paths_);
        message.path_end = paths_.size();
        for (std::size_t i = message.path; i < message.path_end; ++i) {
            Load& load = links_[index(paths_[i])];
            load.bytes += message.bytes;
            ++load.messages;
        }
    }

    Seconds busiest(const Sent& message) const {
        Seconds most = 0;
        for (std::size_t i = message.path; i < message.path_end; ++i) {
            const Load& load = links_[index(paths_[i])];
            most = std::max(most, wires_.busy(paths_[i], load.bytes, load.messages));
        }
        return most;
    }

    const machine::Wires& wires_;
    std::vector<Load> links_;
    std::vector<int> paths_;
};

/// The messages of a schedule by wave.
std::vector<std::vector<Sent>> by_wave(const Question& question,
                                       const std::vector<std::vector<StepOfRank>>& mates,
                                       const std::vector<Dependences>& dependences) {
    std::vector<std::vector<Sent>> all;
    for (std::size_t rank = 0; rank < question.schedule.size(); ++rank) {
        const Program& program = question.schedule[rank];
        const std::vector<int> waves = waves_of(program, dependences[rank]);
        for (std::size_t s = 0; s < program.steps.size(); ++s) {
            if (program.steps[s].verb != Verb::send)
                continue;
            const auto wave = static_cast<std::size_t>(waves[s]);
            if (wave >= all.size())
                all.resize(wave + 1);
            const Bytes bytes = bytes_of(question, program, program.steps[s]);
            all[wave].push_back({{static_cast<int>(rank), static_cast<int>(s)},
                                 mates[rank][s].rank,
                                 static_cast<double>(std::max<Bytes>(1, bytes))});
        }
    }
    return all;
}

} // namespace

Meetings::Meetings(const Question& question, const std::vector<std::vector<StepOfRank>>& mates,
                   const std::vector<Dependences>& dependences) {
    const std::size_t ranks = question.schedule.size();
    if (!question.nodes.empty() && question.nodes.size() != ranks) {
        throw CannotExpress(fmt::format("nodes are given for {} ranks, the schedule has {}",
                                        question.nodes.size(), ranks));
    }
    for (const Program& program : question.schedule)
        times_.emplace_back(program.steps.size());
    const auto node = [&](int rank) {
        return question.nodes.empty() ? rank : question.nodes[static_cast<std::size_t>(rank)];
    };
    const auto take = [&](StepOfRank send, Seconds time) {
        times_[static_cast<std::size_t>(send.rank)][static_cast<std::size_t>(send.step)] = time;
    };
    Wave wave(*question.wires);
    for (std::vector<Sent>& messages : by_wave(question, mates, dependences))
        wave.meet(messages, node, take);
}

} // namespace sextant::model
