// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/scan_then_propagate.hpp"

namespace sextant::scan {

namespace {

/// Scans all but the first worker's values. All but the total wait in the output, which they will
/// be changed in; the total has a slot of its own, since others are sent it meanwhile.
Region scan_aside(ProgramBuilder& builder, const Region& input, const Region& output) {
    Region sum = nth(input, 0);
    for (Elements i = 1; i < input.length; ++i) {
        const Region to = i < input.length - 1 ? nth(output, i) : builder.scratch(1);
        builder.fold(to, {sum, nth(input, i)});
        sum = to;
    }
    return sum;
}

void propagate(ProgramBuilder& builder, const Region& input, const Region& output,
               const Region& total, const Prefixes& known) {
    const Elements last = input.length - 1;
    for (Elements i = 0; i < last; ++i) {
        const Region own = i == 0 ? nth(input, 0) : nth(output, i);
        builder.fold(nth(output, i), {known.before, own});
    }
    if (known.through.empty())
        builder.fold(nth(output, last), {known.before, total});
    else
        builder.copy(nth(output, last), known.through);
}

} // namespace

Program scan_then_propagate(const Worker& worker, const GlobalScan& global) {
    ProgramBuilder builder;
    const Region input = builder.input(worker.own()), output = builder.output(worker.own());
    if (worker.number == 0) {
        scan_values(builder, input, output, {});
        scan_totals(builder, worker, global, nth(output, worker.own() - 1));
        return builder.finish(output);
    }
    const Region total = scan_aside(builder, input, output);
    const Prefixes known = scan_totals(builder, worker, global, total);
    propagate(builder, input, output, total, known);
    return builder.finish(output);
}

} // namespace sextant::scan
