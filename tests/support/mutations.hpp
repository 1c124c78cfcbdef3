// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/footprint.hpp"
#include "tests/support/random.hpp"

namespace sextant::test {

/// One step of a program, with its own copy of its regions, so that it can be added, removed or
/// changed.
struct LooseStep {
    Step step;
    std::vector<Region> regions, made;
};

struct LooseProgram {
    Program rest; ///< buffers, window and result, without steps
    std::vector<LooseStep> steps;
};

using LooseSchedule = std::vector<LooseProgram>;

inline LooseSchedule taken_apart(const Schedule& schedule) {
    LooseSchedule loose;
    for (const Program& program : schedule) {
        LooseProgram own{program, {}};
        for (const Step& step : program.steps) {
            const auto regions = program.regions_of(step);
            const auto made = program.made_by(step);
            own.steps.push_back(
                {step, {regions.begin(), regions.end()}, {made.begin(), made.end()}});
        }
        own.rest.steps.clear();
        own.rest.regions.clear();
        loose.push_back(std::move(own));
    }
    return loose;
}

inline Program put_together(const LooseProgram& loose) {
    Program program = loose.rest;
    for (LooseStep own : loose.steps) {
        own.step.first = static_cast<std::uint32_t>(program.regions.size());
        own.step.count = static_cast<std::uint32_t>(own.regions.size());
        program.steps.push_back(own.step);
        for (const auto* all : {&own.regions, &own.made})
            program.regions.insert(program.regions.end(), all->begin(), all->end());
    }
    return program;
}

inline Schedule put_together(const LooseSchedule& loose) {
    Schedule schedule;
    for (const LooseProgram& program : loose)
        schedule.push_back(put_together(program));
    return schedule;
}

/// One random change to a schedule. Each function returns false if it found nothing to change.
class Mutator {
  public:
    Mutator(Random& random, LooseSchedule& schedule) : random_(random), schedule_(schedule) {}

    bool swap_operands() {
        LooseStep* fold = find([](const LooseStep& s) { return s.step.verb == Verb::fold; });
        if (!fold)
            return false;
        const std::size_t a = random_.index(fold->regions.size());
        const std::size_t b = random_.index(fold->regions.size());
        if (a == b)
            return false;
        std::swap(fold->regions[a], fold->regions[b]);
        return true;
    }

    bool drop_operand() {
        LooseStep* fold = find([](const LooseStep& s) { return s.step.verb == Verb::fold; });
        if (!fold)
            return false;
        const std::size_t a = random_.index(fold->regions.size());
        fold->regions.erase(fold->regions.begin() + static_cast<std::ptrdiff_t>(a));
        return true;
    }

    bool drop_step() {
        return drop_one([](const LooseStep&) { return true; });
    }

    bool drop_copy() {
        return drop_one([](const LooseStep& s) { return s.step.verb == Verb::copy; });
    }

    bool drop_transfer() {
        const Transfer t = any_transfer();
        if (t.from < 0)
            return false;
        erase(t.from, t.send);
        erase(t.to, t.receive);
        return true;
    }

    /// Repeats a message; the second copy is received into new scratch memory.
    bool repeat_transfer_elsewhere() {
        const Transfer t = any_transfer();
        if (t.from < 0)
            return false;
        LooseProgram& receiver = at(t.to);
        LooseStep send = step(t.from, t.send), receive = step(t.to, t.receive);
        const Elements size = elements(receive);
        receiver.rest.buffers.push_back({Role::scratch, size});
        receive.regions = {block(static_cast<int>(receiver.rest.buffers.size()) - 1, 0, size)};
        insert(t.from, t.send, send);
        insert(t.to, t.receive, receive);
        return true;
    }

    /// Repeats a message, to the same destination.
    bool repeat_transfer_in_place() {
        const Transfer t = any_transfer();
        if (t.from < 0)
            return false;
        insert(t.from, t.send, LooseStep(step(t.from, t.send)));
        insert(t.to, t.receive, LooseStep(step(t.to, t.receive)));
        return true;
    }

    bool shift_source() {
        LooseStep* reader = find([](const LooseStep& s) { return s.step.verb != Verb::receive; });
        return reader && shift(reader->regions[random_.index(reader->regions.size())]);
    }

    bool shift_receive() {
        LooseStep* receive = find([](const LooseStep& s) { return s.step.verb == Verb::receive; });
        return receive && shift(receive->regions[random_.index(receive->regions.size())]);
    }

