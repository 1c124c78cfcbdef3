// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/large_buffer.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace sextant {

void request_huge_pages(void* data, Bytes size) {
    constexpr Bytes huge_page = Bytes{2} << 20;
    if (size < huge_page)
        return;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t first = (address + page - 1) / page * page;
    const std::uintptr_t last = (address + static_cast<std::uintptr_t>(size)) / page * page;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

} // namespace sextant
