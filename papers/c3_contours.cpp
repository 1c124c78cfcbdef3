// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "papers/c3.hpp"
#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

using contour::Pattern;

constexpr int side = 16;
constexpr Bytes crossing = sizeof(contour::Crossing);

/// An image of lines on the Delta's 16 x 16 processors; `density` is the fraction of edge pixels.
struct Image {
    Elements size = 2048;
    double density = 1;

    Grid grid() const { return {size, size, side, side}; }
    /// The density of pixels at which lines enter a tile: half of the edge pixels on its border.
    double entering() const { return density / 2; }
};

Schedule merging(const Pattern& pattern, const Image& image) {
    const Grid grid = image.grid();
    const auto sizes = contour::sizes_by_border(
        std::make_shared<contour::Order>(grid, pattern.stages(grid)), image.entering());
    return make_schedule(
        grid.ranks(), [&](int rank) { return contour::sized_program(pattern, grid, rank, sizes); });
}

// Figure 14 of the C³ paper.

/// The paper's cost: message set-ups, latency, and units of time per byte of a tile's own list.
struct Charge {
    double setups = 0, latency = 0, per_byte = 0;
};

const std::map<std::string_view, Charge> published = {{"1-lev-dir", {8, 38, 3.33}},
                                                      {"2-lev-rc", {8, 20, 2.14}},
                                                      {"logp-lev-quad", {8, 38, 1.8}},
                                                      {"logp-lev-bal", {10, 58, .89}}};

/// The submachine to which the messages of a stage are charged: the row or column that they stay
/// in, or the square around it. The paper uses squares except for 2-lev-rc.
enum class Place { lines, squares };

model::C3Reading reading_of(const Image& image, Place place) {
    model::C3Reading reading = as_the_c3_paper_reads(image.grid());
    if (place == Place::squares) {
        reading.submachine = [lines = reading.submachine](int round, int group) {
            const model::Submachine line = lines(round, group);
            const int size = std::max(line.width, line.height);
            return model::Submachine{line.x / size * size, line.y / size * size, size, size};
        };
    }
    return reading;
}

Charge charged(const Pattern& pattern, const Image& image, Place place) {
    const machine::Profile delta = machine_of_paper("delta256");
    const Elements tile_border = 4 * image.size / side;
    const double own_list = static_cast<double>(tile_border) * image.entering() * crossing;
    Charge all;
    for (const model::RoundCharge& round : model::charges(
             {.schedule = merging(pattern, image), .machine = delta, .element_size = crossing},
             reading_of(image, place))) {
        all.setups += round.communication.setups;
        all.latency += round.communication.latency;
        all.per_byte += round.communication.packets / own_list;
    }
    return all;
}

/// A superstep in which every processor of each submachine of width x height exchanges `lists`
/// lists of one tile. The partner's number differs by an exclusive or with `distance`; if
/// `distance` is 0, the partner's column and row have the reversed bits.
struct Exchange {
    int width, height, distance;
    double lists;