    bool shift_destination() {
        LooseStep* worker = find([](const LooseStep& s) { return !is_message(s.step.verb); });
        return worker && shift(destination_of(*worker));
    }

    bool change_peer() {
        LooseStep* message = find([](const LooseStep& s) { return is_message(s.step.verb); });
        if (!message)
            return false;
        const int peer = random_.number(-1, static_cast<int>(schedule_.size()));
        if (peer == message->step.peer)
            return false;
        message->step.peer = peer;
        return true;
    }

    /// Swaps the peers of two messages of one rank with the same verb and size.
    bool swap_peers() {
        const Two two = two_alike();
        if (!two.a || two.a->step.peer == two.b->step.peer)
            return false;
        std::swap(two.a->step.peer, two.b->step.peer);
        return true;
    }

    /// Swaps the regions of two messages of one rank with the same verb and size.
    bool swap_regions_of_messages() {
        const Two two = two_alike();
        if (!two.a || two.a->regions == two.b->regions)
            return false;
        std::swap(two.a->regions, two.b->regions);
        return true;
    }

    bool swap_dependent_neighbours() { return swap_neighbours(true); }
    bool swap_independent_neighbours() { return swap_neighbours(false); }

    /// Grows or shrinks a region by one element: one side of a message, an operand or a
    /// destination.
    bool resize_region() {
        LooseStep* any = find([](const LooseStep&) { return true; });
        if (!any)
            return false;
        const bool of_work = !is_message(any->step.verb) && random_.chance(40);
        return resize(of_work ? destination_of(*any)
                              : any->regions[random_.index(any->regions.size())],
                      random_.chance(50) ? 1 : -1);
    }

    /// Adds or removes an element at the end of both sides of a message.
    bool resize_transfer() {
        const Transfer t = any_transfer();
        if (t.from < 0 || elements(step(t.from, t.send)) < 2)
            return false;
        Region &sent = step(t.from, t.send).regions.back(),
               &received = step(t.to, t.receive).regions.back();
        const Elements more = random_.chance(50) ? 1 : -1;
        if (sent.count != 1 || received.count != 1)
            return false;
        make_room(t.to, received);
        return resize(sent, more) && resize(received, more);
    }

    bool wrong_result() {
        LooseProgram& own = any_program();
        if (own.rest.buffers.empty())
            return false;
        Region& result = own.rest.result;
        const Region before = result;
        if (random_.chance(30)) {
            result = {};
        } else if (random_.chance(50)) {
            result = block(random_.number(0, static_cast<int>(own.rest.buffers.size()) - 1),
                           result.offset, result.elements());
        } else if (random_.chance(50)) {
            shift(result);
        } else {
            resize(result, result.empty() || random_.chance(50) ? 1 : -1);
        }
        return !(result == before) && !(result.empty() && before.empty());
    }

    bool write_to_an_input() {
        LooseProgram& own = any_program();
        std::vector<int> inputs;
        for (std::size_t b = 0; b < own.rest.buffers.size(); ++b) {
            const BufferSpec& spec = own.rest.buffers[b];
            if (spec.role == Role::input && spec.size > 0)
                inputs.push_back(static_cast<int>(b));
        }
        if (own.steps.empty() || inputs.empty())
            return false;
        LooseStep& any = own.steps[random_.index(own.steps.size())];
        if (any.step.verb == Verb::send)
            return false;
        Region& written = any.step.verb == Verb::receive ? any.regions[0] : destination_of(any);
        written.buffer = random_.pick(inputs);
        return true;
    }

    /// Sets a window of one round, and swaps the rounds of two messages of a rank.
    bool mislabel_rounds() {
        LooseProgram& own = any_program();
        std::vector<LooseStep*> messages;
        for (LooseStep& s : own.steps) {
            if (is_message(s.step.verb))
                messages.push_back(&s);
        }
        if (messages.size() < 2)
            return false;
        LooseStep& a = *random_.pick(messages);
        LooseStep& b = *random_.pick(messages);
        if (a.step.round == b.step.round)
            return false;
        std::swap(a.step.round, b.step.round);
        for (LooseProgram& program : schedule_)
            program.rest.window = 1;
        return true;
    }

    /// Divides a region of a send into two.
    bool cut_region() {
        LooseStep* message = find([](const LooseStep& s) { return is_message(s.step.verb); });
        if (!message)
            return false;
        const std::size_t k = random_.index(message->regions.size());
        const Region whole = message->regions[k];
        if (whole.count != 1 || whole.length < 2)
            return false;
        const Elements cut = random_.between(1, whole.length - 1);
        const auto place = message->regions.begin() + static_cast<std::ptrdiff_t>(k);
        *place = block(whole.buffer, whole.offset, cut);
        message->regions.insert(place + 1,
                                block(whole.buffer, whole.offset + cut, whole.length - cut));
        return true;
    }

