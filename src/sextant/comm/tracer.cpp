// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/tracer.hpp"

#include <algorithm>

namespace sextant {

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

/// Counters of cores may differ: nothing ends before it began.
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

} // namespace sextant
