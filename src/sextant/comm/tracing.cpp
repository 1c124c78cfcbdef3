// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/tracing.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace sextant {

namespace {

using Clock = std::chrono::steady_clock;

/// The shortest interval from which the length of a tick is measured. The time to read the clock,
/// about 50 ns, is negligible in comparison.
constexpr Seconds long_enough = 2e-3;

Seconds since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// True if the counter runs at a constant rate in all states of the processor ("invariant TSC").
bool counter_is_steady() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
    return false;
#endif
}

} // namespace

bool TickClock::reads_counter() {
    static const bool reads = counter_is_steady();
    return reads;
}

std::int64_t TickClock::read() {
#if defined(__x86_64__)
    if (reads_counter())
        return static_cast<std::int64_t>(__rdtsc());
#endif
    return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void TickClock::restart() {
    static const Seconds usual = [] {
        const std::int64_t first = read();
        const Clock::time_point begin = Clock::now();
        while (since(begin) < long_enough) {
        }
        return since(begin) / static_cast<double>(read() - first);
    }();
    usual_ = usual;
    begun_ = Clock::now();
    start_ = read();
}

Seconds TickClock::tick() const {
    const Seconds passed = since(begun_);
    const std::int64_t counted = ticks();
    return passed >= long_enough && counted > 0 ? passed / static_cast<double>(counted) : usual_;
}

Tracer::Tracer(const Program& program, int rank, bool on)
    : program_(program), rank_(rank), on_(on) {
    if (!on)
        return;
    trace_.events.reserve(2 * program.steps.size());
    started_at_.resize(program.steps.size());
}

void Tracer::begin() {
    trace_.events.clear();
    if (!on_)
        return;
    clock_.restart();
    trace_.origin = clock_.origin();
}

void Tracer::note(int index, std::int64_t begin) {
    const Step& step = program_.steps[static_cast<std::size_t>(index)];
    add({.step = index,
         .activity = activity_of(step.verb),
         .round = step.round,
         .peer = step.peer,
         .elements = program_.elements_of(step)},
        begin);
}

void Tracer::note_wait() {
    add({.activity = Activity::wait}, idle_since_);
}

/// Records an event. The counters of cores may differ, so this ensures that no event ends before it
/// begins.
void Tracer::add(Event event, std::int64_t begin) {
    event.rank = rank_;
    event.begin = static_cast<double>(begin);
    event.end = static_cast<double>(std::max(begin, clock_.ticks()));
    trace_.events.push_back(event);
}

void Tracer::end() {
    if (!on_)
        return;
    const Seconds tick = clock_.tick();
    trace_.duration = static_cast<double>(clock_.ticks()) * tick;
    for (Event& event : trace_.events) {
        event.begin *= tick;
        event.end *= tick;
    }
}

namespace {

Operator times() {
    Operator nothing_to_fold;
    nothing_to_fold.element = {"time", sizeof(Seconds)};
    return nothing_to_fold;
}

Program asking() {
    ProgramBuilder builder;
    const Region question = builder.input(1), answer = builder.scratch(1);
    builder.send(0, question);
    builder.receive(0, answer);
    return builder.finish(answer);
}

/// Builds a program that answers rank `who`; its kernel reads the clock when the question has
/// arrived.
Program answering(int who) {
    ProgramBuilder builder;
    const Region question = builder.scratch(1), answer = builder.scratch(1);
    builder.receive(who, question);
    builder.compute(0, {question}, {answer});
    builder.send(who, answer);
    return builder.finish({});
}

ClockOffset ask(const Communicator& communicator, const HostClock& clock, int trips) {
    ClockOffset best;
    best.first_rank = communicator.rank();
    best.uncertainty = std::numeric_limits<Seconds>::infinity();
    const Seconds question = 0;
    Execution execution(communicator, asking(), times());
    execution.bind(0, std::as_bytes(std::span(&question, 1)));
    for (int trip = 0; trip < trips; ++trip) {
        const Seconds begin = clock.now();
        execution.run();
        const Seconds end = clock.now();
        Seconds sent_time = 0;
        std::memcpy(&sent_time, execution.result().data(), sizeof sent_time);
        if (end < begin || (end - begin) / 2 >= best.uncertainty)
            continue;
        best.at = end;
        best.offset = sent_time - (begin + end) / 2;
        best.uncertainty = (end - begin) / 2;
    }
    return best;
}

void answer(const Communicator& communicator, const HostClock& clock, int who, int trips) {
    const Kernel tell = [&](const Computation& requested) {
        const Seconds now = clock.now();
        const Region& made = requested.made[0];
        std::memcpy(requested.buffers[static_cast<std::size_t>(made.buffer)] +
                        made.offset * static_cast<Bytes>(sizeof now),
                    &now, sizeof now);
    };
    Execution execution(communicator, answering(who), times(), {}, {tell});
    for (int trip = 0; trip < trips; ++trip)
        execution.run();
}

/// Returns the lowest rank on each clock.
std::vector<int> first_ranks(const std::vector<std::uint64_t>& clocks) {
    std::vector<int> first;
    for (auto at = clocks.begin(); at != clocks.end(); ++at) {
        if (std::find(clocks.begin(), at, *at) == at)
            first.push_back(static_cast<int>(at - clocks.begin()));
    }
    return first;
}

} // namespace

HostClock HostClock::steady() {
    return {host_identity(), [] {
                return std::chrono::duration<double>(
                           std::chrono::steady_clock::now().time_since_epoch())
                    .count();
            }};
}

std::vector<ClockOffset> clock_offsets(const Communicator& communicator, const HostClock& clock,
                                       int trips) {
    const std::vector<int> first = first_ranks(communicator.all_gather(clock.identity));
    ClockOffset own;
    own.at = clock.now();
    for (const int who : first) {
        if (who == 0)
            continue;
        if (communicator.rank() == who)
            own = ask(communicator, clock, trips);
        else if (communicator.rank() == 0)
            answer(communicator, clock, who, trips);
    }
    const std::vector<ClockOffset> of_ranks = communicator.all_gather(own);
    std::vector<ClockOffset> offsets;
    for (const int who : first)
        offsets.push_back(of_ranks[static_cast<std::size_t>(who)]);
    return offsets;
}

Seconds correction(const ClockOffset& before, const ClockOffset& after, Seconds time) {
    constexpr double worst_drift = 1e-4; // greatest drift of a working clock
    const Seconds between = after.at - before.at;
    const ClockOffset& better = before.uncertainty < after.uncertainty ? before : after;
    const double unsure = (before.uncertainty + after.uncertainty) / between;
    if (!(between > 0) || !(unsure < worst_drift))
        return better.offset;
    const double drift = (after.offset - before.offset) / between;
    return before.offset + drift * (time - before.at);
}

} // namespace sextant