    int partner(int rank) const {
        const auto reversed = [](int i) {
            return (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
        };
        return distance == 0 ? side * reversed(rank / side) + reversed(rank % side)
                             : rank ^ distance;
    }
};

/// The supersteps that the paper charges. Lists are merged only after every second exchange, and
/// have the same length at the border of the image.
std::vector<Exchange> exchanges_of(std::string_view pattern) {
    std::vector<Exchange> all;
    const auto in_squares = [&](int first, bool grows) {
        for (int j = 0, lists = 1; j < 4; ++j, lists *= 2) {
            const int size = grows ? first << j : first >> j;
            all.push_back({size, size, size / 2, 1. * lists});
            all.push_back({size, size, size / 2 * side, 2. * lists});
        }
    };
    const auto in_lines = [&](bool rows, double lists) {
        for (int size = side; size > 1; size /= 2, lists *= 2)
            all.push_back({rows ? size : 1, rows ? 1 : size, size / 2 * (rows ? 1 : side), lists});
    };
    if (pattern == "1-lev-dir") {
        for (int size = side, lists = 1; size > 1; size /= 2, lists *= 4) {
            all.push_back({size, size, size / 2, 1. * lists});
            all.push_back({size / 2, size, size / 2 * side, 2. * lists});
        }
    } else if (pattern == "2-lev-rc") {
        in_lines(true, 1);
        in_lines(false, (2. * side + 2) / 4); // the border of a row, in units of a tile's border
    } else if (pattern == "logp-lev-quad") {
        in_squares(2, true);
    } else {
        all.push_back({side, side, 0, 1});
        in_squares(side, false);
        all.push_back({side, side, 0, 1});
    }
    return all;
}

/// A schedule of the messages of these supersteps, one after another, for lists of `list` bytes.
Schedule exchanging(std::string_view pattern, Bytes list) {
    const std::vector<Exchange> exchanges = exchanges_of(pattern);
    return make_schedule(side * side, [&](int rank) {
        ProgramBuilder builder;
        builder.window(1);
        const auto bytes_of = [&](const Exchange& each) -> Elements {
            return std::llround(each.lists * static_cast<double>(list));
        };
        Elements most = 0;
        for (const Exchange& each : exchanges)
            most = std::max(most, bytes_of(each));
        const Region own = builder.input(most);
        for (int round = 0; round < static_cast<int>(exchanges.size()); ++round) {
            const Exchange& each = exchanges[static_cast<std::size_t>(round)];
            if (each.partner(rank) == rank)
                continue;
            builder.round(round);
            builder.send(each.partner(rank), block(own.buffer, 0, bytes_of(each)));
            builder.receive(each.partner(rank), builder.scratch(bytes_of(each)));
        }
        return builder.finish(own);
    });
}

Charge charged_as_in_the_paper(std::string_view pattern) {
    machine::Profile delta = machine_of_paper("delta256");
    if (pattern != "2-lev-rc")
        delta.c3->published.push_back(
            {1, 2, 4.0 / 3}); // the same distance as for a square of 2 x 2
    const model::C3Reading reading = as_the_c3_paper_reads({side, side, side, side});
    const Bytes list = 1024 * delta.c3->packet; // long enough that half lists are whole packets
    Charge all;
    for (const Exchange& each : exchanges_of(pattern)) {
        const int size = each.width * each.height;
        model::Superstep superstep{model::wiring_of({0, 0, each.width, each.height},
                                                    delta.c3->topology, *delta.c3, reading),
                                   size,
                                   {}};
        for (int from = 0; from < size; ++from)
            superstep.messages[{from, from ^ 1}] =
                static_cast<Bytes>(each.lists * static_cast<double>(list));
        const model::Units units = model::charge(superstep, *delta.c3, reading.counting);
        all.setups += units.setups;
        all.latency += units.latency;
        all.per_byte += units.packets / static_cast<double>(list);
    }
    return all;
}

Result figure_14(Extent) {
    Result result{"communication units, 256 processors",
                  {"charged", "charged to squares", "and with the lists of the paper"}};
    std::map<std::string_view, double> per_byte;
    for (const Pattern& pattern : contour::catalogue()) {
        const Place squares = pattern.name == "2-lev-rc" ? Place::lines : Place::squares;
        const Charge theirs = published.at(pattern.name);
        const Charge ours[] = {charged(pattern, {}, Place::lines), charged(pattern, {}, squares),
                               charged_as_in_the_paper(pattern.name)};
        const auto add = [&](const char* what, double Charge::*part) {
            Row row{fmt::format("{}, {}", pattern.name, what), theirs.*part, {}};
            for (const Charge& each : ours)
                row.ours.push_back(each.*part);
            result.rows.push_back(std::move(row));
        };
        add("set-ups", &Charge::setups);
        add("latency", &Charge::latency);
        add("per byte of a tile's list", &Charge::per_byte);
        per_byte[pattern.name] = ours[0].per_byte;
    }
    result.claims.push_back(
        {"merging while lists are short is cheaper than merging by rows and columns, which is "
         "cheaper than sending all lists directly",
         per_byte["logp-lev-quad"] < per_byte["2-lev-rc"] &&
             per_byte["2-lev-rc"] < per_byte["1-lev-dir"],
         fmt::format("{:.2f}, {:.2f}, {:.2f} units per byte", per_byte["logp-lev-quad"],
                     per_byte["2-lev-rc"], per_byte["1-lev-dir"])});
    return result;
}

// Figure 15 of the C³ paper, and the densities in its section 5.3.

/// The lists to merge: Sextant's, or those of Figure 14 in the paper.
enum class Lists { sextant, paper };

/// The time of each communication pattern, in milliseconds.
using Times = std::map<std::string_view, double>;

Times simulated(const Image& image, Lists lists) {
    const Setting setting{"delta-16x16-wormholes"};
    const auto tile_border = static_cast<double>(4 * image.size / side);
    const auto list = static_cast<Bytes>(tile_border * image.entering() * crossing);
    Times times;
    for (const Pattern& pattern : contour::catalogue()) {
        times[pattern.name] =
            1e3 * (lists == Lists::paper ? run(exchanging(pattern.name, list), 1, setting)
                                         : run(merging(pattern, image), crossing, setting))
                      .seconds;
    }
    return times;
}

std::string_view fastest(const Times& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

Result empty_result() {
    Result result{"milliseconds of communication, simulated", {}};
    for (const Pattern& pattern : contour::catalogue())
        result.columns.emplace_back(pattern.name);
    return result;
}

Row row_of(std::string label, const Times& times) {
    Row row{std::move(label)};
    for (const Pattern& pattern : contour::catalogue())
        row.ours.push_back(times.at(pattern.name));
    return row;
}

Result figure_15(Extent) {
    Result result = empty_result();
    int wins = 0;
    for (const Elements size : {256, 512, 1024, 2048}) {
        const Times times = simulated({size, 1}, Lists::sextant);
        result.rows.push_back(row_of(fmt::format("{0}x{0}, 100 %", size), times));
        wins += fastest(times) == "logp-lev-quad";
    }
    result.claims.push_back({"overall, logp-lev-quad is the fastest", wins >= 3,
                             fmt::format("for {} of 4 sizes", wins)});
    return result;
}

Result densities(Extent extent, Lists lists) {
    Result result = empty_result();
    std::map<std::pair<Elements, int>, Times> all;
    const std::vector<int> percents = extent == Extent::whole
                                          ? std::vector<int>{5, 10, 20, 40, 60, 80, 100}
                                          : std::vector<int>{5, 100};
    int bal_wins_large = 0, bal_wins_small = 0;
    for (const Elements size : {256, 2048}) {
        for (const int percent : percents) {
            Times& times = all[{size, percent}] = simulated({size, percent / 100.}, lists);
            result.rows.push_back(row_of(fmt::format("{0}x{0}, {1} %", size, percent), times));
            const bool bal_wins = times["logp-lev-bal"] < times["logp-lev-quad"];
            bal_wins_large += bal_wins && size == 2048 && percent > 10;
            bal_wins_small += bal_wins && size == 256;
        }
    }
    const auto growth = [&](std::string_view name) {
        return all.at({2048, 100}).at(name) - all.at({2048, 5}).at(name);
    };
    const auto dense =
        std::count_if(percents.begin(), percents.end(), [](int p) { return p > 10; });
    const Times& largest = all.at({2048, 100});
    result.claims = {
        {"communication of 1-lev-dir grows much faster with density than that of the others",
         growth("1-lev-dir") > 1.5 * growth("2-lev-rc"),
         fmt::format("from 5 to 100 % density, that of 1-lev-dir grows by {:.0f} ms, that of "
                     "2-lev-rc by {:.0f} ms",
                     growth("1-lev-dir"), growth("2-lev-rc"))},
        {"communication of logp-lev-quad and logp-lev-bal grows slowly",
         growth("1-lev-dir") > 2 * std::max(growth("logp-lev-quad"), growth("logp-lev-bal")),
         fmt::format("by {:.0f} and {:.0f} ms", growth("logp-lev-quad"), growth("logp-lev-bal"))},
        {"for 2048x2048, logp-lev-bal is faster than logp-lev-quad above 10 %",
         bal_wins_large == dense,
         fmt::format("at {} of {} densities; at 100 %, it takes {:.2f} of the time", bal_wins_large,
                     dense, largest.at("logp-lev-bal") / largest.at("logp-lev-quad"))},
        {"for 256x256, balancing does not pay at any density", bal_wins_small == 0,
         fmt::format("balancing pays at {} of {} densities", bal_wins_small, percents.size())}};
    return result;
}

Result densities_of_ours(Extent extent) {
    return densities(extent, Lists::sextant);
}

Result densities_of_theirs(Extent extent) {
    return densities(extent, Lists::paper);
}

constexpr std::string_view paper = "c3";
constexpr std::string_view setting =
    "lists of 48 bytes per crossing, on the Delta as for Figure 8; the paper states neither the "
    "length of an entry nor any times";
constexpr std::string_view reasons_of_charges =
    "Sextant charges an exchange to its row or column, the paper to the square around it (second "
    "column); and Sextant merges lists after each exchange, not after every second one, and has "
    "empty lists at the border of the image, where no contour enters a tile (third column)";
constexpr std::string_view setting_of_theirs =
    "as for section 5.3, but with the exchanges and the lengths of lists that Figure 14 charges";
constexpr std::string_view reasons_of_theirs =
    "with these lists, balancing pays at all sizes, and by more than the 10 to 15 % of the paper, "
    "whose lists, though shorter than these, congest the network where those of Sextant do not. "
    "The lengths that the paper measured with cannot be known";
constexpr std::string_view reasons_of_times =
    "as for Figure 14, Sextant's lists stay short, so that merging does not congest the network: "
    "there is nothing for balancing to improve, as there is with the lists of the paper (next "
    "section). Rows and columns send their lists unmerged, nearly as much data as if all were sent "
    "directly";
constexpr Experiment experiments[] = {
    {paper, "Figure 14", "predicted cost of contour ranking",
     "2048x2048, all pixels on edges; counted as in the paper", reasons_of_charges, figure_14},
    {paper, "Figure 15", "contour ranking by size of the image", setting, reasons_of_times,
     figure_15},
    {paper, "section 5.3", "contour ranking by density of edges", setting, reasons_of_times,
     densities_of_ours},
    {paper, "section 5.3: lists of the paper", "contour ranking by density of edges",
     setting_of_theirs, reasons_of_theirs, densities_of_theirs}};

} // namespace

constinit const std::span<const Experiment> c3_contours = experiments;

} // namespace sextant::papers
