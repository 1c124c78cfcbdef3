// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/strategies.hpp"

#include "sextant/core/text.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sextant::scan {

Series even_blocks(Elements values, int ranks) {
    Series series(static_cast<std::size_t>(ranks), values / ranks);
    for (Elements rank = 0; rank < values % ranks; ++rank)
        ++series[static_cast<std::size_t>(rank)];
    return series;
}

Claim claim(const Series& series) {
    std::vector<int> first = {0}; // by rank: index of its first value in the series
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
                return fmt::format(
                    "value {} of the series combines the values [{}, {}), expected [0, {})",
                    place(rank, i), is.first, is.last, place(rank, i) + 1);
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

/// The prefixes that workers need: the prefix before their values and, if the global scan provides
/// it, the prefix through the last value. A worker with one value needs only the latter.
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
        prefixes.through = {}; // some algorithms compute this prefix although it was not requested
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

namespace {

/// Combines all values in one fold.
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

namespace {

/// Scans the values of a worker other than the first. All results except the total are stored in
/// the output, where they are updated later. The total has a separate slot, because it is sent
/// before the update.
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

namespace {

constexpr Strategy strategy_rows[] = {
    {"scan-then-propagate",
     "local scans, each then combined with the prefix of the preceding ranks",
     "Egecioglu, Koc and Laub 1989, doi:10.1016/0377-0427(89)90362-2", scan_then_propagate},
    {"reduce-then-scan",
     "local reductions, then local scans that start from the prefix of the preceding ranks",
     "Dotsenko et al. 2008, doi:10.1145/1375527.1375559", reduce_then_scan},
};

} // namespace

std::span<const Strategy> strategies() {
    return strategy_rows;
}

const Strategy& find_strategy(std::string_view name) {
    return find_by_name<Strategy>("strategy", name, strategy_rows);
}

Program program(const Strategy& strategy, const Series& series, const GlobalScan& global,
                int rank) {
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    return with_peers(strategy.program({workers.values, workers.number}, global), workers.ranks);
}

Series shifted(const Series& series) {
    Series counts = series;
    const auto first =
        std::find_if(counts.begin(), counts.end(), [](Elements values) { return values > 0; });
    if (first != counts.end())
        --*first;
    return counts;
}

Program shift(const Series& series, int rank) {
    const Elements own = series[static_cast<std::size_t>(rank)];
    if (own == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    const bool leads = workers.number == 0;
    const bool trails = workers.number + 1 == static_cast<int>(workers.ranks.size());
    const Elements received = leads ? 0 : 1;
    ProgramBuilder builder;
    const Region input = builder.input(own);
    const Region output = builder.output(own - 1 + received);
    if (!trails)
        builder.send(workers.number + 1, nth(input, own - 1));
    if (!leads)
        builder.receive(workers.number - 1, nth(output, 0));
    builder.copy(block(output.buffer, output.offset + received, own - 1),
                 block(input.buffer, input.offset, own - 1));
    return with_peers(builder.finish(output), workers.ranks);
}

Claim shift_claim(const Series& series) {
    Claim made = claim(series);
    const Series counts = shifted(series);
    made.wanted = [counts](int rank, const std::vector<Symbol>& result) -> std::string {
        const auto own = static_cast<std::size_t>(rank);
        if (static_cast<Elements>(result.size()) != counts[own])
            return fmt::format("has {} values, expected {}", result.size(), counts[own]);
        Elements place = 0;
        for (std::size_t before = 0; before < own; ++before)
            place += counts[before];
        for (const Symbol& is : result) {
            const auto value = static_cast<int>(place++);
            if (!is.same_value({0, value, value + 1}))
                return fmt::format("has the values [{}, {}), expected value {}", is.first, is.last,
                                   value);
        }
        return "";
    };
    return made;
}

} // namespace sextant::scan
