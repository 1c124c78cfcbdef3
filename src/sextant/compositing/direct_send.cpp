// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/direct_send.hpp"

#include "sextant/compositing/layers.hpp"
#include "sextant/schedule/builder.hpp"

namespace sextant::compositing {

Program direct_send(const Task& task, Partners partners, int window, int position,
                    Piece (*part_of)(const Task&, int)) {
    const int p = task.positions();
    const int layers = task.layers_at(position);
    ProgramBuilder builder;
    const Region input = builder.input(task.elements * layers);
    const auto part = [&](int i) {
        const Piece piece = part_of(task, i);
        return block(input.buffer, piece.first, piece.count);
    };
    const Region mine = part(position);

    builder.window(window);
    std::vector<Region> slots(static_cast<std::size_t>(p)); // by position
    slots[static_cast<std::size_t>(position)] = in_all_layers(mine, task.elements, layers);
    for (int step = 1; step < p; ++step) {
        int to = step - 1 < position ? step - 1 : step, from = to;
        if (partners == Partners::shifted) {
            to = (position + step) % p;
            from = (position - step + p) % p;
        }
        builder.round(step - 1);
        builder.send(to, in_all_layers(part(to), task.elements, layers));
        const int incoming = task.layers_at(from);
        const Region slot = builder.scratch(mine.length * incoming);
        builder.receive(from, slot);
        slots[static_cast<std::size_t>(from)] = {slot.buffer, 0, mine.length, mine.length,
                                                 incoming};
    }

    std::vector<Region> operands;
    for (const Region& slot : slots)
        append_runs(operands, slot);
    if (operands.size() == 1)
        return builder.finish(mine);
    // The sum grows in place of the first operand that is ours to overwrite.
    Region sum;
    for (const Region& operand : operands) {
        if (operand.buffer != input.buffer) {
            sum = operand;
            break;
        }
    }
    if (sum.empty())
        sum = builder.scratch(mine.length); // a single position
    builder.fold(sum, operands);
    return builder.finish(sum);
}

} // namespace sextant::compositing
