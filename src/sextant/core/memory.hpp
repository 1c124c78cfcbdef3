// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace sextant {

/// Owned, zeroed memory for pixels, aligned to 64 bytes. From 2 MiB on it asks for huge pages,
/// which makes the first touch of a frame several times cheaper. Moves, does not copy.
class Memory {
  public:
    Memory() = default;
    /// Throws std::bad_alloc.
    explicit Memory(Bytes size);
    /// Memory that `owner` keeps until it goes: zeroed and aligned as ours.
    Memory(std::byte* data, Bytes size, std::shared_ptr<void> owner)
        : data_(data), size_(size), owner_(std::move(owner)) {}
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;
    ~Memory();

    /// Has every page made now rather than when it is first written.
    void touch();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    Bytes size() const { return size_; }
    std::span<std::byte> bytes() { return {data_, static_cast<std::size_t>(size_)}; }
    std::span<const std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }

  private:
    std::byte* data_ = nullptr;
    Bytes size_ = 0;
    Bytes mapped_ = 0;            // what to give back; 0 when it came from the heap
    std::shared_ptr<void> owner_; // unless it is ours
};

/// Brings memory into this core's cache as its own, as if it had just been written, without
/// changing it: what other cores hold of it becomes void. Measurements begin so where a frame would
/// have been drawn.
void write_anew(std::span<std::byte> memory);

} // namespace sextant
