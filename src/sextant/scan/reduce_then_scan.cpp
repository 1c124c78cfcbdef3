// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/reduce_then_scan.hpp"

namespace sextant::scan {

namespace {

/// All values in one fold.
Region reduced(ProgramBuilder& builder, const Region& input) {
    std::vector<Region> values;
    for (Elements i = 0; i < input.length; ++i)
        values.push_back(nth(input, i));
    const Region total = builder.scratch(1);
    builder.fold(total, values);
    return total;
}

} // namespace

Program reduce_then_scan(const Worker& worker, const GlobalScan& global) {
    ProgramBuilder builder;
    const Region input = builder.input(worker.own()), output = builder.output(worker.own());
    Prefixes known;
    if (worker.workers() > 1) {
        const bool reduces = worker.own() > 1 && total_matters(worker, global);
        const Region total = reduces ? reduced(builder, input) : nth(input, 0);
        known = scan_totals(builder, worker, global, total);
    }
    scan_values(builder, input, output, known);
    return builder.finish(output);
}

} // namespace sextant::scan
