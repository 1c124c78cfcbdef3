// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulated_ranks.hpp"

#include "sextant/schedule/matching.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

constexpr std::uint32_t most_ranks = (1U << 27) - 1;

/// The active fraction of a step's elements.
double active_in(const Question& question, const Step& step) {
    const std::vector<double>& active = question.active_by_round;
    return active.empty()
               ? 1
               : active[std::min(static_cast<std::size_t>(step.round), active.size() - 1)];
}

Bytes bytes_of(const Question& question, const Program& program, const Step& step) {
    const Bytes bytes = program.bytes_of(step, question.element_size);
    const double part = question.density * active_in(question, step);
    return std::max<Bytes>(1, std::llround(static_cast<double>(bytes) * part));
}

bool is_contiguous(std::span<const Region> regions) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const bool joins = i == 0 || (regions[i].buffer == regions[i - 1].buffer &&
                                      regions[i].offset == regions[i - 1].end());
        if (!regions[i].contiguous() || !joins)
            return false;
    }
    return true;
}

} // namespace

RankWork::RankWork(const Program& program, const Question& question)
    : association_(question.association) {
    const Costs& costs = question.costs;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (is_message(step.verb))
            continue;
        Item item{.step = static_cast<int>(i)};
        item.elements = static_cast<double>(step.to.elements());
        if (step.verb == Verb::fold) {
            item.first = step.first;
            item.operands = step.count;
            item.first_run = static_cast<std::uint32_t>(run_end_.size());
            item.active = active_in(question, step);
            item.seconds = costs.seconds_per_application;
            for (std::uint32_t operand = 0; operand < step.count; ++operand)
                run_end_.push_back(operand + 1);
        } else if (step.verb == Verb::copy) {
            const auto size =
                static_cast<double>(program.element_size(step.to.buffer, question.element_size));
            item.seconds = costs.copy_seconds_per_byte * size * item.elements;
        } else {
            item.seconds = costs.computing(step.kernel, program.elements_of(step));
        }
        items_.push_back(item);
    }
    items_.shrink_to_fit();
    run_end_.shrink_to_fit();
}

/// Merges the first sequence of two or more neighbouring operands that have arrived; if operands
/// must be combined in order, only a sequence that begins with the first operand.
RankWork::Pass RankWork::find(const Item& fold, const Walk& walk) {
    std::uint32_t* const run_end = run_end_.data() + fold.first_run;
    std::uint32_t first = 0, operand = 0;
    int items = 0;
    while (operand < fold.operands) {
        const bool merged = run_end[operand] > operand + 1;
        if (merged || walk.readable(fold.first + operand)) {
            operand = run_end[operand];
            ++items;
            continue;
        }
        if (items >= 2 || association_ == Association::in_order)
            break;
        first = ++operand;
        items = 0;
    }
    if (items < 2)
        return {};
    run_end[first] = operand;
    return {fold.step, fold.seconds * (items - 1) * (fold.elements * fold.active)};
}

RankWork::Pass RankWork::combine_some(const Walk& walk) {
    while (first_unfinished_ < items_.size() && items_[first_unfinished_].finished)
        ++first_unfinished_;
    for (std::size_t i = first_unfinished_; i < items_.size(); ++i) {
        if (items_[i].finished)
            continue;
        if (const Pass pass = find(items_[i], walk); pass.step != Walk::none)
            return pass;
    }
    return {};
}

RankWork::Pass RankWork::complete(int step) {
    Item& item = *std::ranges::lower_bound(items_, step, {}, &Item::step);
    item.finished = true;
    if (item.operands == 0)
        return {step, item.seconds};
    int items = 0;
    for (std::uint32_t operand = 0; operand < item.operands; ++items)
        operand = run_end_[item.first_run + operand];
    return {step, item.seconds * (items - 1) * item.elements * item.active};
}

SimulatedRun::SimulatedRun(const Question& question, SimulatedTime world)
    : question_(question), world_(std::move(world)) {
    const int ranks = question.schedule.ranks();
    MessageMatching matching(ranks);
    dependences_.reserve(static_cast<std::size_t>(ranks));
    ranks_.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        Program program = question.schedule.of(rank);
        dependences_.emplace_back(program);
        matching.add(program);
        Rank& own = ranks_.emplace_back(program, dependences_.back(), question);
        own.messages.resize(program.steps.size());
        for (std::size_t i = 0; i < program.steps.size(); ++i) {
            const Step& step = program.steps[i];
            if (!is_message(step.verb))
                continue;
            Message& message = own.messages[i];
            message.bytes = bytes_of(question, program, step);
            message.peer = static_cast<std::uint32_t>(step.peer) & most_ranks;
            message.is_strided = !is_contiguous(program.regions_of(step));
            message.sends = step.verb == Verb::send;
        }
        if (question.timeline) {
            own.posted.resize(program.steps.size());
            programs_.push_back(std::move(program));
        }
    }
    matching.match([this](StepOfRank send, StepOfRank receive) {
        message(send).step_of_peer = receive.step;
        message(receive).step_of_peer = send.step;
    });
}

