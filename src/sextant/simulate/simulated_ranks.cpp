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

constexpr std::uint32_t most_ranks = (1U << 28) - 1;

} // namespace

Folding::Folding(const Program& program, Association association)
    : program_(program), association_(association) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (step.verb != Verb::fold)
            continue;
        folds_.push_back({static_cast<int>(i), std::vector<std::uint32_t>(step.count), false});
        for (std::uint32_t operand = 0; operand < step.count; ++operand)
            folds_.back().run_end[operand] = operand + 1;
    }
}

Folding::Fold& Folding::fold_of(int step) {
    return *std::lower_bound(folds_.begin(), folds_.end(), step,
                             [](const Fold& fold, int wanted) { return fold.step < wanted; });
}

/// Merges the first sequence of two or more neighbouring operands that have arrived; if operands
/// must be combined in order, only a sequence that begins with the first operand.
Folding::Pass Folding::find(Fold& fold, const Walk& walk) const {
    const Step& step = program_.steps[static_cast<std::size_t>(fold.step)];
    std::uint32_t first = 0, operand = 0;
    int items = 0;
    while (operand < step.count) {
        const bool merged = fold.run_end[operand] > operand + 1;
        if (merged || walk.readable(step.first + operand)) {
            operand = fold.run_end[operand];
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
    fold.run_end[first] = operand;
    return {fold.step, items - 1};
}

Folding::Pass Folding::combine_some(const Walk& walk) {
    while (first_unfinished_ < folds_.size() && folds_[first_unfinished_].finished)
        ++first_unfinished_;
    for (std::size_t i = first_unfinished_; i < folds_.size(); ++i) {
        if (folds_[i].finished)
            continue;
        if (const Pass pass = find(folds_[i], walk); pass.step != Walk::none)
            return pass;
    }
    return {};
}

int Folding::complete(int step) {
    Fold& fold = fold_of(step);
    fold.finished = true;
    int items = 0;
    for (std::uint32_t operand = 0; operand < fold.run_end.size(); ++items)
        operand = fold.run_end[operand];
    return items - 1;
}

SimulatedRun::SimulatedRun(const Question& question, SimulatedTime world)
    : question_(question), world_(std::move(world)) {
    std::vector<std::vector<StepOfRank>> mates = match_messages(question.schedule);
    dependences_.reserve(question.schedule.size());
    ranks_.reserve(question.schedule.size());
    for (const Program& each : question.schedule) {
        dependences_.emplace_back(each);
        ranks_.emplace_back(each, dependences_.back(), question.association);
        Rank& own = ranks_.back();
        own.messages.resize(each.steps.size());
        const std::vector<StepOfRank> others = std::move(mates[ranks_.size() - 1]);
        for (std::size_t i = 0; i < others.size(); ++i) {
            const Step& step = each.steps[i];
            if (!is_message(step.verb))
                continue;
            own.messages[i] = {bytes_of(each, step),
                               static_cast<std::uint32_t>(step.peer) & most_ranks,
                               step.verb == Verb::send, 0, others[i].step};
        }
        if (question.timeline)
            own.posted.resize(each.steps.size());
    }
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

Bytes SimulatedRun::bytes_of(const Program& program, const Step& step) const {
    const Bytes bytes = program.bytes_of(step, question_.element_size);
    const double part = question_.density * active_in(step);
    return std::max<Bytes>(1, std::llround(static_cast<double>(bytes) * part));
}

/// The active fraction of a step's elements.
double SimulatedRun::active_in(const Step& step) const {
    const std::vector<double>& active = question_.active_by_round;
    return active.empty()
               ? 1
               : active[std::min(static_cast<std::size_t>(step.round), active.size() - 1)];
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
    return each > 0 && !is_contiguous(at) ? each * static_cast<double>(message(at).bytes) : 0;
}

/// Returns the time until the next call of `spent` for the message in progress.
Seconds SimulatedRun::cost_of(StepOfRank at) {
    const Costs& costs = question_.costs;
    const Message& next = message(at);
    if (!next.sends)
        return costs.receiving(next.bytes) + packing(at);
    return next.has_been(packed) ? costs.sending(next.bytes) : packing(at);
}

bool SimulatedRun::is_contiguous(StepOfRank at) const {
    const std::span<const Region> regions = program(at.rank).regions_of(step(at));
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const bool joins = i == 0 || (regions[i].buffer == regions[i - 1].buffer &&
                                      regions[i].offset == regions[i - 1].end());
        if (!regions[i].contiguous() || !joins)
            return false;
    }
    return true;
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
    if (const int next = own.walk.next_work(); next != Walk::none) {
        const Step& what = step({rank, next});
        const auto elements = static_cast<double>(what.to.elements());
        const Costs& costs = question_.costs;
        if (what.verb == Verb::copy) {
            const auto size = static_cast<double>(
                program(rank).element_size(what.to.buffer, question_.element_size));
            return work_on(rank, next, costs.copy_seconds_per_byte * size * elements, true);
        }
        if (what.verb == Verb::compute) {
            const Elements made = program(rank).elements_of(what);
            return work_on(rank, next, costs.computing(what.kernel, made), true);
        }
        const auto applications = static_cast<double>(own.folding.complete(next));
        return work_on(rank, next,
                       costs.seconds_per_application * applications * elements * active_in(what),
                       true);
    }
    if (question_.costs.seconds_per_application == 0)
        return false; // combining costs nothing, so early combining gains nothing
    if (!own.operands_wait)
        return false;
    const Folding::Pass pass = own.folding.combine_some(own.walk);
    own.operands_wait = pass.step != Walk::none;
    if (!own.operands_wait)
        return false;
    const Step& fold = step({rank, pass.step});
    const double elements = static_cast<double>(fold.to.elements()) * active_in(fold);
    const auto applications = static_cast<double>(pass.applications);
    return work_on(rank, pass.step,
                   question_.costs.seconds_per_application * applications * elements, false);
}

bool SimulatedRun::work_on(int rank, int step, Seconds seconds, bool ends) {
    Rank& own = rank_of(rank);
    own.step = step;
    own.step_ends = ends;
    own.step_began = world_.now();
    if (seconds > 0) {
        world_.work(rank, Work::step, seconds);
        return false;
    }
    end_work(rank);
    return true;
}

void SimulatedRun::end_work(int rank) {
    Rank& own = rank_of(rank);
    const StepOfRank at{rank, own.step};
    own.step = Walk::none;
    note(at, activity_of(step(at).verb), own.step_began);
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
    if (question_.timeline) {
        note(at, activity_of(step(at).verb),
             rank_of(at.rank).posted[static_cast<std::size_t>(at.step)]);
    }
    finish_step(at);
}

void SimulatedRun::finish_step(StepOfRank at) {
    Rank& own = rank_of(at.rank);
    own.walk.finish(at.step);
    own.operands_wait = own.operands_wait || !message(at).sends; // a send completes no operand
    own.done = world_.now();
}

void SimulatedRun::note(StepOfRank at, Activity activity, Seconds begin) {
    if (question_.timeline)
        timeline_.add(program(at.rank), at, activity, begin, world_.now());
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
        waiting += std::string("\n  ") + fault(question_.schedule, at, "waits forever").what();
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
