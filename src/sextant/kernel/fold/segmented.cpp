// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/segmented.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace sextant::kernel {

namespace {

/// Slots keep values as aligned as in an array of the strictest alignment.
constexpr Bytes alignment = alignof(std::max_align_t);

constexpr std::byte start{1};

/// Folds one element of the sources, beginning at the last source that starts a segment.
void fold_one(const Operator& op, std::span<const std::byte* const> sources, std::byte* to) {
    const auto flag = static_cast<std::size_t>(op.element.size);
    std::size_t from = sources.size() - 1;
    while (from > 0 && sources[from][flag] != start)
        --from;
    const std::byte starts = sources[from][flag];
    if (from + 1 < sources.size())
        op.fold(sources.subspan(from), to, 1);
    else if (sources[from] != to)
        std::memcpy(to, sources[from], flag);
    to[flag] = starts;
}

} // namespace

Bytes segmented_size(const Operator& op) {
    return (op.element.size + 1 + alignment - 1) / alignment * alignment;
}

Operator segmented(Operator op) {
    const Bytes slot = segmented_size(op);
    Operator lifted;
    lifted.name = op.name;
    lifted.summary = "within segments";
    lifted.element = {"value and start of a segment", slot};
    lifted.fold = [op = std::move(op), slot](std::span<const std::byte* const> sources,
                                             std::byte* to, Elements elements) {
        std::vector<const std::byte*> slots(sources.begin(), sources.end());
        for (Elements e = 0; e < elements; ++e) {
            fold_one(op, slots, to + e * slot);
            for (const std::byte*& source : slots)
                source += slot;
        }
    };
    return lifted;
}

void put_segmented(std::span<const std::byte> value, bool starts, std::span<std::byte> slot) {
    std::memcpy(slot.data(), value.data(), value.size());
    slot[value.size()] = starts ? start : std::byte{0};
}

bool starts_segment(const Operator& op, std::span<const std::byte> slot) {
    return slot[static_cast<std::size_t>(op.element.size)] == start;
}

} // namespace sextant::kernel
