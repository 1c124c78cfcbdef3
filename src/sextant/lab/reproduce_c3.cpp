// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/reproduce_c3.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/tiles.hpp"
#include "sextant/lab/reproduce_experiments.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sextant::lab {

model::C3Reading as_the_c3_paper_reads(const Grid& grid) {
    return {model::Counting::paper, true, [grid](int, int group) {
                const auto m = collective::submachine_of(grid, group);
                return model::Submachine{m.column, m.row, m.columns, m.rows};
            }};
}

namespace {

constexpr int side = 16;

/// The simulated time on the Intel Delta in milliseconds. The window is 1 because the paper's loops
/// send one message after another.
double milliseconds(std::string_view algorithm, const Grid& grid) {
    const collective::Algorithm& row = collective::find(algorithm);
    const Schedule schedule = make_schedule(grid.ranks(), [&](int rank) {
        Program program = row.program(grid, rank);
        program.window = 1;
        return program;
    });
    return 1e3 * run(schedule, 1, {"delta-16x16"}).seconds;
}

/// The time in milliseconds to send `bytes` from one processor to each of 16 x 16 processors.
double one_to_all(std::string_view algorithm, Bytes bytes) {
    return milliseconds(algorithm, {side * bytes, side, side, side});
}

/// The time in milliseconds to send `bytes` between all pairs of 16 x 16 processors.
double all_to_all(std::string_view algorithm, Bytes bytes) {
    constexpr int processors = side * side;
    return milliseconds(algorithm, {processors * bytes, processors, side, side});
}

/// The names of an algorithm in the paper and in our catalogue.
struct Named {
    std::string_view paper, ours;
};

constexpr Named algorithms[] = {
    {"1-lev-dir", "flat-scatter"},          {"1-lev-br", "1-lev-br-broadcast"},
    {"2-lev-rec", "2-lev-rec-scatter"},     {"3-lev-sq", "3-lev-sq-scatter"},
    {"logp-lev-sq", "logp-lev-sq-scatter"}, {"logp-lev-rec(0.75)", "logp-lev-rec-scatter"}};

Result figure_8(Extent extent) {
    const Table table("c3_figure8_one_to_all_delta256_ms");
    Result result{"milliseconds, by bytes per message", {"simulated"}, {}, {}};
    int winners = 0, sizes = 0;
    for (std::size_t c = 1; c < table.columns().size(); ++c) {
        const std::string& bytes = table.columns()[c];
        const Bytes size = std::strtoll(bytes.c_str(), nullptr, 10);
        if (extent == Extent::quick && size != 16384 && size != 2048 && size != 16)
            continue;
        ++sizes;
        std::map<std::string_view, double> ours, theirs;
        for (const Named& each : algorithms) {
            ours[each.paper] = one_to_all(each.ours, size);
            theirs[each.paper] = *table.number(table.row_of(std::string(each.paper)), bytes);
            result.rows.push_back(
                {fmt::format("{}, {}", each.paper, bytes), theirs[each.paper], {ours[each.paper]}});
        }
        winners += (ours["1-lev-dir"] < ours["logp-lev-sq"]) ==
                   (theirs["1-lev-dir"] < theirs["logp-lev-sq"]);
    }
    result.claims.push_back(
        {"at each size, the faster of 1-lev-dir and logp-lev-sq is the same as in the paper",
         winners == sizes, fmt::format("at {} of {} sizes", winners, sizes)});
    return result;
}

/// The paper's all-to-all algorithms, except 1-lev-dir, whose 65,280 concurrent messages take too
/// long to simulate, and 1-lev-balance, for which the paper gives no construction.
constexpr Named exchanges[] = {{"1-lev-lin", "1-lev-lin-all-to-all"},
                               {"1-lev-xor", "1-lev-xor-all-to-all"},
                               {"2-lev-sq", "2-lev-sq-all-to-all"},
                               {"2-lev-c_r", "2-lev-cr-all-to-all"},
                               {"logp-lev-bfly", "logp-lev-bfly-all-to-all"}};

/// True for the comparisons that the paper makes: all algorithms for medium messages; message
/// combining and permutations for small ones; the butterfly and permutations for large ones.
bool is_worth_a_look(std::string_view algorithm, Bytes size) {
    const bool permutes = algorithm == "1-lev-xor";
    return size == 128 || (size == 16 && (permutes || algorithm == "2-lev-c_r")) ||
           (size == 4096 && (permutes || algorithm == "logp-lev-bfly"));
}

Result figure_11(Extent extent) {
    const Table table("c3_figure11_all_to_all_delta256_ms");
    Result result{"milliseconds, by bytes per message", {"simulated"}, {}, {}};
    std::map<std::pair<std::string_view, Bytes>, double> ours;
    for (std::size_t c = 1; c < table.columns().size(); ++c) {
        const std::string& bytes = table.columns()[c];
        const Bytes size = std::strtoll(bytes.c_str(), nullptr, 10);
        for (const Named& each : exchanges) {
            if (extent == Extent::quick && !is_worth_a_look(each.paper, size))
                continue;
            const double took = ours[{each.paper, size}] = all_to_all(each.ours, size);
            result.rows.push_back({fmt::format("{}, {}", each.paper, bytes),
                                   table.number(table.row_of(std::string(each.paper)), bytes),
                                   {took}});
        }
    }
    const auto at = [&](std::string_view algorithm, Bytes bytes) {
        return ours.at({algorithm, bytes});
    };
    const auto found = [&](std::string_view a, std::string_view b, Bytes bytes) {
        return fmt::format("{:.0f} and {:.0f} ms at {} bytes", at(a, bytes), at(b, bytes), bytes);
    };
    result.claims = {{"2-lev-c,r is faster than permutations for small messages",
                      at("2-lev-c_r", 128) < std::min(at("1-lev-xor", 128), at("1-lev-lin", 128)),
                      found("2-lev-c_r", "1-lev-xor", 128)},
                     {"2-lev-sq is slower than 2-lev-c,r",
                      at("2-lev-sq", 128) > at("2-lev-c_r", 128),
                      found("2-lev-sq", "2-lev-c_r", 128)},
                     {"logp-lev-bfly is expensive for large messages",
                      at("logp-lev-bfly", 4096) > 1.5 * at("1-lev-xor", 4096),
                      found("logp-lev-bfly", "1-lev-xor", 4096)}};
    if (extent == Extent::whole) {
        result.claims.push_back(
            {"exclusive-or permutations are faster than linear ones for large messages",
             at("1-lev-xor", 4096) < at("1-lev-lin", 4096), found("1-lev-xor", "1-lev-lin", 4096)});
    }
    return result;
}

constexpr std::string_view delta_setup =
    "links 11.77 MB/s, injection 10.9 MB/s; 100 us to send and 150 us to receive, fitted to 16 "
    "bytes of Figure 8";

constexpr Experiment experiments[] = {
    {"c3", "Figure 8", "one-to-all on 256 processors of the Delta", delta_setup,
     "the fluid network has no cost per byte at the processors, although a rank that halves and "
     "forwards data handles every byte; and it has no change of protocol, as the paper's direct "
     "sends seem to have at 256 bytes",
     figure_8},
    {"c3", "Figure 11", "all-to-all on 256 processors of the Delta", delta_setup,
     "as for Figure 8, the fluid network has no cost per byte at the processors, although "
     "combining handles all bytes at every step; and it ignores that in a wormhole network a "
     "message blocks all links of its route while it waits for one, which slows linear "
     "permutations as their routes grow longer",
     figure_11}};

} // namespace

