// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"
#include "sextant/reproduce/c3_reading.hpp"
#include "sextant/reproduce/papers.hpp"
#include "sextant/reproduce/runs.hpp"
#include "sextant/reproduce/table.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace sextant::reproduce {

namespace {

constexpr int side = 16, processors = side * side;
constexpr double units_a_setup = 8;

/// Units: set-ups, and what a byte of a message adds.
struct Charge {
    double setups = 0, per_byte = 0;

    double units(double bytes) const { return units_a_setup * setups + per_byte * bytes; }
};

/// An algorithm by the paper's name and ours, and what a figure prints of it.
struct Printed {
    std::string_view paper, ours;
    Charge charge;
};

constexpr Printed one_to_all[] = {{"1-lev-dir", "flat-scatter", {256, .55}},
                                  {"1-lev-br", "1-lev-br-broadcast", {8, 27}},
                                  {"2-lev-rec", "2-lev-rec-scatter", {32, 1.23}},
                                  {"3-lev-sq", "3-lev-sq-scatter", {24, .93}},
                                  {"logp-lev-sq", "logp-lev-sq-scatter", {8, 5.29}}};

constexpr Printed all_to_all[] = {{"1-lev-direct", "1-lev-dir-all-to-all", {256, 14}},
                                  {"1-lev-xor", "1-lev-xor-all-to-all", {256, 14}},
                                  {"2-lev-sq", "2-lev-sq-all-to-all", {33, 23}},
                                  {"2-lev-c_r", "2-lev-cr-all-to-all", {32, 23}},
                                  {"logp-lev-bfly", "logp-lev-bfly-all-to-all", {4, 28.5}}};

/// A figure: who is charged, with blocks of how many bytes on which grid, and what was measured.
struct Figure {
    std::span<const Printed> algorithms;
    Grid (*grid)(Elements bytes);
    const char* measured;
};

constexpr Figure figure_of_one_to_all{one_to_all,
                                      [](Elements bytes) {
                                          return Grid{side, side * bytes, side, side};
                                      },
                                      "c3_figure8_one_to_all_delta256_ms"};
constexpr Figure figure_of_all_to_all{all_to_all,
                                      [](Elements bytes) {
                                          return Grid{processors, processors * bytes, side, side};
                                      },
                                      "c3_figure11_all_to_all_delta256_ms"};

/// The Delta with the distances that Figures 6 and 9 use beside the profile's: rows and columns of
/// 16 have h = 5, a pair has 4/3 where the paper halves.
machine::Profile delta_of_figures() {
    machine::Profile delta = machine_of_paper("delta256");
    auto& published = delta.c3.value().published;
    published.insert(published.end(),
                     {{side, 1, 5}, {1, side, 5}, {1, 2, 4.0 / 3}, {2, 1, 4.0 / 3}});
    return delta;
}

Charge charged(const Printed& algorithm, const Figure& figure) {
    constexpr Elements bytes = 512;
    const Grid grid = figure.grid(bytes);
    const collective::Algorithm& row = collective::find(algorithm.ours);
    const Schedule schedule =
        make_schedule(processors, [&](int rank) { return row.program(grid, rank); });
    static const machine::Profile delta = delta_of_figures();
    Charge all;
    for (const model::RoundCharge& round :
         model::charges({.schedule = schedule, .machine = delta, .element_size = 1},
                        as_the_c3_paper_reads(grid))) {
        all.setups += round.communication.setups;
        all.per_byte += round.communication.packets / bytes;
    }
    return all;
}

Result charges(const Figure& figure) {
    Result result{"communication units, 256 processors", {"charged"}, {}, {}};
    for (const Printed& each : figure.algorithms) {
        const Charge ours = charged(each, figure);
        result.rows.push_back(
            {fmt::format("{}, set-ups", each.paper), each.charge.setups, {ours.setups}});
        result.rows.push_back(
            {fmt::format("{}, a byte", each.paper), each.charge.per_byte, {ours.per_byte}});
    }
    return result;
}

Result figure_6(Extent) {
    return charges(figure_of_one_to_all);
}

Result figure_9(Extent) {
    return charges(figure_of_all_to_all);
}

// Figures 7 and 10: what is predicted, beside what is measured.

/// What was measured at one size: of the algorithm that C³ charges least, and the least of all.
struct Choice {
    std::string_view chosen, best;
    double chosen_time = 0, best_time = 0;

