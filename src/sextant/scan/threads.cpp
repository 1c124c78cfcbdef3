// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/threads.hpp"

#include <algorithm>

namespace sextant::scan {

int employed(Elements values, int threads) {
    return static_cast<int>(std::min<Elements>(values, threads));
}

Totals totals(const Series& series, const GlobalScan& global, int rank) {
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    ProgramBuilder builder;
    const Region total = builder.input(1);
    const Prefixes known = scan_totals(builder, {workers.values, workers.number}, global, total);
    Totals made{{}, !known.before.empty(), !known.through.empty()};
    const Region output = builder.output((made.before ? 1 : 0) + (made.through ? 1 : 0));
    if (made.before)
        builder.copy(nth(output, 0), known.before);
    if (made.through)
        builder.copy(nth(output, made.before ? 1 : 0), known.through);
    made.program = with_peers(builder.finish(output), workers.ranks);
    return made;
}

LastPhase last_phase(const Interval& segment, int thread, bool is_last, const Totals& known,
                     bool is_first_rank) {
    if (is_first_rank && thread == 0)
        return {};
    const bool last_is_known = !is_last || known.through; // the next thread joins up to there
    LastPhase phase{known.before && thread > 0, segment};
    if (last_is_known)
        --phase.applied.last;
    return phase;
}

} // namespace sextant::scan
