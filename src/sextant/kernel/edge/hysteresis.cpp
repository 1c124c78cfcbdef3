// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/hysteresis.hpp"

#include "sextant/kernel/edge/edge_bits.hpp"
#include "sextant/kernel/label/each_run.hpp"

#include <bit>

namespace sextant::kernel {

namespace {

using Bits = std::uint64_t;

/// From each of the lowest bits of a run given on to its end.
Bits to_end(Bits inside, Bits from) {
    return inside & ~(inside + from); // the sum carries through the run
}

} // namespace

std::vector<std::uint8_t> strong_components(const EdgeView& edges, const Labeller& labeller,
                                            Label components) {
    std::vector<std::uint8_t> found(static_cast<std::size_t>(components), 0);
    std::vector<Bits> strong(static_cast<std::size_t>(words_for(edges.tile.width)));
    for (Elements y = 0; y < edges.tile.height; ++y) {
        const LabelledRuns runs = labeller.runs_of(y);
        const Label* label = runs.labels - 1; // that of the run before
        bits_strong(edges.first + y * edges.stride, edges.tile.width, strong.data());
        for (std::size_t word = 0; word < strong.size(); ++word) {
            for (Bits left = strong[word]; left != 0;) {
                const Bits first = left & -left;
                const int begun = std::popcount(runs.starts[word] & (first | (first - 1)));
                found[static_cast<std::size_t>(label[begun] - 1)] = 1;
                left &= ~to_end(runs.inside[word], first);
            }
            label += std::popcount(runs.starts[word]);
        }
    }
    return found;
}

void keep_components(const EdgePlane& edges, const Tile& tile, const Labeller& labeller,
                     std::span<const std::uint8_t> kept) {
    std::vector<Bits> bits(static_cast<std::size_t>(words_for(tile.width)));
    for (Elements y = 0; y < tile.height; ++y) {
        const LabelledRuns runs = labeller.runs_of(y);
        const Label* label = runs.labels;
        Bits goes_on = 0; // whether the last run of the word before is kept
        for (std::size_t word = 0; word < bits.size(); ++word) {
            Bits from = goes_on & runs.inside[word];
            each_bit(runs.starts[word], [&](int bit) {
                from |= Bits{kept[static_cast<std::size_t>(*label++ - 1)]} << bit;
            });
            bits[word] = to_end(runs.inside[word], from);
            goes_on = bits[word] >> 63;
        }
        keep_edges(bits.data(), tile.width, edges.first + y * edges.stride);
    }
}

} // namespace sextant::kernel