    /// Combines the first operands of a fold in a separate step, into new scratch memory.
    bool fold_in_two_steps() {
        const std::size_t rank = random_.index(schedule_.size());
        LooseProgram& own = schedule_[rank];
        if (own.steps.empty())
            return false;
        const std::size_t i = random_.index(own.steps.size());
        LooseStep late = own.steps[i];
        if (late.step.verb != Verb::fold || late.regions.size() < 3)
            return false;
        const Elements size = late.step.to.elements();
        own.rest.buffers.push_back({Role::scratch, size});
        LooseStep early = late;
        early.step.to = block(static_cast<int>(own.rest.buffers.size()) - 1, 0, size);
        const auto some = 2 + random_.index(late.regions.size() - 2);
        early.regions.resize(some);
        late.regions.erase(late.regions.begin(),
                           late.regions.begin() + static_cast<std::ptrdiff_t>(some));
        late.regions.insert(late.regions.begin(), early.step.to);
        own.steps[i] = late;
        own.steps.insert(own.steps.begin() + static_cast<std::ptrdiff_t>(i), early);
        return true;
    }

    /// Changes rounds and groups, which are only labels without a window.
    bool relabel() {
        LooseProgram& own = any_program();
        if (own.rest.window != 0 || own.steps.empty())
            return false;
        LooseStep& any = own.steps[random_.index(own.steps.size())];
        any.step.round = random_.number(0, 9);
        any.step.group = random_.number(0, 9);
        return true;
    }

  private:
    struct Transfer {
        int from = -1, send = -1, to = -1, receive = -1;
    };
    struct Two {
        LooseStep *a = nullptr, *b = nullptr;
    };

    LooseProgram& at(int rank) { return schedule_[static_cast<std::size_t>(rank)]; }
    LooseStep& step(int rank, int i) { return at(rank).steps[static_cast<std::size_t>(i)]; }
    LooseProgram& any_program() { return schedule_[random_.index(schedule_.size())]; }

    /// The destination of a step; a random one if it has several.
    Region& destination_of(LooseStep& worker) {
        return worker.made.empty() ? worker.step.to
                                   : worker.made[random_.index(worker.made.size())];
    }

    static Elements elements(const LooseStep& s) {
        Elements sum = 0;
        for (const Region& region : s.regions)
            sum += region.elements();
        return sum;
    }

    void erase(int rank, int i) {
        at(rank).steps.erase(at(rank).steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
    void insert(int rank, int i, const LooseStep& s) {
        at(rank).steps.insert(at(rank).steps.begin() + static_cast<std::ptrdiff_t>(i), s);
    }

    /// A random step of a random rank that satisfies `fits`; null if this rank has no such step.
    template <class Fits>
    LooseStep* find(Fits fits) {
        std::vector<LooseStep*> all;
        for (LooseStep& s : any_program().steps) {
            if (fits(s))
                all.push_back(&s);
        }
        return all.empty() ? nullptr : random_.pick(all);
    }

    template <class Fits>
    bool drop_one(Fits fits) {
        std::vector<LooseStep>& steps = any_program().steps;
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (fits(steps[i]))
                all.push_back(i);
        }
        if (all.empty())
            return false;
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(random_.pick(all)));
        return true;
    }

    /// The k-th send from one rank to another, with the matching receive.
    Transfer any_transfer() {
        Transfer t;
        t.from = random_.number(0, static_cast<int>(schedule_.size()) - 1);
        std::vector<int> sends;
        for (int i = 0; i < static_cast<int>(at(t.from).steps.size()); ++i) {
            if (step(t.from, i).step.verb == Verb::send)
                sends.push_back(i);
        }
        if (sends.empty())
            return {};
        t.send = random_.pick(sends);
        t.to = step(t.from, t.send).step.peer;
        int earlier = 0;
        for (int i = 0; i < t.send; ++i) {
            const Step& s = step(t.from, i).step;
            earlier += s.verb == Verb::send && s.peer == t.to;
        }
        for (int i = 0; i < static_cast<int>(at(t.to).steps.size()); ++i) {
            const Step& s = step(t.to, i).step;
            if (s.verb != Verb::receive || s.peer != t.from)
                continue;
            t.receive = i;
            if (earlier-- == 0)
                break;
        }
        return t;
    }

