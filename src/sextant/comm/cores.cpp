// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/cores.hpp"

#include <bit>
#include <cstddef>
#include <thread>

#include <sched.h>

namespace sextant {

Cores Cores::available() {
    Cores cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) { // more cores than a cpu_set_t has room for
        for (unsigned core = 0; core < std::thread::hardware_concurrency() && core < most; ++core)
            cores.mask_[core / 64] |= std::uint64_t{1} << core % 64;
        return cores;
    }
    for (std::size_t core = 0; core < CPU_SETSIZE && core < most; ++core) {
        if (CPU_ISSET(core, &set))
            cores.mask_[core / 64] |= std::uint64_t{1} << core % 64;
    }
    return cores;
}

int Cores::count() const {
    int count = 0;
    for (const std::uint64_t word : mask_)
        count += std::popcount(word);
    return count;
}

void Cores::add(const Cores& other) {
    for (std::size_t i = 0; i < mask_.size(); ++i)
        mask_[i] |= other.mask_[i];
}

bool is_crowded(std::uint64_t host, std::span<const Seat> ranks) {
    Cores cores;
    int ranks_here = 0;
    for (const Seat& seat : ranks) {
        if (seat.host != host)
            continue;
        cores.add(seat.cores);
        ++ranks_here;
    }
    return ranks_here > cores.count();
}

} // namespace sextant
