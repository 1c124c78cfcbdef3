// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/division.hpp"

#include "sextant/core/error.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr double nano = 1e-9;

/// Returns the makespan of a scan of `values` values, in units of one application of the scan's
/// operator ⊙. Long series are simulated with fewer values and scaled, because the global phase
/// between the local stages is then negligible.
double applications(int ranks, std::int64_t values, const prefix::ScanOptions& options) {
    constexpr std::int64_t most_of_a_rank = 64;
    const std::int64_t replayed = std::min(values, most_of_a_rank * ranks);
    if (replayed < 2)
        return 0;
    const scan::Rehearsal rehearsal(scan::even_blocks(replayed, ranks),
                                    prefix::configuration_of(options));
    const Seconds makespan = rehearsal.run([](const scan::Application&) { return 1.; }).makespan;
    return makespan * static_cast<double>(values) / static_cast<double>(replayed);
}

} // namespace

FrameCosts default_costs(ImageShape shape, int farthest, bool by_fields) {
    const double pixels = static_cast<double>(shape.elements()) * nano;
    constexpr double from_nothing = 26, refined = 6, field = 80, rest = 12, handing = 100e3;
    const double links = farthest * from_nothing;
    FrameCosts costs{pixels * links, farthest, pixels * refined,
                     pixels * rest,  .95,      handing * nano};
    if (by_fields) {
        costs.neighbours += pixels * field;
        ++costs.links;
        costs.combined = pixels * field;
        costs.rest += pixels * field;
        costs.shared = .9;
    }
    return costs;
}

Seconds expected_time(int ranks, int threads, std::int64_t frames, const FrameCosts& costs,
                      const prefix::ScanOptions& scan) {
    const auto each = static_cast<double>((frames + ranks - 1) / ranks);
    const auto by_threads = [&](Seconds alone, int registrations) {
        return threads == 1 ? alone
                            : alone * (1 - costs.shared + costs.shared / threads) +
                                  registrations * costs.handing;
    };
    return each * (by_threads(costs.neighbours, costs.links) + costs.rest) +
           applications(ranks, frames - 1, scan) * by_threads(costs.combined, 1);
}

Division best_division(int cores, std::int64_t frames, const FrameCosts& costs,
                       const prefix::ScanOptions& scan) {
    if (cores < 1)
        throw InvalidTask(fmt::format("{} cores: expected 1 or more", cores));
    const int most_ranks =
        static_cast<int>(std::clamp<std::int64_t>(frames - 1, 1, static_cast<std::int64_t>(cores)));
    Division best;
    for (int ranks = most_ranks; ranks >= 1; --ranks) {
        // Compares one thread per rank with the use of all cores: more threads are not always
        // faster.
        for (const int threads : {1, cores / ranks}) {
            const Seconds expected = expected_time(ranks, threads, frames, costs, scan);
            if (best.expected == 0 || expected < best.expected)
                best = {ranks, threads, expected};
        }
    }
    return best;
}

} // namespace sextant::registration
