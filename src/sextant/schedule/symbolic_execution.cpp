// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/symbolic_execution.hpp"

#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant {

SymbolicMemory::SymbolicMemory(const Schedule& schedule, const Claim& claim)
    : schedule_(schedule), claim_(claim) {
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        auto& buffers = ranks_.emplace_back().buffers;
        for (const BufferSpec& spec : program(rank).buffers) {
            const int number = static_cast<int>(buffers.size());
            auto& buffer = buffers.emplace_back(static_cast<std::size_t>(spec.size));
            if (spec.role != Role::input && spec.role != Role::in_out)
                continue;
            for (Elements e = 0; e < spec.size; ++e)
                buffer[static_cast<std::size_t>(e)].symbol = claim.given(rank, number, e);
        }
    }
}

/// Calls `visit` with each element of a region, in order.
template <class Visit>
void SymbolicMemory::for_each_cell(int rank, const Region& region, Visit&& visit) {
    auto& buffer = memory(rank).buffers[static_cast<std::size_t>(region.buffer)];
    for (Elements run = 0; run < region.count; ++run) {
        Cell* const first = buffer.data() + region.offset + run * region.stride;
        for (Cell* cell = first; cell != first + region.length; ++cell)
            visit(*cell);
    }
}

/// Calls `visit` with each element of a step's regions, in message order.
template <class Visit>
void SymbolicMemory::for_each_cell(StepOfRank at, Visit&& visit) {
    for (const Region& region : program(at.rank).regions_of(step(at)))
        for_each_cell(at.rank, region, visit);
}

std::int64_t SymbolicMemory::arrive(StepOfRank receive) {
    auto& arrivals = memory(receive.rank).arrivals;
    arrivals.push_back({receive.step});
    return static_cast<std::int64_t>(arrivals.size()) - 1;
}

const Symbol& SymbolicMemory::defined(StepOfRank at, const Cell& cell) const {
    if (cell.value().element == Symbol::undefined)
        throw fault(program(at.rank), at, "reads an element that was never written");
    return cell.value();
}

const Symbol& SymbolicMemory::use(int rank, const Cell& cell) {
    if (cell.arrival >= 0)
        memory(rank).arrivals[static_cast<std::size_t>(cell.arrival)].used = true;
    return cell.value();
}

const Symbol& SymbolicMemory::read(StepOfRank at, const Cell& cell) {
    use(at.rank, cell);
    return defined(at, cell);
}

std::vector<Symbol> SymbolicMemory::read(StepOfRank at, const Region& region) {
    std::vector<Symbol> symbols;
    symbols.reserve(static_cast<std::size_t>(region.elements()));
    for_each_cell(at.rank, region, [&](const Cell& cell) { symbols.push_back(read(at, cell)); });
    return symbols;
}

std::vector<Symbol> SymbolicMemory::read(StepOfRank at) {
    std::vector<Symbol> symbols;
    for_each_cell(at, [&](const Cell& cell) { symbols.push_back(read(at, cell)); });
    return symbols;
}

void SymbolicMemory::write(StepOfRank fold, std::span<const Symbol> symbols) {
    auto symbol = symbols.begin();
    for_each_cell(fold.rank, step(fold).to, [&](Cell& cell) { cell = {*symbol++}; });
}

void SymbolicMemory::copy(StepOfRank copy) {
    std::vector<Cell> cells;
    for_each_cell(copy, [&](const Cell& cell) {
        cells.push_back({defined(copy, cell), nullptr, cell.arrival});
    });
    auto copied = cells.begin();
    for_each_cell(copy.rank, step(copy).to, [&](Cell& cell) { cell = *copied++; });
}

void SymbolicMemory::compute(StepOfRank compute) {
    const Program& own = program(compute.rank);
    const std::vector<Symbol> taken = read(compute);
    std::vector<Symbol> made;
    try {
        if (!claim_.computed)
            throw std::logic_error("the claim does not say what kernels compute");
        made = claim_.computed(compute.rank, own, step(compute), taken);
    } catch (const std::logic_error& error) {
        throw fault(own, compute, error.what());
    }
    if (static_cast<Elements>(made.size()) != own.elements_of(step(compute)))
        throw fault(own, compute,
                    "the number of computed elements differs from the size of the output regions");
    auto symbol = made.begin();
    for (const Region& region : own.made_by(step(compute)))
        for_each_cell(compute.rank, region, [&](Cell& cell) { cell = {*symbol++}; });
}

void SymbolicMemory::receive(StepOfRank receive, std::span<const Symbol> message) {
    auto symbol = message.begin();
    for_each_cell(receive, [&](Cell& cell) { cell = {*symbol++, nullptr, arrive(receive)}; });
}

void SymbolicMemory::lend(StepOfRank send, StepOfRank receive) {
    std::vector<const Cell*> lent;
    for_each_cell(send, [&](const Cell& cell) {
        read(send, cell);
        lent.push_back(&cell);
    });
    auto lender = lent.begin();
    for_each_cell(receive, [&](Cell& cell) { cell = {{}, *lender++, arrive(receive)}; });
}

