// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

#include <sys/resource.h>

// Counts the allocations, their bytes and the page faults of a program. Replaces operator new, so
// exactly one source file of a program includes this header. Allocations of MPI, which is written
// in C, are not counted.
namespace sextant::test {

inline std::atomic<long> allocations{0};
inline std::atomic<long> allocated_bytes{0}; ///< of all allocations, freed or not

struct MemoryEvents {
    long allocations = 0, page_faults = 0;
};

/// Events of all threads since the start of the program.
inline MemoryEvents memory_events() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {allocations.load(), usage.ru_minflt};
}

inline MemoryEvents operator-(const MemoryEvents& a, const MemoryEvents& b) {
    return {a.allocations - b.allocations, a.page_faults - b.page_faults};
}

} // namespace sextant::test

void* operator new(std::size_t size) {
    ++sextant::test::allocations;
    sextant::test::allocated_bytes += static_cast<long>(size);
    if (void* memory = std::malloc(size > 0 ? size : 1))
        return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++sextant::test::allocations;
    sextant::test::allocated_bytes += static_cast<long>(size);
    return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
