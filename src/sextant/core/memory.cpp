// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace sextant {

namespace {

constexpr Bytes alignment = 64;
constexpr Bytes huge_page = Bytes{2} << 20;

Bytes rounded_up(Bytes size, Bytes unit) {
    return (size + unit - 1) / unit * unit;
}

/// The number of bytes to map: whole huge pages, unless they would waste more than an eighth.
Bytes mapped_for(Bytes size) {
    constexpr Bytes tolerable = 8; // at most 1/8 may be wasted
    const Bytes whole = rounded_up(size, huge_page);
    return whole - size <= size / tolerable ? whole : rounded_up(size, sysconf(_SC_PAGESIZE));
}

/// Maps `size` bytes at a huge-page boundary: maps more, then unmaps the excess at both ends.
std::byte* map_aligned(Bytes size) {
    void* got = mmap(nullptr, static_cast<std::size_t>(size + huge_page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED)
        throw std::bad_alloc();
    auto* start = static_cast<std::byte*>(got);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const Bytes head =
        rounded_up(static_cast<Bytes>(address), huge_page) - static_cast<Bytes>(address);
    if (head > 0)
        munmap(start, static_cast<std::size_t>(head));
    if (head < huge_page)
        munmap(start + head + size, static_cast<std::size_t>(huge_page - head));
    return start + head;
}

} // namespace

Memory::Memory(Bytes size) : size_(size) {
    if (size >= huge_page) {
        mapped_ = mapped_for(size);
        data_ = map_aligned(mapped_);
        request_huge_pages(data_, mapped_);
    } else if (size > 0) {
        const auto rounded = static_cast<std::size_t>(rounded_up(size, alignment));
        data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
        if (!data_)
            throw std::bad_alloc();
        std::memset(data_, 0, rounded);
    }
}

void Memory::touch() {
    constexpr Bytes smallest_page = 4096;
    volatile std::byte* const bytes = data_;
    for (Bytes at = 0; at < size_; at += smallest_page)
        bytes[at] = bytes[at];
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      owner_(std::move(other.owner_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(owner_, other.owner_);
    return *this;
}

Memory::~Memory() {
    if (mapped_ > 0)
        munmap(data_, static_cast<std::size_t>(mapped_));
    else if (!owner_)
        std::free(data_);
}

void write_anew(std::span<std::byte> memory) {
    constexpr std::size_t line = 64;
    for (std::size_t i = 0; i < memory.size(); i += line) {
        auto* const byte = reinterpret_cast<volatile std::byte*>(&memory[i]);
        *byte = *byte;
    }
}

namespace {

/// Advises the system about the whole pages of some memory.
void advise(std::byte* data, Bytes size, int advice) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t first = (address + page - 1) / page * page;
    const std::uintptr_t last = (address + static_cast<std::uintptr_t>(size)) / page * page;
    madvise(reinterpret_cast<void*>(first), last - first, advice);
}

} // namespace

void request_huge_pages(void* data, Bytes size) {
    constexpr Bytes huge_page = Bytes{2} << 20;
    if (size >= huge_page)
        advise(static_cast<std::byte*>(data), size, MADV_HUGEPAGE);
}

void avoid_huge_pages(std::span<std::byte> memory) {
    advise(memory.data(), static_cast<Bytes>(memory.size()), MADV_NOHUGEPAGE);
}

} // namespace sextant