    Two two_alike() {
        std::vector<LooseStep*> all;
        const Verb verb = random_.chance(50) ? Verb::send : Verb::receive;
        for (LooseStep& s : any_program().steps) {
            if (s.step.verb == verb)
                all.push_back(&s);
        }
        if (all.size() < 2)
            return {};
        const Two two{random_.pick(all), random_.pick(all)};
        const bool alike = two.a != two.b && elements(*two.a) == elements(*two.b);
        return alike ? two : Two{};
    }

    bool swap_neighbours(bool dependent) {
        LooseProgram& own = any_program();
        if (own.steps.size() < 2)
            return false;
        const std::size_t i = random_.index(own.steps.size() - 1);
        const Program whole = put_together(own);
        const bool conflicts =
            conflict(footprint(whole, whole.steps[i]), footprint(whole, whole.steps[i + 1]));
        if (conflicts != dependent)
            return false;
        std::swap(own.steps[i], own.steps[i + 1]);
        return true;
    }

    /// Enlarges a rank's scratch buffer by one element, so that a mutant is not refused only
    /// because a region exceeds the buffer.
    void make_room(int rank, const Region& region) {
        BufferSpec& spec = at(rank).rest.buffers[static_cast<std::size_t>(region.buffer)];
        if (spec.role == Role::scratch)
            ++spec.size;
    }

    bool shift(Region& region) {
        for (LooseProgram& program : schedule_) { // all ranks: the rank of `region` is unknown
            for (BufferSpec& spec : program.rest.buffers)
                spec.size += spec.role == Role::scratch;
        }
        region.offset += region.offset > 0 && random_.chance(50) ? -1 : 1;
        return true;
    }

    static bool resize(Region& region, Elements more) {
        region.length += more;
        if (region.count == 1)
            region.stride = region.length;
        return true;
    }

    Random& random_;
    LooseSchedule& schedule_;
};

/// A kind of change. `always`: it changes the meaning of every schedule; `never`: it changes the
/// meaning of no schedule.
struct Mutation {
    enum class Meaning { always, sometimes, never };

    std::string_view name;
    Meaning changes;
    bool (Mutator::*apply)();
};

inline constexpr Mutation mutations[] = {
    {"swap two operands", Mutation::Meaning::always, &Mutator::swap_operands},
    {"drop an operand", Mutation::Meaning::always, &Mutator::drop_operand},
    {"drop a step", Mutation::Meaning::always, &Mutator::drop_step},
    {"drop a copy", Mutation::Meaning::always, &Mutator::drop_copy},
    {"drop a transfer", Mutation::Meaning::always, &Mutator::drop_transfer},
    {"repeat a transfer elsewhere", Mutation::Meaning::always, &Mutator::repeat_transfer_elsewhere},
    {"repeat a transfer in place", Mutation::Meaning::always, &Mutator::repeat_transfer_in_place},
    {"shift a source", Mutation::Meaning::always, &Mutator::shift_source},
    {"shift what is received", Mutation::Meaning::always, &Mutator::shift_receive},
    {"shift a destination", Mutation::Meaning::always, &Mutator::shift_destination},
    {"change a peer", Mutation::Meaning::always, &Mutator::change_peer},
    {"resize one region", Mutation::Meaning::always, &Mutator::resize_region},
    {"resize a transfer", Mutation::Meaning::always, &Mutator::resize_transfer},
    {"wrong result", Mutation::Meaning::always, &Mutator::wrong_result},
    {"write to an input", Mutation::Meaning::always, &Mutator::write_to_an_input},
    {"swap dependent neighbours", Mutation::Meaning::always, &Mutator::swap_dependent_neighbours},
    {"swap regions of messages", Mutation::Meaning::sometimes, &Mutator::swap_regions_of_messages},
    {"swap peers", Mutation::Meaning::sometimes, &Mutator::swap_peers},
    {"mislabel rounds, window 1", Mutation::Meaning::sometimes, &Mutator::mislabel_rounds},
    {"swap independent neighbours", Mutation::Meaning::sometimes,
     &Mutator::swap_independent_neighbours},
    {"cut a message's region in two", Mutation::Meaning::never, &Mutator::cut_region},
    {"fold in two steps", Mutation::Meaning::never, &Mutator::fold_in_two_steps},
    {"relabel where no window", Mutation::Meaning::never, &Mutator::relabel},
};

} // namespace sextant::test
