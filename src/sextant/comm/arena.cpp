// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/arena.hpp"

#include <iterator>
#include <utility>

namespace sextant {

namespace {

constexpr Bytes page = 4096, huge_page = Bytes{2} << 20;

Bytes rounded_up(Bytes size, Bytes unit) {
    return (size + unit - 1) / unit * unit;
}

} // namespace

Arena::Arena(Segment segment, Bytes kept) : segment_(std::move(segment)) {
    const Bytes first = rounded_up(kept, page);
    if (first < segment_.size())
        free_[first] = segment_.size() - first;
}

std::optional<Memory> Arena::take(Bytes size) {
    if (size <= 0)
        return Memory();
    const Bytes unit = size >= huge_page ? huge_page : page;
    const Bytes needed = rounded_up(size, page);
    for (const auto& [offset, room] : free_) {
        const Bytes first = rounded_up(offset, unit), end = offset + room;
        if (first + needed > end)
            continue;
        if (!segment_.has_memory(first, needed))
            return std::nullopt;
        const Bytes before = first - offset;
        free_.erase(offset);
        if (before > 0)
            free_[first - before] = before;
        if (first + needed < end)
            free_[first + needed] = end - first - needed;
        std::byte* const data = segment_.data() + first;
        const auto back = [arena = shared_from_this(), first, needed](void*) {
            arena->give_back(first, needed);
        };
        return Memory(data, size, std::shared_ptr<void>(data, back));
    }
    return std::nullopt;
}

bool Arena::holds(const std::byte* data, Bytes size) const {
    return data >= segment_.data() && data + size <= segment_.data() + segment_.size();
}

void Arena::give_back(Bytes offset, Bytes size) {
    segment_.clear(offset, size);
    const auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + size) {
        size += next->second;
        free_.erase(next);
    }
    const auto after = free_.lower_bound(offset);
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == offset) {
            before->second += size;
            return;
        }
    }
    free_[offset] = size;
}

} // namespace sextant