    bool right() const { return chosen == best; }
    double regret() const { return chosen_time / best_time - 1; }
};

Choice choice_at(const std::string& bytes, const Figure& figure, std::span<const Charge> ours) {
    const Table table(figure.measured);
    const double size = std::strtod(bytes.c_str(), nullptr);
    Choice choice;
    double least = 0;
    for (std::size_t i = 0; i < figure.algorithms.size(); ++i) {
        const std::string_view name = figure.algorithms[i].paper;
        const auto time = table.number(table.row_of(std::string(name)), bytes);
        if (!time)
            continue;
        if (choice.chosen.empty() || ours[i].units(size) < least) {
            least = ours[i].units(size);
            choice.chosen = name;
            choice.chosen_time = *time;
        }
        if (choice.best.empty() || *time < choice.best_time) {
            choice.best = name;
            choice.best_time = *time;
        }
    }
    return choice;
}

Result choices(const Figure& figure) {
    std::vector<Charge> ours;
    for (const Printed& each : figure.algorithms)
        ours.push_back(charged(each, figure));
    const Table table(figure.measured);
    Result result{"milliseconds measured on the Delta", {"of the model's choice"}, {}, {}};
    int right = 0;
    double sum = 0, worst = 0;
    const std::size_t sizes = table.columns().size() - 1;
    for (std::size_t c = 1; c <= sizes; ++c) {
        const std::string& bytes = table.columns()[c];
        const Choice choice = choice_at(bytes, figure, ours);
        result.rows.push_back(
            {fmt::format("{} bytes: chosen {}, best {}", bytes, choice.chosen, choice.best),
             choice.best_time,
             {choice.chosen_time}});
        right += choice.right();
        sum += choice.regret();
        worst = std::max(worst, choice.regret());
    }
    result.claims.push_back(
        {"the model's choice is what was measured as the best", right == static_cast<int>(sizes),
         fmt::format("at {} of {} sizes; {:.1f} % lost in the mean, {:.1f} % at most", right, sizes,
                     100 * sum / static_cast<double>(sizes), 100 * worst)});
    return result;
}

Result figure_7(Extent) {
    return choices(figure_of_one_to_all);
}

Result figure_10(Extent) {
    return choices(figure_of_all_to_all);
}

constexpr std::string_view counted =
    "schedules charged by C³ as the paper counts: parts of packets in part, p for p - 1";
constexpr std::string_view chosen =
    "the paper draws predictions in units beside measurements; here the algorithm that is charged "
    "least at a size is looked up in what was measured, permutations by exclusive-or alone. Column "
    "\"paper\" is the best of those that are charged";
constexpr std::string_view no_barriers =
    "C³ charges supersteps one after another, and every permutation alike: it sees neither what "
    "overlaps nor what is easy on a mesh";

constexpr Experiment experiments[] = {
    {"c3", "Figure 6", "what one-to-all is charged", counted, "", figure_6},
    {"c3", "Figure 7", "one-to-all: predicted beside measured", chosen, no_barriers, figure_7},
    {"c3", "Figure 9", "what all-to-all is charged", counted,
     "logp-lev-bfly has 8 supersteps and so 8 set-ups, where the paper prints 4", figure_9},
    {"c3", "Figure 10", "all-to-all: predicted beside measured", chosen, no_barriers, figure_10}};

} // namespace

std::span<const Experiment> c3_charges() {
    return experiments;
}

} // namespace sextant::reproduce
