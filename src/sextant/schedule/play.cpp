// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/play.hpp"

#include "sextant/schedule/fault.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <random>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// Steps that may start: in the order in which they came, or in any.
class Agenda {
  public:
    Agenda(bool shuffled, unsigned seed) : shuffled_(shuffled), random_(seed) {}

    bool empty() const { return steps_.empty(); }
    void add(StepOfRank step) { steps_.push_back(step); }

    StepOfRank take() {
        if (shuffled_) {
            std::uniform_int_distribution<std::size_t> any(head_, steps_.size() - 1);
            std::swap(steps_[head_], steps_[any(random_)]);
        }
        const StepOfRank next = steps_[head_++];
        if (head_ == steps_.size())
            steps_.clear(), head_ = 0;
        return next;
    }

  private:
    const bool shuffled_;
    std::mt19937 random_;
    std::vector<StepOfRank> steps_;
    std::size_t head_ = 0;
};

/// Where one rank stands.
struct RankState {
    RankState(const Program& program, const Dependences& dependences)
        : walk(program, dependences),
          loans(program, dependences),
          started(program.steps.size(), 0) {}

    Walk walk;
    Loans loans;
    std::vector<std::uint8_t> started;
    std::unordered_map<int, std::vector<Symbol>> wire; ///< eager messages, by send
};

std::string operands(const Symbol& s) {
    return fmt::format("[{}, {})", s.first, s.last);
}

class Player {
  public:
    Player(const Schedule& schedule, const std::vector<Dependences>& dependences, Delivery delivery,
           unsigned seed, SymbolicMemory& memory)
        : schedule_(schedule),
          delivery_(delivery),
          agenda_(delivery == Delivery::shuffled, seed),
          memory_(memory),
          mates_(match_messages(schedule)) {
        states_.reserve(schedule.size());
        for (std::size_t rank = 0; rank < schedule.size(); ++rank)
            states_.emplace_back(schedule[rank], dependences[rank]);
    }

    int play() {
        for (int rank = 0; rank < static_cast<int>(states_.size()); ++rank)
            collect(rank);
        while (!agenda_.empty())
            start(agenda_.take());
        for (int rank = 0; rank < static_cast<int>(states_.size()); ++rank)
            check_finished(rank);
        return depth_;
    }

  private:
    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
    const Step& step(StepOfRank at) const {
        return program(at.rank).steps[static_cast<std::size_t>(at.step)];
    }
    StepOfRank mate(StepOfRank at) const {
        return mates_[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)];
    }
    RankState& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    std::uint8_t& started(StepOfRank at) {
        return state(at.rank).started[static_cast<std::size_t>(at.step)];
    }

    /// Puts what a rank may start now on the agenda.
    void collect(int rank) {
        Walk& walk = state(rank).walk;
        for (int s = walk.next_message(); s != Walk::none; s = walk.next_message())
            agenda_.add({rank, s});
        for (int s = walk.next_work(); s != Walk::none; s = walk.next_work())
            agenda_.add({rank, s});
    }

    void finish(StepOfRank at) {
        state(at.rank).walk.finish(at.step);
        collect(at.rank);
    }

    void start(StepOfRank at) {
        started(at) = 1;
        if (is_message(step(at).verb))
            return start_message(at);
        if (step(at).verb == Verb::copy)
            memory_.copy(at);
        else if (step(at).verb == Verb::compute)
            memory_.compute(at);
        else
            memory_.write(at, combined(at));
        finish(at);
    }

    void start_message(StepOfRank at) {
        const bool sends = step(at).verb == Verb::send;
        const StepOfRank other = mate(at);
        const StepOfRank from = sends ? at : other, to = sends ? other : at;
        const bool met = started(other) != 0;
        // An eager message leaves as it is now, whatever the sender writes there afterwards.
        if (sends && delivery_ == Delivery::eager)
            state(from.rank).wire[from.step] = memory_.read(from);
        if (met)
            deliver(from, to);
        const bool sender_goes_on = (delivery_ == Delivery::eager || lent(from, to)) ? sends : met;
        if (sender_goes_on)
            finish(from);
        if (met)
            finish(to);
    }

    bool lent(StepOfRank from, StepOfRank to) {
        return delivery_ == Delivery::lent && state(from.rank).loans.may_lend(from.step) &&
               !state(to.rank).loans.uses(to.step).empty();
    }

    void deliver(StepOfRank from, StepOfRank to) {
        if (lent(from, to))
            memory_.lend(from, to);
        else if (delivery_ == Delivery::eager)
            memory_.receive(to, state(from.rank).wire.extract(from.step).mapped());
        else
            memory_.receive(to, memory_.read(from));
    }

    /// The operands of a fold, joined in order.
    std::vector<Symbol> combined(StepOfRank at) {
        const auto operands = program(at.rank).regions_of(step(at));
        std::vector<Symbol> sum = memory_.read(at, operands[0]);
        for (const Region& operand : operands.subspan(1)) {
            const std::vector<Symbol> next = memory_.read(at, operand);
            for (std::size_t e = 0; e < sum.size(); ++e)
                join(at, sum[e], next[e]);
        }
        return sum;
    }

    void join(StepOfRank at, Symbol& left, const Symbol& right) {
        if (left.element != right.element) {
            throw fault(
                schedule_, at,
                fmt::format("folds element {} with element {}", left.element, right.element));
        }
        if (left.last != right.first) {
            throw fault(
                schedule_, at,
                fmt::format("operands out of order: {} then {}", operands(left), operands(right)));
        }
        left.last = right.last;
        left.depth = std::max(left.depth, right.depth) + 1;
        depth_ = std::max(depth_, left.depth);
    }

    void check_finished(int rank) {
        const Walk& walk = state(rank).walk;
        if (walk.done())
            return;
        int stuck = 0;
        while (walk.finished(stuck))
            ++stuck;
        throw fault(schedule_, {rank, stuck},
                    fmt::format("deadlock: waits for ever, and {} steps of its rank never finish",
                                walk.unfinished()));
    }

    const Schedule& schedule_;
    const Delivery delivery_;
    Agenda agenda_;
    SymbolicMemory& memory_;
    const std::vector<std::vector<StepOfRank>> mates_;
    std::vector<RankState> states_;
    int depth_ = 0;
};

} // namespace

int play(const Schedule& schedule, const std::vector<Dependences>& dependences, Delivery delivery,
         unsigned seed, SymbolicMemory& memory) {
    return Player(schedule, dependences, delivery, seed, memory).play();
}

} // namespace sextant
