// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/prove.hpp"

#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

/// An element of a buffer. It holds a symbol, or borrows another rank's.
struct Cell {
    Symbol symbol;
    Cell* lender = nullptr;
    int unused_transfer = -1; ///< the receive that filled it, until it is read
};

struct RankState {
    RankState(const Program& p)
        : program(p),
          dependences(p),
          walk(p, dependences),
          loans(p, dependences),
          started(p.steps.size(), 0) {}

    const Program& program;
    Dependences dependences;
    Walk walk;
    Loans loans;
    std::vector<std::uint8_t> started;
    std::vector<std::vector<Cell>> memory;
};

/// Plays all ranks' programs on symbols, one step at a time.
class Player {
  public:
    Player(const Schedule& schedule, const Claim& claim, Delivery delivery, unsigned seed,
           Proof& proof)
        : schedule_(schedule), claim_(claim), delivery_(delivery), random_(seed), proof_(proof) {}

    void play() {
        for (int rank = 0; rank < static_cast<int>(schedule_.size()); ++rank)
            set_up(rank);
        mates_ = match_messages(schedule_);
        for (int rank = 0; rank < static_cast<int>(schedule_.size()); ++rank)
            collect(rank);
        while (!agenda_.empty()) {
            const StepOfRank next = take();
            start(next.rank, next.step);
        }
        check_finished();
        check_results();
    }

  private:
    void set_up(int rank) {
        const Program& program = schedule_[static_cast<std::size_t>(rank)];
        try {
            states_.push_back(std::make_unique<RankState>(program));
        } catch (const std::logic_error& error) {
            throw std::logic_error("rank " + std::to_string(rank) + ", " + error.what());
        }
        RankState& state = *states_.back();
        proof_.edges += static_cast<std::int64_t>(state.dependences.edges());
        state.memory.resize(program.buffers.size());
        for (std::size_t b = 0; b < program.buffers.size(); ++b) {
            const BufferSpec& spec = program.buffers[b];
            state.memory[b].resize(static_cast<std::size_t>(spec.size));
            if (spec.role != Role::input && spec.role != Role::in_out)
                continue;
            for (Elements e = 0; e < spec.size; ++e) {
                state.memory[b][static_cast<std::size_t>(e)].symbol =
                    claim_.given(rank, static_cast<int>(b), e);
            }
        }
        count_costs(program);
    }

    void count_costs(const Program& program) {
        int messages = 0;
        Elements moved = 0, applications = 0;
        for (const Step& step : program.steps) {
            if (step.verb == Verb::send)
                ++messages, moved += program.elements_of(step);
            if (step.verb == Verb::fold)
                applications += (step.count - 1) * step.to.elements();
        }
        proof_.messages += messages;
        proof_.most_messages = std::max(proof_.most_messages, messages);
        proof_.moved += moved;
        proof_.most_moved = std::max(proof_.most_moved, moved);
        proof_.applications += applications;
        proof_.most_applications = std::max(proof_.most_applications, applications);
    }

    RankState& state(int rank) { return *states_[static_cast<std::size_t>(rank)]; }
    const Step& step_at(int rank, int step) {
        return state(rank).program.steps[static_cast<std::size_t>(step)];
    }

    void collect(int rank) {
        Walk& walk = state(rank).walk;
        for (int s = walk.next_message(); s != Walk::none; s = walk.next_message()) {
            agenda_.push_back({rank, s});
        }
        for (int s = walk.next_work(); s != Walk::none; s = walk.next_work()) {
            agenda_.push_back({rank, s});
        }
    }

    StepOfRank take() {
        std::size_t pick = agenda_head_;
        if (delivery_ == Delivery::shuffled) {
            pick = std::uniform_int_distribution<std::size_t>(agenda_head_,
                                                              agenda_.size() - 1)(random_);
        }
        std::swap(agenda_[agenda_head_], agenda_[pick]);
        const StepOfRank next = agenda_[agenda_head_++];
        if (agenda_head_ == agenda_.size())
            agenda_.clear(), agenda_head_ = 0;
        return next;
    }

    void finish(int rank, int step) {
        state(rank).walk.finish(step);
        collect(rank);
    }

    void start(int rank, int index) {
        state(rank).started[static_cast<std::size_t>(index)] = 1;
        const Step& step = step_at(rank, index);
        if (is_message(step.verb))
            return start_message(rank, index);
        if (step.verb == Verb::copy)
            copy(rank, index);
        else
            fold(rank, index);
        finish(rank, index);
    }

    bool lent(int sender, int send, int receiver, int receive) {
        return delivery_ == Delivery::lent && state(sender).loans.may_lend(send) &&
               !state(receiver).loans.uses(receive).empty();
    }

