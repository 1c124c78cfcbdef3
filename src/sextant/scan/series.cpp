// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/series.hpp"

#include <fmt/format.h>

namespace sextant::scan {

Series dealt(Elements values, int ranks) {
    Series series(static_cast<std::size_t>(ranks), values / ranks);
    for (Elements rank = 0; rank < values % ranks; ++rank)
        ++series[static_cast<std::size_t>(rank)];
    return series;
}

Claim claim(const Series& series) {
    std::vector<int> first = {0}; // place in the series, by rank
    for (const Elements values : series)
        first.push_back(first.back() + static_cast<int>(values));
    const auto place = [first](int rank, Elements i) {
        return first[static_cast<std::size_t>(rank)] + static_cast<int>(i);
    };
    Claim claim;
    claim.given = [place](int rank, int, Elements e) {
        return Symbol{0, place(rank, e), place(rank, e) + 1, 0};
    };
    claim.wanted = [place, series](int rank, const std::vector<Symbol>& result) -> std::string {
        const Elements expected = series[static_cast<std::size_t>(rank)];
        if (static_cast<Elements>(result.size()) != expected)
            return fmt::format("holds {} values, expected {}", result.size(), expected);
        for (Elements i = 0; i < expected; ++i) {
            const Symbol& is = result[static_cast<std::size_t>(i)];
            if (!is.same_value({0, 0, place(rank, i) + 1})) {
                return fmt::format("value {} of the series is [{}, {}), expected all up to it",
                                   place(rank, i), is.first, is.last);
            }
        }
        return "";
    };
    return claim;
}

Workers workers_of(const Series& series, int rank) {
    Workers workers;
    for (int other = 0; other < static_cast<int>(series.size()); ++other) {
        const Elements own = series[static_cast<std::size_t>(other)];
        if (own == 0)
            continue;
        if (other == rank)
            workers.number = static_cast<int>(workers.ranks.size());
        workers.ranks.push_back(other);
        workers.values.push_back(own);
    }
    return workers;
}

Region nth(const Region& values, Elements i) {
    return block(values.buffer, values.offset + i, 1);
}

namespace {

Stage stage_of(const Worker& worker, const GlobalScan& global) {
    return {global.algorithm, global.tuning, worker.workers(), 1};
}

/// What workers want of the totals: what lies before their values, and what reaches through the
/// last where that is to be given. Who has one value needs no more than the latter.
Wanted wanted_by(const Worker& worker, const GlobalScan& global) {
    return [values = worker.values, &global](int number) {
        if (!global.gives_last)
            return Form::exclusive;
        return values[static_cast<std::size_t>(number)] == 1 ? Form::inclusive : Form::both;
    };
}

} // namespace

bool total_matters(const Worker& worker, const GlobalScan& global) {
    return matters(stage_of(worker, global), worker.number, wanted_by(worker, global));
}

Prefixes scan_totals(ProgramBuilder& builder, const Worker& worker, const GlobalScan& global,
                     const Region& total) {
    const Stage stage = stage_of(worker, global);
    Prefixes prefixes =
        scan_in_form(builder, stage, worker.number, total, wanted_by(worker, global));
    builder.round(stage.first_round + stage.rounds());
    if (!global.gives_last)
        prefixes.through = {}; // known all the same by some algorithms
    return prefixes;
}

void scan_values(ProgramBuilder& builder, const Region& input, const Region& output,
                 const Prefixes& known) {
    Region sum = known.before;
    for (Elements i = 0; i < input.length; ++i) {
        const Region to = nth(output, i);
        if (i == input.length - 1 && !known.through.empty())
            builder.copy(to, known.through);
        else if (sum.empty())
            builder.copy(to, nth(input, i));
        else
            builder.fold(to, {sum, nth(input, i)});
        sum = to;
    }
}

} // namespace sextant::scan
