// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/binary_tree.hpp"

#include "sextant/compositing/layers.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

namespace sextant::compositing {

namespace {

/// Where the picture ends: at its root, which saves sending it there, if the root holds an image.
int end_of(const Task& task) {
    return std::max(0, task.position_of(task.root));
}

/// Who holds the sum of the positions first ... last − 1.
int holder(int first, int last, int end) {
    return first <= end && end < last ? end : first;
}

} // namespace

Piece binary_tree_piece(const Task& task, int position) {
    // As position == end_of(task), without a look at all positions for each of them.
    const bool at_root = task.order[static_cast<std::size_t>(position)] == task.root;
    const bool first_without_root = position == 0 && task.position_of(task.root) < 0;
    return {0, at_root || first_without_root ? task.elements : 0};
}

Program binary_tree(const Task& task, int position) {
    const int p = task.positions(), end = end_of(task), layers = task.layers_at(position);
    ProgramBuilder builder;
    const Region input = builder.input(task.elements * layers);
    Region sum = in_all_layers(block(input.buffer, 0, task.elements), task.elements, layers);
    Region slot;
    for (int round = 0, length = 1; length < p; ++round, length *= 2) {
        const int first = position / length / 2 * length * 2, middle = first + length;
        const int last = std::min(p, middle + length);
        if (middle >= p)
            continue; // the last run has no neighbour in this round
        const int front = holder(first, middle, end), back = holder(middle, last, end);
        const int keeper = holder(first, last, end);
        builder.round(round);
        if (position != keeper) {
            builder.send(keeper, blended(builder, sum));
            return builder.finish({});
        }
        // The sum grows in the first slot; the second takes in all later ones.
        if (slot == sum || slot.empty())
            slot = builder.scratch(task.elements);
        builder.receive(keeper == front ? back : front, slot);
        std::vector<Region> operands;
        append_runs(operands, keeper == front ? sum : slot);
        append_runs(operands, keeper == front ? slot : sum);
        if (sum.buffer == input.buffer)
            sum = slot;
        builder.fold(sum, operands);
    }
    return builder.finish(blended(builder, sum));
}

} // namespace sextant::compositing
