// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/alone.hpp"

#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <map>

namespace sextant::planner {

namespace {

/// The peers' sides of a program's messages.
class Peers {
  public:
    explicit Peers(const Program& program) {
        for (const Step& step : program.steps) {
            if (is_message(step.verb))
                answer(program, step);
        }
    }

    /// Peer i as rank i + 1.
    Alone with(Program program, int rank) && {
        Alone alone{{std::move(program)}, {rank}};
        for (Step& step : alone.schedule[0].steps) {
            if (is_message(step.verb))
                step.peer = static_cast<int>(number_.at(step.peer)) + 1;
        }
        for (Program& peer : programs_)
            alone.schedule.push_back(std::move(peer));
        alone.ranks.insert(alone.ranks.end(), ranks_.begin(), ranks_.end());
        return alone;
    }

  private:
    void answer(const Program& program, const Step& step) {
        Program& peer = program_of(step.peer);
        const bool sends = step.verb == Verb::receive;
        const auto own = static_cast<std::size_t>(program.regions_of(step)[0].buffer);
        const int number =
            buffer_of(peer, sends ? Role::input : Role::output, program.buffers[own].element);
        BufferSpec& buffer = peer.buffers[static_cast<std::size_t>(number)];
        const Elements elements = program.elements_of(step);
        Step mirrored = step;
        mirrored.verb = sends ? Verb::send : Verb::receive;
        mirrored.peer = 0;
        mirrored.first = static_cast<std::uint32_t>(peer.regions.size());
        mirrored.count = 1;
        peer.regions.push_back(block(number, buffer.size, elements));
        peer.steps.push_back(mirrored);
        buffer.size += elements;
    }

    /// What a peer gives or takes, of elements of one size.
    static int buffer_of(Program& peer, Role role, Bytes element) {
        const auto found =
            std::find_if(peer.buffers.begin(), peer.buffers.end(), [&](const BufferSpec& b) {
                return b.role == role && b.element == element;
            });
        if (found != peer.buffers.end())
            return static_cast<int>(found - peer.buffers.begin());
        peer.buffers.push_back({role, 0, element});
        return static_cast<int>(peer.buffers.size()) - 1;
    }

    Program& program_of(int rank) {
        const auto [at, is_new] = number_.try_emplace(rank, programs_.size());
        if (is_new) {
            ranks_.push_back(rank);
            programs_.push_back({});
        }
        return programs_[at->second];
    }

    std::map<int, std::size_t> number_;
    std::vector<int> ranks_;
    std::vector<Program> programs_;
};

} // namespace

Program without_loans(Program program, Bytes usual) {
    const Dependences dependences(program);
    const Loans loans(program, dependences);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        const int number = static_cast<int>(i);
        const bool lent = step.verb == Verb::send && loans.may_lend(number);
        const bool made_here =
            loans.uses(number).empty() && is_room(program, dependences, number, usual, least_room);
        if (!lent && !made_here)
            steps.push_back(step);
    }
    program.steps = std::move(steps);
    return program;
}

Alone alone(Program program, int rank) {
    Peers peers(program);
    return std::move(peers).with(std::move(program), rank);
}

} // namespace sextant::planner
