// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/pixel_fold.hpp"

#include <cstdint>

#include <hwy/highway.h>
#include <unistd.h>

namespace sextant::kernel {

namespace {

/// The size of the largest cache, at least 8 MiB (the system may not report it).
Bytes largest_cache() {
    constexpr Bytes usual = Bytes{8} << 20;
    Bytes largest = usual;
    for (int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
        largest = std::max<Bytes>(largest, sysconf(level));
    return largest;
}

} // namespace

bool exceeds_caches(Bytes touched) {
    static const Bytes cache = largest_cache();
    return touched > cache;
}

Elements streaming_from(Sources sources, const std::byte* to, Elements elements, Elements of,
                        Bytes size) {
    const Bytes touched = (static_cast<Bytes>(sources.size()) + 1) * of * size;
    if (!exceeds_caches(touched) || std::find(sources.begin(), sources.end(), to) != sources.end())
        return elements;
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    for (Elements first = 0; first < std::min(elements, stream_alignment); ++first) {
        if ((address + static_cast<std::uintptr_t>(first * size)) % stream_alignment == 0)
            return first;
    }
    return elements;
}

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) // best first
        names.emplace_back(hwy::TargetName(target));
    return names;
}

} // namespace sextant::kernel
