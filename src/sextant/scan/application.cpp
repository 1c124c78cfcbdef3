// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/application.hpp"

#include <algorithm>

namespace sextant::scan {

Usage usage(std::span<const Bar> bars, int ranks, int threads, Seconds serial) {
    const auto workers = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(threads);
    std::vector<Seconds> busy(workers, 0);
    Usage usage;
    for (const Bar& bar : bars) {
        const auto worker = static_cast<std::size_t>(bar.rank * threads + bar.thread);
        busy[worker] += bar.end - bar.begin;
        usage.busy += bar.end - bar.begin;
        usage.makespan = std::max(usage.makespan, bar.end);
        ++usage.applications;
    }
    const auto count = static_cast<double>(workers);
    usage.idle = count * usage.makespan - usage.busy;
    if (usage.busy > 0)
        usage.imbalance = *std::max_element(busy.begin(), busy.end()) * count / usage.busy;
    if (usage.makespan > 0)
        usage.efficiency = serial / (count * usage.makespan);
    return usage;
}

} // namespace sextant::scan