void SimulatedRun::begin() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
        advance(rank);
}

/// Starts all messages and work that a rank may start. Repeats after work that takes no time, which
/// may enable more.
void SimulatedRun::advance(int rank) {
    Walk& walk = rank_of(rank).walk;
    do {
        for (int s = walk.next_message(); s != Walk::none; s = walk.next_message())
            post({rank, s});
    } while (work_some(rank));
}

void SimulatedRun::post(StepOfRank at) {
    if (question_.timeline)
        rank_of(at.rank).posted[static_cast<std::size_t>(at.step)] = world_.now();
    if (message(at).sends)
        spend(at);
    else
        get_ready(message(at).mate(), awaited);
}

/// Queues a message to be handed over or received; a rank handles one message at a time.
void SimulatedRun::spend(StepOfRank at) {
    if (message(at).sends && packing(at) == 0)
        message(at).state |= packed;
    rank_of(at.rank).queue.push_back(at.step);
    spend_next(at.rank);
}

/// Finds the first message of a rank that may be processed. If ranks wait while sending and a
/// message of this rank travels, only a receive or a message to be packed qualifies. False if there
/// is none.
bool SimulatedRun::find_next(int rank) {
    Rank& own = rank_of(rank);
    for (own.current = own.head; own.current < own.queue.size(); ++own.current) {
        const Message& each = message({rank, own.queue[own.current]});
        if (!own.is_sending || !each.sends || !each.has_been(packed))
            return true;
    }
    return false;
}

void SimulatedRun::remove_current(int rank) {
    Rank& own = rank_of(rank);
    if (own.current != own.head)
        own.queue.erase(own.queue.begin() + static_cast<std::ptrdiff_t>(own.current));
    else if (++own.head == own.queue.size())
        own.queue.resize(own.head = 0);
}

/// Processes the messages of a rank, until one takes time.
void SimulatedRun::spend_next(int rank) {
    Rank& own = rank_of(rank);
    while (!own.handles_message && find_next(rank)) {
        const StepOfRank at{rank, own.queue[own.current]};
        if (const Message& next = message(at); next.has_been(handed_over)) {
            remove_current(rank);
            own.is_sending = true;
            world_.send(at, next.mate().rank, next.bytes);
            continue;
        }
        const Seconds cost = cost_of(at);
        if (cost > 0) {
            own.handles_message = true;
            return world_.work(rank, Work::message, cost);
        }
        spent(at);
    }
}

Seconds SimulatedRun::packing(StepOfRank at) {
    const double each = question_.costs.pack_seconds_per_byte;
    return message(at).is_strided ? each * static_cast<double>(message(at).bytes) : 0;
}

/// Returns the time until the next call of `spent` for the message in progress.
Seconds SimulatedRun::cost_of(StepOfRank at) {
    const Costs& costs = question_.costs;
    const Message& next = message(at);
    if (!next.sends)
        return costs.receiving(next.bytes) + packing(at);
    return next.has_been(packed) ? costs.sending(next.bytes) : packing(at);
}

/// Ends what `cost_of` charged for the message in progress: a receive, the packing of a send, or
/// its hand-over.
void SimulatedRun::spent(StepOfRank at) {
    Message& done = message(at);
    if (done.sends && !done.has_been(packed)) {
        done.state |= packed;
        return;
    }
    remove_current(at.rank);
    if (done.sends)
        get_ready(at, handed_over);
    else
        finish_message(at);
}

void SimulatedRun::get_ready(StepOfRank send, State what) {
    Message& sent = message(send);
    sent.state |= what;
    if (!sent.has_been(handed_over) || !sent.has_been(awaited))
        return;
    if (!question_.costs.waits_while_sending)
        return world_.send(send, sent.mate().rank, sent.bytes);
    Rank& sender = rank_of(send.rank);
    if (what == handed_over) { // the caller continues with this message
        const auto front = sender.queue.begin() + static_cast<std::ptrdiff_t>(sender.head);
        sender.queue.insert(front, send.step);
        return;
    }
    sender.queue.push_back(send.step);
    spend_next(send.rank);
}

void SimulatedRun::arrived(StepOfRank send) {
    finish_message(send);
    if (question_.costs.waits_while_sending) {
        rank_of(send.rank).is_sending = false;
        spend_next(send.rank);
    }
    advance(send.rank);
    const StepOfRank receive = message(send).mate();
    spend(receive);
    advance(receive.rank);
}

