// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <vector>

namespace sextant {

/// Requests huge pages for memory that is about to be written for the first time, if it is at least
/// 2 MiB. A hint, which the system may ignore.
void request_huge_pages(void* data, Bytes size);

/// Resizes a vector that is kept as a buffer: its content is lost if it has to grow. Large buffers
/// use huge pages, and grow by a little more than needed.
template <class Value>
void resize_buffer(std::vector<Value>& buffer, std::size_t size) {
    constexpr std::size_t spare = 16; // a sixteenth
    if (size > buffer.capacity()) {
        const bool grows_again = !buffer.empty();
        std::vector<Value>().swap(buffer); // frees the old memory first
        buffer.reserve(grows_again ? size + size / spare : size);
        request_huge_pages(buffer.data(), static_cast<Bytes>(buffer.capacity() * sizeof(Value)));
    }
    buffer.resize(size);
}

} // namespace sextant
