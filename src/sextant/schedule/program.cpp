// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/program.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {

std::string_view name(Verb verb) {
    switch (verb) {
    case Verb::send:
        return "send";
    case Verb::receive:
        return "receive";
    case Verb::fold:
        return "fold";
    case Verb::copy:
        return "copy";
    case Verb::compute:
        return "compute";
    }
    return "";
}

Elements Program::elements_of(const Step& step) const {
    if (has_destination(step.verb))
        return step.to.elements();
    const auto all = is_message(step.verb) ? regions_of(step) : made_by(step);
    return std::accumulate(all.begin(), all.end(), Elements{0},
                           [](Elements sum, const Region& r) { return sum + r.elements(); });
}

Schedule make_schedule(int ranks, const std::function<Program(int rank)>& program) {
    Schedule schedule;
    schedule.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        Program& made = schedule.emplace_back(program(rank));
        // The programs of many ranks are in memory at once, so release unused capacity.
        made.buffers.shrink_to_fit();
        made.steps.shrink_to_fit();
        made.regions.shrink_to_fit();
    }
    return schedule;
}

Program with_peers(Program program, std::span<const int> ranks) {
    for (Step& step : program.steps) {
        if (is_message(step.verb))
            step.peer = ranks[static_cast<std::size_t>(step.peer)];
    }
    return program;
}

Program with_elements_of(Program program, Bytes size) {
    for (BufferSpec& buffer : program.buffers)
        buffer.element = size;
    return program;
}

Program with_packed_result(Program program) {
    const Elements size = program.result.elements();
    if (size == 0)
        return program;
    const Region packed = block(static_cast<int>(program.buffers.size()), 0, size);
    const BufferSpec held = program.buffers[static_cast<std::size_t>(program.result.buffer)];
    program.buffers.push_back({Role::output, size, held.element, held.room});
    Step copy;
    copy.first = static_cast<std::uint32_t>(program.regions.size());
    copy.count = 1;
    copy.to = packed;
    program.regions.push_back(program.result);
    program.steps.push_back(copy);
    program.result = packed;
    return program;
}

std::string_view name(Association association) {
    return association == Association::in_order ? "in-order" : "by-arrival";
}

namespace {

bool same_step(const Step& a, const Step& b) {
    return a.verb == b.verb && a.peer == b.peer && a.count == b.count && a.to == b.to;
}

/// True if the rounds of the two programs have the same effect. Rounds have an effect only with a
/// window.
bool same_rounds(const Program& a, const Program& b) {
    if (a.window != b.window)
        return false;
    return a.window == 0 || std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(),
                                       [](auto& s, auto& t) { return s.round == t.round; });
}

} // namespace

bool same_work(const Program& a, const Program& b) {
    return a.steps.size() == b.steps.size() && a.regions == b.regions && a.result == b.result &&
           std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), same_step) &&
           same_rounds(a, b);
}

} // namespace sextant
