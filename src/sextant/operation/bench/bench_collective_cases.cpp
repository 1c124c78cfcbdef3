// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_collective_cases.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/operation/bench/case_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

using Json = nlohmann::json;

constexpr Bytes largest = Bytes{1} << 28;

bool deals_tiles(Collective what) {
    return what != Collective::broadcast && what != Collective::all_to_all;
}

std::string usual_name(const CollectiveCase& what) {
    return fmt::format("{}{}", name(what.what), what.tiles ? " of tiles" : "");
}

Collective collective_named(const std::string& wanted) {
    std::array<std::string_view, std::size(collectives)> names;
    std::transform(std::begin(collectives), std::end(collectives), names.begin(),
                   [](Collective each) { return name(each); });
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end())
        throw InvalidTask(unknown_name("collective", wanted, names));
    return collectives[found - names.begin()];
}

std::vector<Bytes> sizes_in(const CaseReader& reader, const Json& list) {
    std::vector<Bytes> sizes;
    for (const Json& each : list)
        sizes.push_back(reader.whole("sizes", each, 0, largest));
    if (sizes.empty())
        reader.fail("sizes is empty");
    return sizes;
}

/// What is wrong is known here, so that it ends before anything is timed.
void check(const CollectiveCase& made, const CaseReader& reader) {
    if (made.tiles && !deals_tiles(made.what)) {
        reader.fail(
            fmt::format("{} of tiles: expected scatter, gather or all-gather", name(made.what)));
    }
    for (const std::string& wanted : made.algorithms) {
        const Collective does = collective::find(wanted).what;
        if (does != made.what) {
            reader.fail(fmt::format("{} does {}, expected an algorithm for {}", wanted, name(does),
                                    name(made.what)));
        }
    }
}

CollectiveCase read_case(const CaseReader& reader, const Json& json) {
    CollectiveCase made;
    reader.each_field(
        json, {
                  {"name", [&](const Json& v) { made.name = v.get<std::string>(); }},
                  {"collective",
                   [&](const Json& v) { made.what = collective_named(v.get<std::string>()); }},
                  {"tiles", [&](const Json& v) { made.tiles = v.get<bool>(); }},
                  {"sizes", [&](const Json& v) { made.sizes = sizes_in(reader, v); }},
                  {"algorithms", [&](const Json& v) { v.get_to(made.algorithms); }},
              });
    try {
        check(made, reader);
    } catch (const InvalidTask& error) {
        reader.fail(error.what());
    }
    if (made.name.empty())
        made.name = usual_name(made);
    return made;
}

/// The most nearly square rectangle of so many pixels.
Tile rectangle(Elements pixels) {
    Elements width = 0;
    for (Elements divisor = 1; divisor * divisor <= pixels; ++divisor) {
        if (pixels % divisor == 0)
            width = divisor;
    }
    return {0, 0, width, width > 0 ? pixels / width : 0};
}

} // namespace

std::vector<CollectiveCase> read_collective_cases(const std::string& path) {
    std::vector<CollectiveCase> cases;
    for (const Json& json : read_cases(path))
        cases.push_back(read_case({path, cases.size()}, json));
    return cases;
}

std::vector<CollectiveCase> usual_collective_cases() {
    std::vector<CollectiveCase> cases;
    for (const bool tiles : {false, true}) {
        for (const Collective each : collectives) {
            if (tiles && !deals_tiles(each))
                continue;
            CollectiveCase& made = cases.emplace_back();
            made.what = each;
            made.tiles = tiles;
            made.name = usual_name(made);
        }
    }
    return cases;
}

Grid grid_of(const CollectiveCase& what, Bytes size, int ranks) {
    if (what.what == Collective::broadcast)
        return near_square(ranks, size, 1);
    if (what.what == Collective::all_to_all)
        return near_square(ranks, size * ranks, ranks);
    Grid grid = near_square(ranks, 0, 0);
    const Tile each = what.tiles ? rectangle(size) : Tile{0, 0, size, 1};
    grid.width = grid.columns * each.width;
    grid.height = grid.rows * each.height;
    return grid;
}

} // namespace sextant::operation
