// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/catalogue.hpp"
#include "sextant/contour/merging.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/lab/reproduce_c3.hpp"
#include "sextant/lab/reproduce_experiments.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

using contour::Pattern;

constexpr int side = 16;
constexpr Bytes crossing = sizeof(contour::Crossing);

/// An image of lines on the Delta's 16 x 16 processors; `density` is the fraction of edge pixels.
struct Image {
    Elements size = 2048;
    double density = 1;

    Grid grid() const { return {size, size, side, side}; }
    /// Density of the pixels where lines enter a tile: half of the edge pixels on its border.
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

Charge charged(const Pattern& pattern, const Image& image) {
    const machine::Profile delta = machine_of_paper("delta256");
    const Elements tile_border = 4 * image.size / side;
    const double own_list = static_cast<double>(tile_border) * image.entering() * crossing;
    Charge all;
    for (const model::RoundCharge& round : model::charges(
             {.schedule = merging(pattern, image), .machine = delta, .element_size = crossing},
             as_the_c3_paper_reads(image.grid()))) {
        all.setups += round.communication.setups;
        all.latency += round.communication.latency;
        all.per_byte += round.communication.packets / own_list;
    }
    return all;
}

Result figure_14(Extent) {
    Result result{"communication units, 256 processors", {"charged"}, {}, {}};
    std::map<std::string_view, double> per_byte;
    for (const Pattern& pattern : contour::catalogue()) {
        const Charge theirs = published.at(pattern.name), ours = charged(pattern, {});
        const auto add = [&](const char* what, double their, double our) {
            result.rows.push_back({fmt::format("{}, {}", pattern.name, what), their, {our}});
        };
        add("set-ups", theirs.setups, ours.setups);
        add("latency", theirs.latency, ours.latency);
        add("per byte of a tile's list", theirs.per_byte, ours.per_byte);
        per_byte[pattern.name] = ours.per_byte;
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

/// The time of each communication pattern, in milliseconds.
using Times = std::map<std::string_view, double>;

Times simulated(const Image& image) {
    Times times;
    for (const Pattern& pattern : contour::catalogue())
        times[pattern.name] = 1e3 * run(merging(pattern, image), crossing, {"delta-16x16"}).seconds;
    return times;
}

std::string_view fastest(const Times& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

Result empty_result() {
    Result result{"milliseconds of communication, simulated", {}, {}, {}};
    for (const Pattern& pattern : contour::catalogue())
        result.columns.emplace_back(pattern.name);
    return result;
}

Row row_of(std::string label, const Times& times) {
    Row row{std::move(label), {}, {}};
    for (const Pattern& pattern : contour::catalogue())
        row.ours.push_back(times.at(pattern.name));
    return row;
}

Result figure_15(Extent) {
    Result result = empty_result();
    int wins = 0;
    for (const Elements size : {256, 512, 1024, 2048}) {
        const Times times = simulated({size, 1});
        result.rows.push_back(row_of(fmt::format("{0}x{0}, 100 %", size), times));
        wins += fastest(times) == "logp-lev-quad";
    }
    result.claims.push_back({"overall, logp-lev-quad is the fastest", wins >= 3,
                             fmt::format("for {} of 4 sizes", wins)});
    return result;
}

Result densities(Extent extent) {
    Result result = empty_result();
    std::map<std::pair<Elements, int>, Times> all;
    const std::vector<int> percents = extent == Extent::whole
                                          ? std::vector<int>{5, 10, 20, 40, 60, 80, 100}
                                          : std::vector<int>{5, 100};
    int bal_wins_large = 0, bal_wins_small = 0;
    for (const Elements size : {256, 2048}) {
        for (const int percent : percents) {
            Times& times = all[{size, percent}] = simulated({size, percent / 100.});
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
         bal_wins_large == dense, fmt::format("at {} of {} densities", bal_wins_large, dense)},
        {"for 256x256, balancing does not pay at any density", bal_wins_small == 0,
         fmt::format("balancing pays at {} of {} densities", bal_wins_small, percents.size())}};
    return result;
}

constexpr std::string_view paper = "c3";
constexpr std::string_view setting =
    "lists of 48 bytes per crossing, on the Delta as for Figure 8; the paper states neither the "
    "length of an entry nor any times";
constexpr std::string_view reasons_of_charges =
    "an exchange is charged to its row or column, but in the paper to the square; lists are merged "
    "after each exchange, not after every second one; and they are empty at the border of the "
    "image, where no contour enters a tile";
constexpr std::string_view reasons_of_times =
    "as for Figure 14, lists stay short, so that merging does not congest the network: there is "
    "nothing for balancing to improve. Rows and columns send their lists unmerged, nearly as much "
    "data as if all were sent directly";
constexpr Experiment experiments[] = {{paper, "Figure 14", "predicted cost of contour ranking",
                                       "2048x2048, all pixels on edges; counted as in the paper",
                                       reasons_of_charges, figure_14},
                                      {paper, "Figure 15", "contour ranking by size of the image",
                                       setting, reasons_of_times, figure_15},
                                      {paper, "section 5.3", "contour ranking by density of edges",
                                       setting, reasons_of_times, densities}};

} // namespace

std::span<const Experiment> c3_contours() {
    return experiments;
}

} // namespace sextant::lab
