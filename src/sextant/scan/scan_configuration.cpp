// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/scan_configuration.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

constexpr NamedBoundaries rows[] = {
    {"fixed", "each thread keeps its share", Boundaries::fixed},
    {"moving", "a thread helps where its neighbour would need longest", Boundaries::moving},
    {"towards-slower", "a thread helps the neighbour that takes longer an application",
     Boundaries::towards_slower},
};

} // namespace

std::span<const NamedBoundaries> all_boundaries() {
    return rows;
}

std::string_view name(Boundaries boundaries) {
    return std::find_if(std::begin(rows), std::end(rows),
                        [&](const auto& row) { return row.boundaries == boundaries; })
        ->name;
}

Boundaries find_boundaries(std::string_view name) {
    return find_by_name<NamedBoundaries>("boundaries", name, rows).boundaries;
}

void check(const Way& way) {
    if (way.threads < 1)
        throw InvalidTask(fmt::format("{} threads a rank: expected 1 or more", way.threads));
    if (way.threads > 1 && way.strategy.program != reduce_then_scan) {
        throw InvalidTask(fmt::format("{} on {} threads a rank: expected reduce-then-scan, or 1 "
                                      "thread",
                                      way.strategy.name, way.threads));
    }
}

std::string to_text(const Way& way) {
    std::string text = fmt::format("{} over {}", way.strategy.name,
                                   to_text(way.global.algorithm, way.global.tuning));
    if (way.threads > 1)
        text += fmt::format(", {} threads, boundaries {}", way.threads, name(way.boundaries));
    return text;
}

} // namespace sextant::scan