std::span<const Experiment> c3_paper() {
    return experiments;
}

namespace {

constexpr int processors = side * side;
constexpr double units_a_setup = 8;

/// A cost as counted by the C³ model: message set-ups, and units of time per byte of a message.
struct Charge {
    double setups = 0, per_byte = 0;

    double units(double bytes) const { return units_a_setup * setups + per_byte * bytes; }
};

/// The names of an algorithm in the paper and in our catalogue, and the cost printed in a figure.
struct Printed {
    std::string_view paper, ours;
    Charge charge;
};

constexpr Printed printed_one_to_all[] = {{"1-lev-dir", "flat-scatter", {256, .55}},
                                          {"1-lev-br", "1-lev-br-broadcast", {8, 27}},
                                          {"2-lev-rec", "2-lev-rec-scatter", {32, 1.23}},
                                          {"3-lev-sq", "3-lev-sq-scatter", {24, .93}},
                                          {"logp-lev-sq", "logp-lev-sq-scatter", {8, 5.29}}};

constexpr Printed printed_all_to_all[] = {{"1-lev-direct", "1-lev-dir-all-to-all", {256, 14}},
                                          {"1-lev-xor", "1-lev-xor-all-to-all", {256, 14}},
                                          {"2-lev-sq", "2-lev-sq-all-to-all", {33, 23}},
                                          {"2-lev-c_r", "2-lev-cr-all-to-all", {32, 23}},
                                          {"logp-lev-bfly", "logp-lev-bfly-all-to-all", {4, 28.5}}};

/// A figure: its algorithms, the grid for blocks of `bytes`, and the name of its table of
/// measurements.
struct Figure {
    std::span<const Printed> algorithms;
    Grid (*grid)(Elements bytes);
    const char* measured;
};

constexpr Figure figure_of_one_to_all{printed_one_to_all,
                                      [](Elements bytes) {
                                          return Grid{side, side * bytes, side, side};
                                      },
                                      "c3_figure8_one_to_all_delta256_ms"};
constexpr Figure figure_of_all_to_all{printed_all_to_all,
                                      [](Elements bytes) {
                                          return Grid{processors, processors * bytes, side, side};
                                      },
                                      "c3_figure11_all_to_all_delta256_ms"};

/// The Delta's profile with the additional distances in Figures 6 and 9: h = 5 for rows and columns
/// of 16, and 4/3 for pairs in recursive halving.
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

// Figures 7 and 10 of the C³ paper: predictions and measurements.

/// Measured times at one size: of the algorithm with the lowest C³ cost, and of the fastest.
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
    Result result{"milliseconds measured on the Delta", {"of the chosen algorithm"}, {}, {}};
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
        {"the model's choice is the algorithm measured to be the fastest",
         right == static_cast<int>(sizes),
         fmt::format("at {} of {} sizes; {:.1f} % lost on average, {:.1f} % at most", right, sizes,
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
    "schedules charged by C³ as in the paper: fractions of packets, and p instead of p - 1";
constexpr std::string_view chosen =
    "the paper plots predictions in units next to measurements; this table shows the measured time "
    "of the algorithm with the lowest predicted cost, where permutations are by exclusive-or only. "
    "Column \"paper\" is the best of the algorithms with predictions";
constexpr std::string_view no_barriers =
    "C³ charges supersteps one after another, and every permutation alike: it ignores overlap and "
    "that some permutations are cheap on a mesh";

constexpr Experiment charge_experiments[] = {
    {"c3", "Figure 6", "predicted cost of one-to-all", counted, "", figure_6},
    {"c3", "Figure 7", "one-to-all: predicted and measured", chosen, no_barriers, figure_7},
    {"c3", "Figure 9", "predicted cost of all-to-all", counted,
     "logp-lev-bfly has 8 supersteps and therefore 8 set-ups; the paper prints 4", figure_9},
    {"c3", "Figure 10", "all-to-all: predicted and measured", chosen, no_barriers, figure_10}};

} // namespace

std::span<const Experiment> c3_charges() {
    return charge_experiments;
}

} // namespace sextant::lab
