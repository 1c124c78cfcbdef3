// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/shift.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::scan {

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
