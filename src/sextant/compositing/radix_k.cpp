// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/radix_k.hpp"

#include "sextant/compositing/layers.hpp"
#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::compositing {

void check_radices(std::span<const int> radices, int positions) {
    std::int64_t product = 1;
    for (int k : radices) {
        if (k < 2) {
            throw InvalidTask(
                fmt::format("radices {}: {} is not 2 or more", fmt::join(radices, ","), k));
        }
        product = std::min<std::int64_t>(product * k, std::int64_t{1} << 31);
    }
    if (product != positions) {
        throw InvalidTask(fmt::format("radices {} multiply to {}, but {} ranks hold images",
                                      fmt::join(radices, ","), product, positions));
    }
}

std::vector<std::vector<int>> factorisations(int ranks) {
    if (ranks == 1)
        return {{}};
    std::vector<std::vector<int>> all;
    for (int first = ranks; first >= 2; --first) {
        if (ranks % first != 0)
            continue;
        for (std::vector<int>& rest : factorisations(ranks / first)) {
            rest.insert(rest.begin(), first);
            all.push_back(std::move(rest));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return all;
}

Piece radix_k_piece(const Task& task, std::span<const int> radices, int position) {
    Region piece = block(0, 0, task.elements);
    int distance = 1;
    for (int k : radices) {
        piece = part(piece, position / distance % k, k);
        distance *= k;
    }
    return {piece.offset, piece.length};
}

namespace {

/// One rank's way through the rounds.
class RadixK {
  public:
    RadixK(const Task& task, int position) : position_(position) {
        const int layers = task.layers_at(position);
        const Region input = builder_.input(task.elements * layers);
        held_ = in_all_layers(block(input.buffer, 0, task.elements), task.elements, layers);
    }

    /// `distance` is the product of the earlier radices: how far apart the members of a group are.
    void round(int number, int k, int distance) {
        const int place = position_ / distance % k;
        builder_.round(number);
        builder_.group(position_ / (distance * k) * distance + position_ % distance);
        const auto member = [&](int i) { return position_ + (i - place) * distance; };

        const Region mine = part_of_held(place, k);
        std::vector<Region> slots(static_cast<std::size_t>(k));
        slots[static_cast<std::size_t>(place)] = mine;
        for (int step = 1; step < k; ++step) {
            const int to = (place + step) % k, from = (place - step + k) % k;
            builder_.send(member(to), blended(builder_, part_of_held(to, k)));
            const Region slot = builder_.scratch(mine.length);
            builder_.receive(member(from), slot);
            slots[static_cast<std::size_t>(from)] = slot;
        }
        std::vector<Region> operands;
        for (const Region& slot : slots)
            append_runs(operands, slot);
        held_ = slots[place == 0 ? 1 : 0]; // the sum grows in place of the first that came
        builder_.fold(held_, operands);
    }

    Program finish() { return builder_.finish(blended(builder_, held_)); }

  private:
    /// The i-th of k parts of what is held, in each layer of it.
    Region part_of_held(int i, int k) const {
        const Region first = part(block(held_.buffer, held_.offset, held_.length), i, k);
        return {first.buffer, first.offset, first.length, held_.stride, held_.count};
    }

    const int position_;
    ProgramBuilder builder_;
    Region held_;
};

} // namespace

Program radix_k(const Task& task, std::span<const int> radices, int position) {
    check_radices(radices, task.positions());
    RadixK program(task, position);
    int number = 0, distance = 1;
    for (int k : radices) {
        program.round(number++, k, distance);
        distance *= k;
    }
    return program.finish();
}

} // namespace sextant::compositing
