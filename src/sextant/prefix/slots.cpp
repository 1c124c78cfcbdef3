// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/slots.hpp"

#include "sextant/core/error.hpp"
#include "sextant/scan/strategies.hpp"

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

namespace {

std::span<const std::byte> carried(Execution& execution, std::span<const std::byte> values) {
    execution.bind(0, values);
    execution.run();
    return execution.result();
}

} // namespace

Relocation::Relocation(const Communicator& communicator, const scan::Series& lies,
                       const scan::Series& scanned, const Operator& op)
    : there_(communicator, scan::redistribution(lies, scanned, communicator.rank()), op),
      back_(communicator, scan::redistribution(scanned, lies, communicator.rank()), op) {}

std::span<const std::byte> Relocation::there(std::span<const std::byte> values) {
    return carried(there_, values);
}

std::span<const std::byte> Relocation::back(std::span<const std::byte> results) {
    return carried(back_, results);
}

} // namespace sextant::prefix