    void start_message(int rank, int index) {
        const StepOfRank other =
            mates_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)];
        const bool sends = step_at(rank, index).verb == Verb::send;
        const StepOfRank self{rank, index};
        const StepOfRank from = sends ? self : other, to = sends ? other : self;
        const bool ahead =
            delivery_ == Delivery::eager || lent(from.rank, from.step, to.rank, to.step);
        const bool other_started = state(other.rank).started[static_cast<std::size_t>(other.step)];
        if (sends && delivery_ == Delivery::eager)
            keep_on_wire(from);
        if (other_started)
            deliver(from, to);
        if (ahead && sends)
            finish(from.rank, from.step);
        else if (!ahead && other_started)
            finish(from.rank, from.step);
        if (other_started)
            finish(to.rank, to.step);
    }

    /// An eager message leaves as it is now, whatever the sender writes there afterwards.
    void keep_on_wire(StepOfRank from) {
        auto& message = wire_[static_cast<std::size_t>(from.rank)][from.step];
        for_each_cell(from, [&](Cell& cell) { message.push_back(read(from, cell)); });
    }

    void deliver(StepOfRank from, StepOfRank to) {
        if (delivery_ == Delivery::eager)
            return deliver_eager(from, to);
        const bool lend = lent(from.rank, from.step, to.rank, to.step);
        std::vector<Cell*> source;
        for_each_cell(from, [&](Cell& cell) {
            read(from, cell);
            source.push_back(&cell);
        });
        std::size_t i = 0;
        for_each_cell(to, [&](Cell& cell) {
            Cell* const sent = source[i++];
            if (cell.unused_transfer >= 0)
                fail_unused(to.rank, cell.unused_transfer);
            if (lend)
                cell = {{}, sent, to.step};
            else
                cell = {sent->lender ? sent->lender->symbol : sent->symbol, nullptr, to.step};
        });
    }

    void deliver_eager(StepOfRank from, StepOfRank to) {
        auto& messages = wire_[static_cast<std::size_t>(from.rank)];
        const std::vector<Symbol> message = std::move(messages[from.step]);
        messages.erase(from.step);
        std::size_t i = 0;
        for_each_cell(to, [&](Cell& cell) {
            if (cell.unused_transfer >= 0)
                fail_unused(to.rank, cell.unused_transfer);
            cell = {message[i++], nullptr, to.step};
        });
    }

    /// Calls `visit` with each cell of a step's regions, in message order.
    template <class Visit>
    void for_each_cell(StepOfRank at, Visit&& visit) {
        const Program& program = state(at.rank).program;
        for (const Region& region : program.regions_of(step_at(at.rank, at.step))) {
            for_each_cell(at.rank, region, visit);
        }
    }
    template <class Visit>
    void for_each_cell(int rank, const Region& region, Visit&& visit) {
        auto& memory = state(rank).memory[static_cast<std::size_t>(region.buffer)];
        for (Elements e = 0; e < region.elements(); ++e) {
            visit(memory[static_cast<std::size_t>(region.at(e))]);
        }
    }

    Symbol read(StepOfRank at, Cell& cell) {
        const Symbol& symbol = cell.lender ? cell.lender->symbol : cell.symbol;
        if (symbol.element == Symbol::undefined)
            fail(at, "reads an element that nobody wrote");
        cell.unused_transfer = -1;
        return symbol;
    }

    std::vector<Symbol> read(StepOfRank at, const Region& region) {
        std::vector<Symbol> symbols;
        symbols.reserve(static_cast<std::size_t>(region.elements()));
        for_each_cell(at.rank, region, [&](Cell& cell) { symbols.push_back(read(at, cell)); });
        return symbols;
    }

    void write(StepOfRank at, const Region& region, const std::vector<Symbol>& symbols) {
        std::size_t i = 0;
        for_each_cell(at.rank, region, [&](Cell& cell) {
            if (cell.unused_transfer >= 0)
                fail_unused(at.rank, cell.unused_transfer);
            cell = {symbols[i++], nullptr, -1};
        });
    }

    void copy(int rank, int index) {
        const Program& program = state(rank).program;
        const Step& step = step_at(rank, index);
        write({rank, index}, step.to, read({rank, index}, program.regions_of(step)[0]));
    }

    void fold(int rank, int index) {
        const Step& step = step_at(rank, index);
        const auto operands = state(rank).program.regions_of(step);
        std::vector<Symbol> sum = read({rank, index}, operands[0]);
        for (const Region& operand : operands.subspan(1)) {
            const std::vector<Symbol> next = read({rank, index}, operand);
            for (std::size_t e = 0; e < sum.size(); ++e)
                join({rank, index}, sum[e], next[e]);
        }
        write({rank, index}, step.to, sum);
    }

    void join(StepOfRank at, Symbol& left, const Symbol& right) {
        if (left.element != right.element) {
            fail(at, "folds element " + std::to_string(left.element) + " with element " +
                         std::to_string(right.element));
        }
        if (left.last != right.first) {
            fail(at, "operands out of order: " + range(left) + " then " + range(right));
        }
        left.last = right.last;
        left.depth = std::max(left.depth, right.depth) + 1;
        proof_.depth = std::max(proof_.depth, left.depth);
    }

    static std::string range(const Symbol& s) { return fmt::format("[{}, {})", s.first, s.last); }

    void check_finished() {
        for (int rank = 0; rank < static_cast<int>(states_.size()); ++rank) {
            if (state(rank).walk.done())
                continue;
            int stuck = 0;
            while (state(rank).walk.finished(stuck))
                ++stuck;
            fail({rank, stuck}, "deadlock: waits for ever, and " +
                                    std::to_string(state(rank).walk.unfinished()) +
                                    " steps of its rank never finish");
        }
    }

    void check_results() {
        std::vector<std::vector<Symbol>> results;
        for (int rank = 0; rank < static_cast<int>(states_.size()); ++rank) {
            results.push_back(read_result(rank));
            check_unused(rank);
            if (!claim_.wanted)
                continue;
            const std::string wrong = claim_.wanted(rank, results.back());
            if (!wrong.empty()) {
                throw std::logic_error("rank " + std::to_string(rank) + ", result: " + wrong);
            }
        }
        if (!claim_.wanted_together)
            return;
        const std::string wrong = claim_.wanted_together(results);
        if (!wrong.empty())
            throw std::logic_error("results: " + wrong);
    }

    std::vector<Symbol> read_result(int rank) {
        const Region& region = state(rank).program.result;
        if (region.empty())
            return {};
        std::vector<Symbol> symbols;
        for_each_cell(rank, region, [&](Cell& cell) {
            cell.unused_transfer = -1;
            symbols.push_back(cell.lender ? cell.lender->symbol : cell.symbol);
        });
        return symbols;
    }

    void check_unused(int rank) {
        for (const auto& buffer : state(rank).memory) {
            for (const Cell& cell : buffer) {
                if (cell.unused_transfer >= 0)
                    fail_unused(rank, cell.unused_transfer);
            }
        }
    }

    [[noreturn]] void fail_unused(int rank, int step) {
        fail({rank, step}, "dead transfer: what it brings is never used");
    }

    [[noreturn]] void fail(StepOfRank at, const std::string& what) {
        const Step& step = step_at(at.rank, at.step);
        std::string peer;
        if (step.verb == Verb::send)
            peer = fmt::format(" to rank {}", step.peer);
        if (step.verb == Verb::receive)
            peer = fmt::format(" from rank {}", step.peer);
        throw std::logic_error(fmt::format("rank {}, step {} ({}{}): {}", at.rank, at.step,
                                           name(step.verb), peer, what));
    }

    const Schedule& schedule_;
    const Claim& claim_;
    const Delivery delivery_;
    std::mt19937 random_;
    Proof& proof_;
    std::vector<std::vector<StepOfRank>> mates_;
    std::vector<std::unique_ptr<RankState>> states_;
    std::vector<StepOfRank> agenda_;
    std::size_t agenda_head_ = 0;
    std::unordered_map<std::size_t, std::unordered_map<int, std::vector<Symbol>>> wire_;
};

} // namespace

Proof prove(const Schedule& schedule, const Claim& claim, Delivery delivery, unsigned seed) {
    Proof proof;
    try {
        Player(schedule, claim, delivery, seed, proof).play();
    } catch (const std::logic_error& error) {
        proof.error = error.what();
    }
    return proof;
}

Proof prove(const Schedule& schedule, const Claim& claim) {
    Proof first;
    for (Delivery delivery : deliveries) {
        Proof proof = prove(schedule, claim, delivery);
        if (delivery == deliveries[0])
            first = proof;
        if (proof.holds())
            continue;
        first.error = std::string(name(delivery)) + " delivery: " + proof.error;
        break;
    }
    return first;
}

std::string_view name(Delivery delivery) {
    switch (delivery) {
    case Delivery::rendezvous:
        return "rendezvous";
    case Delivery::shuffled:
        return "shuffled";
    case Delivery::eager:
        return "eager";
    case Delivery::lent:
        return "lent";
    }
    return "";
}

} // namespace sextant
