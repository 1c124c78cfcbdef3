// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sextant {

/// Owned, zeroed memory for pixels, aligned to 64 bytes. Memory of 2 MiB or more requests huge
/// pages, which makes the first touch of a frame several times cheaper. Movable, not copyable.
class Memory {
  public:
    Memory() = default;
    /// Throws std::bad_alloc.
    explicit Memory(Bytes size);
    /// Refers to memory that `owner` keeps alive. The memory must be zeroed and aligned to 64
    /// bytes.
    Memory(std::byte* data, Bytes size, std::shared_ptr<void> owner)
        : data_(data), size_(size), owner_(std::move(owner)) {}
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;
    ~Memory();

    /// Makes the system allocate every page now instead of on first write.
    void touch();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    Bytes size() const { return size_; }
    std::span<std::byte> bytes() { return {data_, static_cast<std::size_t>(size_)}; }
    std::span<const std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }

  private:
    std::byte* data_ = nullptr;
    Bytes size_ = 0;
    Bytes mapped_ = 0;            // bytes to unmap; 0 if allocated on the heap
    std::shared_ptr<void> owner_; // null if this object owns the memory
};

/// Brings memory into this core's cache as if it had just been written, which invalidates the
/// copies in other cores' caches. The content does not change. Benchmarks call this instead of
/// rendering a frame.
void write_anew(std::span<std::byte> memory);

/// Requests huge pages for memory that is about to be written for the first time, if it is at least
/// 2 MiB. A hint, which the system may ignore.
void request_huge_pages(void* data, Bytes size);

/// Keeps memory that is about to be written for the first time out of huge pages. A hint.
void avoid_huge_pages(std::span<std::byte> memory);

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
