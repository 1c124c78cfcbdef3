// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/prove.hpp"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/random.hpp"
#include <fmt/format.h>

namespace sextant::test {

/// The expected result of `prove`, computed in a slow and simple way from the definitions in
/// program.hpp and prove.hpp, without sharing code with it: conflicts are found by comparing the
/// element sets of all pairs of steps; steps run in random order, each as soon as it can start.
class ReferenceProver {
  public:
    ReferenceProver(const Schedule& schedule, const Claim& claim)
        : schedule_(schedule), claim_(claim) {}

    /// The first error found in several orders, with buffered and unbuffered sends; "" if the
    /// schedule is correct.
    std::string judge() {
        return test::message_of<Wrong>([&] {
            for (std::size_t rank = 0; rank < schedule_.size(); ++rank)
                check_steps(rank);
            match();
            for (std::size_t rank = 0; rank < schedule_.size(); ++rank)
                find_waits(rank);
            for (bool eager : {false, true}) {
                for (unsigned seed : {1u, 2u})
                    play_all(eager, seed);
            }
        });
    }

  private:
    struct Wrong : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    struct Cell {
        Symbol symbol;
        // index, among the elements of all messages, of the element that is stored or copied here
        std::optional<std::size_t> brought;
    };
    struct State {
        bool started = false, finished = false;
        std::vector<int> waits_for;
        std::size_t mate_rank = 0, mate = 0;
        std::vector<Symbol> wire; // contents of an eager send
    };
    struct Name {
        std::size_t rank, step;
    };

    static void require(bool good, const char* what) {
        if (!good)
            throw Wrong(what);
    }
    const Program& program(std::size_t rank) const { return schedule_[rank]; }
    const Step& step(Name at) const { return program(at.rank).steps[at.step]; }
    State& state(Name at) { return states_[at.rank][at.step]; }

    void check_region(const Program& program, const Region& region, bool write) const {
        require(region.buffer >= 0 && region.buffer < static_cast<int>(program.buffers.size()),
                "no such buffer");
        require(region.length >= 0 && region.count >= 0, "less than nothing");
        const BufferSpec& buffer = program.buffers[static_cast<std::size_t>(region.buffer)];
        for (Elements e : elements_in_order(region)) {
            require(e >= 0 && e < buffer.size, "outside its buffer");
        }
        require(!write || buffer.role != Role::input, "writes to an input");
    }

    void check_steps(std::size_t rank) const {
        const Program& own = program(rank);
        for (const Step& step : own.steps) {
            for (const Region& region : own.regions_of(step)) {
                check_region(own, region, step.verb == Verb::receive);
            }
            if (step.verb == Verb::compute)
                check_made(own, step);
            if (!has_destination(step.verb))
                continue;
            check_region(own, step.to, true);
            require(step.count >= 1 && (step.verb == Verb::fold || step.count == 1), "operands");
            const ElementSet to = element_set(own, step.to);
            for (const Region& region : own.regions_of(step)) {
                require(region.elements() == step.to.elements(), "sizes differ");
                require(region == step.to || !to.meets(element_set(own, region)), "overlaps");
            }
        }
        if (!own.result.empty())
            check_region(own, own.result, false);
    }

    void check_made(const Program& own, const Step& step) const {
        ElementSet taken;
        for (const Region& region : own.regions_of(step))
            taken.insert(element_set(own, region));
        require(step.kernel >= 0 && step.made > 0, "a kernel without number or use");
        for (const Region& region : own.made_by(step)) {
            check_region(own, region, true);
            require(!taken.meets(element_set(own, region)), "made twice, or read as well");
            taken.insert(element_set(own, region));
        }
    }

    void match() {
        std::map<std::pair<std::size_t, std::size_t>, std::vector<Name>> sends, receives;
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
            states_.emplace_back(program(rank).steps.size());
            for (std::size_t i = 0; i < program(rank).steps.size(); ++i) {
                const Step& step = program(rank).steps[i];
                if (!is_message(step.verb))
                    continue;
                const auto peer = static_cast<std::size_t>(step.peer);
                require(step.peer >= 0 && peer < schedule_.size() && peer != rank, "no such peer");
                if (step.verb == Verb::send)
                    sends[{rank, peer}].push_back({rank, i});
                else
                    receives[{peer, rank}].push_back({rank, i});
            }
        }
        for (auto& [pair, names] : sends)
            receives.try_emplace(pair);
        for (auto& [pair, to] : receives) {
            const auto& from = sends[pair];
            require(from.size() == to.size(), "unmatched message");
            for (std::size_t k = 0; k < to.size(); ++k) {
                require(program(from[k].rank).elements_of(step(from[k])) ==
                            program(to[k].rank).elements_of(step(to[k])),
                        "message sizes differ");
                state(from[k]).mate_rank = to[k].rank, state(from[k]).mate = to[k].step;
                state(to[k]).mate_rank = from[k].rank, state(to[k]).mate = from[k].step;
            }
        }
    }

