// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/collect.hpp"

#include <algorithm>

namespace sextant::compositing {

namespace {

int rounds_of(const Program& program) {
    int rounds = 0;
    for (const Step& step : program.steps)
        rounds = std::max(rounds, step.round + 1);
    return rounds;
}

void append(Program& program, Verb verb, int round, int peer, const Region& region,
            const Region& to = {}) {
    program.regions.push_back(region);
    const auto first = static_cast<std::uint32_t>(program.regions.size()) - 1;
    program.steps.push_back({verb, round, 0, peer, first, 1, to});
}

bool touches(const Program& program, const Step& step, const Region& region) {
    const auto regions = program.regions_of(step);
    return overlap(step.to, region) ||
           std::any_of(regions.begin(), regions.end(),
                       [&](const Region& r) { return overlap(r, region); });
}

/// True if the result fills a scratch buffer, which can then become the composited image.
bool fills_its_buffer(const Program& program) {
    if (program.result.empty() || !program.result.contiguous())
        return false;
    const BufferSpec& buffer = program.buffers[static_cast<std::size_t>(program.result.buffer)];
    return buffer.role == Role::scratch && buffer.size == program.result.elements();
}

/// Moves the result to `to`: its last fold writes there if possible, otherwise it is copied.
void move_result(Program& program, const Region& to) {
    if (program.result.empty())
        return;
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        Step& step = program.steps[i];
        if (step.verb == Verb::fold && step.to == program.result) {
            step.to = to;
            return;
        }
        if (touches(program, step, program.result))
            break;
    }
    append(program, Verb::copy, rounds_of(program), -1, program.result, to);
}

} // namespace

Program collect(Program program, const Task& task, std::span<const Piece> pieces, int rank) {
    const int round = rounds_of(program);
    if (rank != task.root) {
        if (!program.result.empty())
            append(program, Verb::send, round, task.root, program.result);
        program.result = {};
        return program;
    }
    const bool only_image = task.order.size() == 1 && task.order[0] == rank && task.layers[0] == 1;
    if (only_image)
        return program; // the only image is the result
    if (program.result.elements() == task.elements && fills_its_buffer(program)) {
        program.buffers[static_cast<std::size_t>(program.result.buffer)].role = Role::output;
        return program;
    }
    program.buffers.push_back({Role::output, task.elements});
    const int picture = static_cast<int>(program.buffers.size()) - 1;
    for (int position = 0; position < task.positions(); ++position) {
        const Piece& piece = pieces[static_cast<std::size_t>(position)];
        const Region place = block(picture, piece.first, piece.count);
        const int owner = task.order[static_cast<std::size_t>(position)];
        if (owner == rank)
            move_result(program, place);
        else if (!place.empty())
            append(program, Verb::receive, round, owner, place);
    }
    program.result = block(picture, 0, task.positions() > 0 ? task.elements : 0);
    return program;
}

} // namespace sextant::compositing
