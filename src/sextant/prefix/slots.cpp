// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/slots.hpp"

#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::prefix {

Bytes sized_slot(Bytes capacity) {
    return static_cast<Bytes>(sizeof(Bytes)) + capacity;
}

void put_sized(std::span<const std::byte> bytes, std::span<std::byte> slot) {
    const auto size = static_cast<Bytes>(bytes.size());
    const std::size_t capacity = slot.size() - sizeof size;
    if (bytes.size() > capacity) {
        throw InvalidTask(
            fmt::format("a value of {} bytes, expected {} or fewer", bytes.size(), capacity));
    }
    std::memcpy(slot.data(), &size, sizeof size);
    if (size > 0)
        std::memcpy(slot.data() + sizeof size, bytes.data(), bytes.size());
}

std::span<const std::byte> get_sized(std::span<const std::byte> slot) {
    Bytes size = 0;
    std::memcpy(&size, slot.data(), sizeof size);
    return slot.subspan(sizeof size, static_cast<std::size_t>(size));
}

} // namespace sextant::prefix