/// Starts a piece of work if there is one and the processor is free; true if it took no time.
bool SimulatedRun::work_some(int rank) {
    Rank& own = rank_of(rank);
    if (own.step != Walk::none)
        return false;
    if (const int next = own.walk.next_work(); next != Walk::none)
        return work_on(rank, own.work.complete(next), true);
    if (question_.costs.seconds_per_application == 0)
        return false; // combining costs nothing, so early combining gains nothing
    if (!own.operands_wait)
        return false;
    const RankWork::Pass pass = own.work.combine_some(own.walk);
    own.operands_wait = pass.step != Walk::none;
    return own.operands_wait && work_on(rank, pass, false);
}

bool SimulatedRun::work_on(int rank, const RankWork::Pass& pass, bool ends) {
    Rank& own = rank_of(rank);
    own.step = pass.step;
    own.step_ends = ends;
    own.step_began = world_.now();
    if (pass.seconds > 0) {
        world_.work(rank, Work::step, pass.seconds);
        return false;
    }
    end_work(rank);
    return true;
}

void SimulatedRun::end_work(int rank) {
    Rank& own = rank_of(rank);
    const StepOfRank at{rank, own.step};
    own.step = Walk::none;
    note(at, own.step_began);
    if (own.step_ends)
        finish_step(at);
}

void SimulatedRun::worked(int rank, Work work) {
    if (work == Work::step) {
        end_work(rank);
    } else {
        Rank& own = rank_of(rank);
        const StepOfRank at{rank, own.queue[own.current]};
        own.handles_message = false;
        spent(at);
        spend_next(rank);
    }
    advance(rank);
}

void SimulatedRun::finish_message(StepOfRank at) {
    if (question_.timeline)
        note(at, rank_of(at.rank).posted[static_cast<std::size_t>(at.step)]);
    finish_step(at);
}

void SimulatedRun::finish_step(StepOfRank at) {
    Rank& own = rank_of(at.rank);
    own.walk.finish(at.step);
    own.operands_wait = own.operands_wait || !message(at).sends; // a send completes no operand
    own.done = world_.now();
}

void SimulatedRun::note(StepOfRank at, Seconds begin) {
    if (!question_.timeline)
        return;
    const Program& program = programs_[static_cast<std::size_t>(at.rank)];
    const Verb verb = program.steps[static_cast<std::size_t>(at.step)].verb;
    timeline_.add(program, at, activity_of(verb), begin, world_.now());
}

namespace {

int first_unfinished(const Walk& walk) {
    int step = 0;
    while (walk.finished(step))
        ++step;
    return step;
}

} // namespace

Simulation SimulatedRun::finish() {
    constexpr int most_named = 8;
    std::string waiting;
    int stuck = 0;
    Simulation simulation;
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        const Rank& own = rank_of(rank);
        simulation.finished.push_back(own.done);
        simulation.seconds = std::max(simulation.seconds, own.done);
        if (own.walk.done() || ++stuck > most_named)
            continue;
        const StepOfRank at{rank, first_unfinished(own.walk)};
        waiting +=
            std::string("\n  ") + fault(question_.schedule.of(rank), at, "waits forever").what();
    }
    if (stuck > most_named)
        waiting += fmt::format("\n  and {} more", stuck - most_named);
    if (stuck > 0)
        throw std::logic_error(
            fmt::format("{} of {} ranks wait forever:{}", stuck, ranks_.size(), waiting));
    if (question_.timeline)
        simulation.timeline = timeline_.finish(simulation.seconds);
    return simulation;
}

void Processors::begin(int rank, Work work, Seconds seconds) {
    Processor& own = processor(rank);
    if (work == Work::message) {
        interrupt(own);
        own.handles_message = true;
        return world_.foresee(world_.now() + seconds, {rank, work});
    }
    own.has_step = true;
    own.step_left = seconds;
    resume(rank);
}

void Processors::end(const TimedWork& timed) {
    Processor& own = processor(timed.rank);
    if (timed.work == Work::message) {
        own.handles_message = false;
        world_.worked(timed.rank, Work::message);
        return resume(timed.rank);
    }
    if (!own.works || world_.now() < own.step_ends)
        return;
    own.works = own.has_step = false;
    world_.worked(timed.rank, Work::step);
}

void Processors::interrupt(Processor& own) {
    if (!own.works)
        return;
    own.works = false;
    own.step_left = own.step_ends - world_.now();
}

void Processors::resume(int rank) {
    Processor& own = processor(rank);
    if (!own.has_step || own.works || own.handles_message)
        return;
    own.works = true;
    own.step_ends = world_.now() + own.step_left;
    world_.foresee(own.step_ends, {rank, Work::step});
}

} // namespace sextant::simulate