    void find_waits(std::size_t rank) {
        const Program& own = program(rank);
        const auto earlier = earlier_conflicts(own);
        for (std::size_t i = 0; i < own.steps.size(); ++i) {
            states_[rank][i].waits_for = earlier[i];
            if (own.window <= 0 || !is_message(own.steps[i].verb))
                continue;
            for (std::size_t j = 0; j < own.steps.size(); ++j) {
                const bool holds = is_message(own.steps[j].verb) &&
                                   own.steps[j].round <= own.steps[i].round - own.window;
                if (holds)
                    states_[rank][i].waits_for.push_back(static_cast<int>(j));
            }
        }
    }

    void play_all(bool eager, unsigned seed) {
        eager_ = eager;
        random_ = Random(seed);
        memory_.clear();
        used_.clear();
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
            fill_memory(rank);
            for (State& s : states_[rank])
                s.started = s.finished = false;
        }
        play();
        check_end();
    }

    /// For claims with Order::any and at most 31 operands: the operands as a set of bits, in
    /// `gaps`.
    void to_bits(Symbol& symbol) const {
        if (claim_.order == Order::any && symbol.element != Symbol::undefined)
            symbol.gaps = static_cast<int>((1u << symbol.last) - (1u << symbol.first));
    }

    void from_bits(Symbol& symbol) const {
        if (claim_.order != Order::any || symbol.element == Symbol::undefined)
            return;
        const auto bits = static_cast<std::uint32_t>(symbol.gaps);
        symbol.first = std::countr_zero(bits);
        symbol.last = 32 - std::countl_zero(bits);
        symbol.gaps = std::popcount(bits) < symbol.last - symbol.first;
    }

    void fill_memory(std::size_t rank) {
        const Program& own = program(rank);
        memory_.emplace_back(own.buffers.size());
        for (std::size_t b = 0; b < own.buffers.size(); ++b) {
            const bool given =
                own.buffers[b].role == Role::input || own.buffers[b].role == Role::in_out;
            for (Elements e = 0; e < own.buffers[b].size; ++e) {
                auto symbol =
                    given ? claim_.given(static_cast<int>(rank), static_cast<int>(b), e) : Symbol{};
                to_bits(symbol);
                memory_[rank][b].push_back({symbol, {}});
            }
        }
    }

    bool may_start(Name at) {
        if (state(at).started)
            return false;
        for (int other : state(at).waits_for) {
            if (!states_[at.rank][static_cast<std::size_t>(other)].finished)
                return false;
        }
        return true;
    }

    void play() {
        std::vector<Name> waiting;
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
            for (std::size_t i = 0; i < states_[rank].size(); ++i)
                waiting.push_back({rank, i});
        }
        for (bool moved = true; moved;) {
            moved = false;
            random_.shuffle(waiting);
            for (Name at : waiting) {
                if (!may_start(at))
                    continue;
                start(at);
                moved = true;
            }
            std::erase_if(waiting, [&](Name at) { return state(at).started; });
        }
        require(waiting.empty(), "deadlock: steps that never start");
        for (const auto& rank : states_) {
            for (const State& s : rank)
                require(s.finished, "deadlock: a message never met");
        }
    }

    void start(Name at) {
        State& own = state(at);
        own.started = true;
        if (!is_message(step(at).verb)) {
            step(at).verb == Verb::compute ? compute(at)
            : step(at).verb == Verb::copy  ? copy(at)
                                           : fold(at);
            own.finished = true;
            return;
        }
        const Name other{own.mate_rank, own.mate};
        const bool sends = step(at).verb == Verb::send;
        const Name from = sends ? at : other, to = sends ? other : at;
        if (sends && eager_)
            own.wire = read_all(from), own.finished = true;
        if (!state(other).started)
            return;
        if (!eager_)
            state(from).wire = read_all(from);
        std::size_t i = 0;
        for (const Region& region : program(to.rank).regions_of(step(to))) {
            for (Elements e : elements_in_order(region)) {
                cell(to.rank, region.buffer, e) = {state(from).wire[i++], used_.size()};
                used_.push_back(false);
            }
        }
        state(from).finished = state(to).finished = true;
    }

    void copy(Name at) {
        std::vector<Cell> copied;
        const Region& source = program(at.rank).regions_of(step(at))[0];
        for (Elements e : elements_in_order(source)) {
            copied.push_back(cell(at.rank, source.buffer, e));
            require(copied.back().symbol.element != Symbol::undefined, "copies the undefined");
        }
        std::size_t i = 0;
        for (Elements e : elements_in_order(step(at).to))
            cell(at.rank, step(at).to.buffer, e) = copied[i++];
    }

    void compute(Name at) {
        std::vector<Symbol> made;
        try {
            made = claim_.computed(static_cast<int>(at.rank), program(at.rank), step(at),
                                   read_all(at));
        } catch (const std::logic_error& error) {
            throw Wrong(error.what());
        }
        std::size_t i = 0;
        for (const Region& region : program(at.rank).made_by(step(at))) {
            for (Elements e : elements_in_order(region)) {
                require(i < made.size(), "makes too little");
                cell(at.rank, region.buffer, e) = {made[i++], {}};
            }
        }
        require(i == made.size(), "makes too much");
    }

    void fold(Name at) {
        const auto operands = program(at.rank).regions_of(step(at));
        std::vector<Symbol> sum = read(at.rank, operands[0]);
        for (const Region& operand : operands.subspan(1)) {
            const std::vector<Symbol> next = read(at.rank, operand);
            for (std::size_t e = 0; e < sum.size(); ++e) {
                require(sum[e].element == next[e].element, "folds different elements");
                require(claim_.order == Order::any ? (sum[e].gaps & next[e].gaps) == 0
                                                   : sum[e].last == next[e].first,
                        "operands out of order, or twice");
                sum[e].last = next[e].last;
                sum[e].gaps |= next[e].gaps;
            }
        }
        std::size_t i = 0;
        for (Elements e : elements_in_order(step(at).to)) {
            cell(at.rank, step(at).to.buffer, e) = {sum[i++], {}};
        }
    }

    std::vector<Symbol> read_all(Name at) {
        std::vector<Symbol> message;
        for (const Region& region : program(at.rank).regions_of(step(at))) {
            const std::vector<Symbol> symbols = read(at.rank, region);
            message.insert(message.end(), symbols.begin(), symbols.end());
        }
        return message;
    }

    std::vector<Symbol> read(std::size_t rank, const Region& region, bool check = true) {
        std::vector<Symbol> symbols;
        for (Elements e : elements_in_order(region)) {
            Cell& own = cell(rank, region.buffer, e);
            require(!check || own.symbol.element != Symbol::undefined, "reads the undefined");
            if (own.brought)
                used_[*own.brought] = true;
            symbols.push_back(own.symbol);
        }
        return symbols;
    }

    Cell& cell(std::size_t rank, int buffer, Elements element) {
        return memory_[rank][static_cast<std::size_t>(buffer)][static_cast<std::size_t>(element)];
    }

    void check_end() {
        std::vector<std::vector<Symbol>> results;
        for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
            const Region& result = program(rank).result;
            results.push_back(result.empty() ? std::vector<Symbol>() : read(rank, result, false));
            for (Symbol& symbol : results.back())
                from_bits(symbol);
            if (!claim_.wanted)
                continue;
            require(claim_.wanted(static_cast<int>(rank), results.back()).empty(), "wrong result");
        }
        for (bool used : used_)
            require(used, "dead transfer: never folded, sent on or in a result");
        require(!claim_.wanted_together || claim_.wanted_together(results).empty(),
                "wrong results together");
    }

    const Schedule& schedule_;
    const Claim& claim_;
    bool eager_ = false;
    Random random_{1};
    std::vector<std::vector<State>> states_;
    std::vector<std::vector<std::vector<Cell>>> memory_; // by rank, buffer, element
    std::vector<bool> used_;                             // elements of messages
};

/// The error of a schedule; "" if it is correct.
inline std::string what_is_wrong(const Schedule& schedule, const Claim& claim) {
    return ReferenceProver(schedule, claim).judge();
}

} // namespace sextant::test