std::vector<Symbol> SymbolicMemory::result(int rank) {
    const Region& region = program(rank).result;
    if (region.empty())
        return {};
    std::vector<Symbol> symbols;
    for_each_cell(rank, region, [&](const Cell& cell) { symbols.push_back(use(rank, cell)); });
    return symbols;
}

void SymbolicMemory::check_all_used(int rank) const {
    for (const Arrival& arrival : ranks_[static_cast<std::size_t>(rank)].arrivals) {
        if (arrival.used)
            continue;
        throw fault(program(rank), {rank, arrival.receive},
                    "dead transfer: the received elements are never used");
    }
}

namespace {

/// Steps that may start, taken first in, first out or in random order.
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

/// One rank's progress.
struct RankState {
    RankState(const Program& program, const Dependences& dependences)
        : walk(program, dependences),
          loans(program, dependences),
          started(program.steps.size(), 0) {}

    Walk walk;
    Loans loans;
    std::vector<std::uint8_t> started;
    std::unordered_map<int, std::vector<Symbol>> wire; ///< eager messages, by send step
};

/// Operands first … last − 1.
struct Run {
    int first, last;
    auto operator<=>(const Run&) const = default;
};
using Runs = std::vector<Run>; ///< ascending and not adjacent

/// The sets of operands in the symbols of an execution, numbered as in Symbol::gaps.
class OperandSets {
  public:
    /// Adds the operands of `right` to `left`. Returns the first operand that both have, or -1.
    int unite(Symbol& left, const Symbol& right) {
        if (left.gaps == 0 && right.gaps == 0 && left.last == right.first) {
            left.last = right.last;
            return -1;
        }
        Runs all = runs_of(left);
        const Runs added = runs_of(right);
        all.insert(all.end(), added.begin(), added.end());
        std::sort(all.begin(), all.end());
        Runs joined;
        for (const Run& run : all) {
            if (joined.empty() || joined.back().last < run.first)
                joined.push_back(run);
            else if (joined.back().last > run.first)
                return run.first;
            else
                joined.back().last = run.last;
        }
        left.first = joined.front().first;
        left.last = joined.back().last;
        left.gaps = joined.size() == 1 ? 0 : number_of(std::move(joined));
        return -1;
    }

  private:
    static constexpr std::size_t most_runs = std::size_t{1} << 22;

    Runs runs_of(const Symbol& s) const {
        return s.gaps == 0 ? Runs{{s.first, s.last}} : *sets_[static_cast<std::size_t>(s.gaps - 1)];
    }

    int number_of(Runs runs) {
        const auto [set, added] = numbers_.try_emplace(std::move(runs), std::ssize(sets_) + 1);
        if (added) {
            runs_ += set->first.size();
            if (runs_ > most_runs)
                throw std::logic_error("operands are combined in too many different sets");
            sets_.push_back(&set->first);
        }
        return static_cast<int>(set->second);
    }

    std::map<Runs, std::ptrdiff_t> numbers_;
    std::vector<const Runs*> sets_; ///< by number, from 1
    std::size_t runs_ = 0;
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

    int execute() {
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

    /// Adds all steps that a rank may start now to the agenda.
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
        // An eager message keeps its present content, even if the sender overwrites the sent region
        // later.
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
        left.depth = std::max(left.depth, right.depth) + 1;
        depth_ = std::max(depth_, left.depth);
        if (memory_.order() == Order::unchecked)
            return;
        if (left.element != right.element) {
            throw fault(
                program(at.rank), at,
                fmt::format("folds element {} with element {}", left.element, right.element));
        }
        if (memory_.order() == Order::any) {
            if (const int twice = operands_.unite(left, right); twice >= 0)
                throw fault(program(at.rank), at, fmt::format("combines operand {} twice", twice));
            return;
        }
        if (left.last != right.first) {
            throw fault(
                program(at.rank), at,
                fmt::format("operands out of order: {} then {}", operands(left), operands(right)));
        }
        left.last = right.last;
    }

    void check_finished(int rank) {
        const Walk& walk = state(rank).walk;
        if (walk.done())
            return;
        int stuck = 0;
        while (walk.finished(stuck))
            ++stuck;
        throw fault(
            program(rank), {rank, stuck},
            fmt::format("deadlock: the step waits forever, and {} steps of its rank never finish",
                        walk.unfinished()));
    }

    const Schedule& schedule_;
    const Delivery delivery_;
    Agenda agenda_;
    SymbolicMemory& memory_;
    const std::vector<std::vector<StepOfRank>> mates_;
    std::vector<RankState> states_;
    OperandSets operands_;
    int depth_ = 0;
};

} // namespace

int execute(const Schedule& schedule, const std::vector<Dependences>& dependences,
            Delivery delivery, unsigned seed, SymbolicMemory& memory) {
    return Player(schedule, dependences, delivery, seed, memory).execute();
}

} // namespace sextant
