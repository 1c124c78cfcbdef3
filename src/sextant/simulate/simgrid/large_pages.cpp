// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simgrid/large_pages.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sextant::simulate {

#ifdef __GLIBC__

namespace {

constexpr int reach = 256 << 20;
constexpr std::uintptr_t large_page = 2 << 20;

std::uintptr_t end_of_heap() {
    return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

/// Takes pieces until the heap grows, which it then does by all of `reach`.
void grow_heap() {
    constexpr std::size_t piece = 64 << 10, most = 64;
    const std::uintptr_t before = end_of_heap();
    std::vector<std::unique_ptr<char[]>> pieces;
    while (end_of_heap() == before && pieces.size() < most)
        pieces.push_back(std::make_unique_for_overwrite<char[]>(piece));
}

} // namespace

void ask_for_large_pages() {
    const std::uintptr_t before = end_of_heap();
    mallopt(M_TOP_PAD, reach);
    mallopt(M_TRIM_THRESHOLD, 2 * reach);
    grow_heap();
    const std::uintptr_t first = (before + large_page - 1) / large_page * large_page;
    if (const std::uintptr_t last = end_of_heap(); first < last)
        madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE); // or else small ones
}

#else

void ask_for_large_pages() {}

#endif

} // namespace sextant::simulate
