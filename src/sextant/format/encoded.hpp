// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>

namespace sextant::format {

/// The number that begins `at` bytes into a header, in its byte order. Requires that it lies within
/// (std::logic_error): headers are read whole before they are looked at.
template <class T>
T number_in(std::span<const std::byte> header, std::size_t at, bool swapped) {
    if (at + sizeof(T) > header.size())
        throw std::logic_error("a number read beyond its header");
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), header.data() + at, sizeof(T));
    if (swapped)
        std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

/// Puts a number there, in this machine's byte order, which is that of the files we write.
template <class T>
void put_number(std::span<std::byte> header, std::size_t at, T value) {
    static_assert(std::endian::native == std::endian::little);
    if (at + sizeof(T) > header.size())
        throw std::logic_error("a number put beyond its header");
    std::memcpy(header.data() + at, &value, sizeof(T));
}

} // namespace sextant::format
