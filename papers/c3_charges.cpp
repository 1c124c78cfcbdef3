// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "papers/c3.hpp"
#include "papers/experiments.hpp"
#include "papers/simulated_delta.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

constexpr int side = 16;
constexpr int processors = side * side;
constexpr double units_a_setup = 8;

/// A cost counted by the C³ model: message set-ups, and units of time per byte of a message.
struct Charge {
    double setups = 0, per_byte = 0;

    double units(double bytes, double setup = units_a_setup) const {
        return setup * setups + per_byte * bytes;
    }
};

/// An algorithm's name in the paper and in our catalogue, and the cost printed in a figure.
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

} // namespace

model::Units charge_of(std::string_view algorithm, std::optional<double> parameter) {
    constexpr Elements bytes = 512;
    const collective::Algorithm& row = collective::find(algorithm);
    const Grid grid = row.what == CollectiveKind::all_to_all ? figure_of_all_to_all.grid(bytes)
                                                             : figure_of_one_to_all.grid(bytes);
    const Schedule schedule = make_schedule(processors, [&](int rank) {
        return parameter ? row.program_with(grid, rank, *parameter) : row.program(grid, rank);
    });
    static const machine::Profile delta = delta_of_figures();
    model::Units all;
    for (const model::RoundCharge& round :
         model::charges({.schedule = schedule, .machine = delta, .element_size = 1},
                        as_the_c3_paper_reads(grid)))
        all = all + round.communication;
    all.packets /= bytes;
    return all;
}

namespace {

Charge charged(const Printed& algorithm) {
    const model::Units units = charge_of(algorithm.ours);
    return {units.setups, units.packets};
}

Result charges(const Figure& figure) {
    Result result{"communication units, 256 processors", {"charged"}};
    for (const Printed& each : figure.algorithms) {
        const Charge ours = charged(each);
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

/// The charge of a butterfly that divides the machine into four parts in each of 4 supersteps, so
/// that each processor sends a quarter of its data to each of 3 others.
Charge four_way_butterfly() {
    const machine::Profile delta = delta_of_figures();
    const model::C3Reading reading{model::Counting::paper, true, {}};
    Charge all;
    for (int width = side; width > 1; width /= 2) {
        const int size = width * width;
        model::Superstep superstep{
            model::wiring_of({0, 0, width, width}, delta.c3->topology, *delta.c3, reading),
            size,
            {}};
        for (int from = 0; from < size; ++from) {
            for (const int quarter : {1, 2, 3})
                superstep.messages[{from, from ^ quarter}] = processors / 4 * delta.c3->packet;
        }
        const model::Units units = model::charge(superstep, *delta.c3, model::Counting::exact);
        all.setups += units.setups;
        all.per_byte += units.packets / static_cast<double>(delta.c3->packet);
    }
    return all;
}

Result figure_9(Extent) {
    Result result = charges(figure_of_all_to_all);
    const Charge in_fours = four_way_butterfly();
    const Charge halves = charged(printed_all_to_all[4]);
    const auto is_printed = [](const Charge& charge) {
        return charge.setups == 4 && std::abs(charge.per_byte / 28.5 - 1) < .01;
    };
    result.claims.push_back(
        {"logp-lev-bfly has 4 set-ups and costs 28.5 units per byte",
         is_printed(halves) || is_printed(in_fours),
         fmt::format("halving in 8 supersteps has {:.0f} set-ups and costs {:.1f} units per byte; "
                     "dividing into four parts in 4 supersteps has {:.0f} set-ups and costs {:.1f}",
                     halves.setups, halves.per_byte, in_fours.setups, in_fours.per_byte)});
    return result;
}

// The computation units of Figures 6, 9 and 14.

/// The number of bytes that a processor handles in all supersteps, for messages of one byte. Each
/// superstep counts its busiest processor.
struct Touched {
    /// If messages are combined: the data that a processor holds when it sends, and then divides
    /// into messages and a rest. Otherwise: the messages that it sends or receives.
    double held = 0;
    double received = 0; ///< received messages only
};

/// Counts bytes on a schedule whose elements are bytes and whose messages do not copy data.
Touched touched(const Schedule& schedule) {
    struct Amounts {
        double sent = 0, received = 0;
        bool combines = false;
    };
    std::map<int, std::map<int, Amounts>> rounds; // by round and rank
    std::map<int, double> held;
    for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
        const Program& program = schedule[static_cast<std::size_t>(rank)];
        for (const BufferSpec& buffer : program.buffers)
            held[rank] += buffer.role == Role::input ? static_cast<double>(buffer.size) : 0;
        for (const Step& step : program.steps) {
            if (!is_message(step.verb))
                continue;
            Amounts& amounts = rounds[step.round][rank];
            const auto bytes = static_cast<double>(program.elements_of(step));
            (step.verb == Verb::send ? amounts.sent : amounts.received) += bytes;
            amounts.combines = amounts.combines || (step.verb == Verb::send && bytes > 1);
        }
    }
    Touched all;
    for (const auto& [round, ranks] : rounds) {
        double most_held = 0, most_received = 0;
        for (const auto& [rank, amounts] : ranks) {
            const double alone = amounts.sent > 0 ? amounts.sent : amounts.received;
            most_held = std::max(most_held, amounts.combines ? held[rank] : alone);
            most_received = std::max(most_received, amounts.received);
            held[rank] += amounts.received - amounts.sent;
        }
        all.held += most_held;
        all.received += most_received;
    }
    return all;
}

/// Adds the rows of one figure: the bytes handled, in packets of 512 bytes.
void add_computation(Result& result, const char* figure, const Figure& of,
                     const std::map<std::string_view, double>& printed) {
    for (const Printed& each : of.algorithms) {
        const Grid grid = of.grid(1);
        const collective::Algorithm& algorithm = collective::find(each.ours);
        Touched bytes = touched(
            make_schedule(processors, [&](int rank) { return algorithm.program(grid, rank); }));
        if (each.paper == "1-lev-br")    // the source concatenates all messages, and each rank
            bytes.held = 2 * processors; // extracts its own message; forwarding costs nothing
        result.rows.push_back({fmt::format("Figure {}, {}", figure, each.paper),
                               printed.at(each.paper),
                               {bytes.held / 512, bytes.received / 512}});
    }
}

/// The lists merged in Figure 14, in units of one tile's list. The list of a square of 2^j x 2^j
/// tiles is as long as 2^j such lists, and that of a row of 16 tiles as 8.5.
void add_contour_computation(Result& result) {
    const double quads = 4 * (1 + 2 + 4 + 8);
    struct Lists {
        const char* pattern;
        double printed, merged;
    };
    for (const Lists& each :
         {Lists{"1-lev-dir", 1.5, processors}, Lists{"2-lev-rc", .84, side + side * 8.5},
          Lists{"logp-lev-quad", .1, quads}, Lists{"logp-lev-bal", .11, quads}}) {
        result.rows.push_back({fmt::format("Figure 14, {}", each.pattern),
                               each.printed,
                               {3 * each.merged / 512, each.merged / 512}});
    }
}

bool agrees(const Row& row, double ours) {
    return verdict({row.label, row.theirs, {ours}}) == "agrees";
}

Result computation(Extent) {
    Result result{
        "computation units per byte, 256 processors",
        {"all data held, or three accesses", "data received, or one access", "the closer of both"}};
    add_computation(result, "6", figure_of_one_to_all,
                    {{"1-lev-dir", 1. / 512},
                     {"1-lev-br", 1},
                     {"2-lev-rec", 1. / 32},
                     {"3-lev-sq", 1. / 25},
                     {"logp-lev-sq", 1}});
    add_computation(result, "9", figure_of_all_to_all,
                    {{"1-lev-direct", .5},
                     {"1-lev-xor", .5},
                     {"2-lev-sq", 1.5},
                     {"2-lev-c_r", 1},
                     {"logp-lev-bfly", 4}});
    add_contour_computation(result);
    int first = 0, second = 0;
    for (Row& row : result.rows) {
        const auto off = [&](double ours) { return std::abs(std::log(ours / *row.theirs)); };
        first += agrees(row, row.ours[0]);
        second += agrees(row, row.ours[1]);
        row.ours.push_back(off(row.ours[0]) < off(row.ours[1]) ? row.ours[0] : row.ours[1]);
    }
    const auto all = static_cast<int>(result.rows.size());
    result.claims.push_back(
        {"one rule of counting gives all computation units", std::max(first, second) == all,
         fmt::format("the first gives {} of {}, the second {}", first, all, second)});
    return result;
}

// Figures 7 and 10 of the C³ paper: predictions and measurements.

/// The predicted time of an algorithm of a figure, in any unit, by message size.
using Predicted = std::function<double(std::size_t algorithm, Bytes bytes)>;

/// The measured times of two algorithms at one size: the one with the lowest predicted time, and
/// the fastest.
struct Choice {
    std::string_view chosen, best;
    double chosen_time = 0, best_time = 0;

    bool right() const { return chosen == best; }
    double regret() const { return chosen_time / best_time - 1; }
};

Choice choice_at(Bytes bytes, const Figure& figure, const Predicted& predicted) {
    const Table table(figure.measured);
    Choice choice;
    double least = 0;
    for (std::size_t i = 0; i < figure.algorithms.size(); ++i) {
        const std::string_view name = figure.algorithms[i].paper;
        const auto time = table.number(table.row_of(std::string(name)), fmt::format("{}", bytes));
        if (!time)
            continue;
        const double own = predicted(i, bytes);
        if (choice.chosen.empty() || own < least) {
            least = own;
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

/// A claim about the choices at all sizes.
Claim chooses_best(std::string text, const std::vector<Choice>& choices) {
    int right = 0;
    double sum = 0, worst = 0;
    for (const Choice& each : choices) {
        right += each.right();
        sum += each.regret();
        worst = std::max(worst, each.regret());
    }
    const auto sizes = static_cast<int>(choices.size());
    return {std::move(text), right == sizes,
            fmt::format("at {} of {} sizes; {:.1f} % lost on average, {:.1f} % at most", right,
                        sizes, 100 * sum / sizes, 100 * worst)};
}

Result choices(const Figure& figure, bool simulates) {
    std::vector<Charge> ours;
    for (const Printed& each : figure.algorithms)
        ours.push_back(charged(each));
    const auto charged_with = [&](double setup) -> Predicted {
        return [&ours, setup](std::size_t i, Bytes bytes) {
            return ours[i].units(static_cast<double>(bytes), setup);
        };
    };
    const Predicted simulated = [&](std::size_t i, Bytes bytes) {
        return fitted_milliseconds(figure.algorithms[i].ours, bytes);
    };
    const Table table(figure.measured);
    Result result{"milliseconds measured on the Delta", {"chosen by C³"}};
    if (simulates)
        result.columns.emplace_back("chosen by simulation");
    constexpr double setup_of_cycles = 35 / 40.96; // 1400 cycles at 40 MHz, in packets
    std::vector<Choice> by_charge, by_other_setup, by_simulation;
    for (std::size_t c = 1; c < table.columns().size(); ++c) {
        const Bytes bytes = std::strtoll(table.columns()[c].c_str(), nullptr, 10);
        const Choice choice = choice_at(bytes, figure, charged_with(units_a_setup));
        by_charge.push_back(choice);
        by_other_setup.push_back(choice_at(bytes, figure, charged_with(setup_of_cycles)));
        Row row{fmt::format("{} bytes: C³ chooses {}, best {}", bytes, choice.chosen, choice.best),
                choice.best_time,
                {choice.chosen_time}};
        if (simulates) {
            by_simulation.push_back(choice_at(bytes, figure, simulated));
            row.ours.push_back(by_simulation.back().chosen_time);
        }
        result.rows.push_back(std::move(row));
    }
    result.claims.push_back(
        chooses_best("the model's choice is the algorithm measured to be the fastest", by_charge));
    result.claims.push_back(
        chooses_best("with s = 0.854, which follows from 1400 cycles, it is", by_other_setup));
    if (simulates)
        result.claims.push_back(chooses_best("the choice of the simulation is", by_simulation));
    return result;
}

Result figure_7(Extent) {
    return choices(figure_of_one_to_all, true);
}

/// All-to-alls are simulated only for `Extent::whole`, because they take 20 s.
Result figure_10(Extent extent) {
    return choices(figure_of_all_to_all, extent == Extent::whole);
}

// Section 4.2: the charges of all-to-one algorithms.

Result charges_of_gathers(Extent) {
    Result result{"communication units per byte, 256 processors",
                  {"of messages received", "charged for all-to-one"}};
    constexpr std::pair<const char*, const char*> gathers[] = {
        {"1-lev-dir", "flat-gather"},
        {"2-lev-rec", "2-lev-rec-gather"},
        {"3-lev-sq", "3-lev-sq-gather"},
        {"logp-lev-sq", "logp-lev-sq-gather"}};
    double least = 1, most = 0;
    for (const auto& [paper, ours] : gathers) {
        const auto printed =
            std::find_if(std::begin(printed_one_to_all), std::end(printed_one_to_all),
                         [&paper = paper](const Printed& each) { return each.paper == paper; });
        const collective::Algorithm& algorithm = collective::find(ours);
        const Grid grid = figure_of_one_to_all.grid(1);
        const double received =
            touched(
                make_schedule(processors, [&](int rank) { return algorithm.program(grid, rank); }))
                .received /
            512;
        const double all = charge_of(ours).packets;
        least = std::min(least, received / all);
        most = std::max(most, received / all);
        result.rows.push_back({fmt::format("{}, paper: one-to-all", paper),
                               printed->charge.per_byte,
                               {received, all}});
    }
    const double to_one = charge_of("flat-gather").setups,
                 to_all = charge_of("flat-scatter").setups;
    result.claims = {
        {"the charge of 1-lev-dir for all-to-one has one set-up, compared to p - 1 for one-to-all",
         to_one == 1 && to_all >= processors - 1,
         fmt::format("{:.0f} and {:.0f}: the busiest processor only receives", to_one, to_all)},
        {"for all all-to-one algorithms, receive times are the dominating terms", least > .5,
         fmt::format("they are {:.0f} to {:.0f} % of the charge; the rest is congestion",
                     100 * least, 100 * most)}};
    return result;
}

constexpr std::string_view counted =
    "schedules charged by C³ as in the paper: fractions of packets, and p instead of p - 1";
constexpr std::string_view chosen =
    "the paper plots predictions in units next to measurements; this table shows the measured time "
    "of the algorithm with the lowest predicted cost, where permutations are by exclusive-or only. "
    "Column \"paper\" is the best of the algorithms with predictions; the simulation is that of "
    "Figures 8 and 11";
constexpr std::string_view counting_rules =
    "two rules. Figures 6 and 9: in a superstep that combines messages, a processor touches all "
    "data that it holds, otherwise the messages that it sends; or it touches only what it "
    "receives. In 1-lev-br, the source concatenates and the others extract. Figure 14: each byte "
    "of the merged lists is accessed three times, or once";
constexpr std::string_view no_barriers =
    "C³ charges supersteps one after another, and has no costs of packing and copying. The "
    "simulation, which has both, chooses better; another set-up cost does not";

constexpr Experiment charge_experiments[] = {
    {"c3", "Figure 6", "predicted cost of one-to-all", counted, "", figure_6},
    {"c3", "Figure 7", "one-to-all: predicted and measured", chosen, no_barriers, figure_7,
     Basis::own},
    {"c3", "Figure 9", "predicted cost of all-to-all", counted,
     "logp-lev-bfly has 8 supersteps and therefore 8 set-ups; the paper prints 4, which no number "
     "of supersteps gives together with its 28.5 units per byte",
     figure_9},
    {"c3", "Figures 6, 9, 14", "computation units", counting_rules,
     "the paper does not count by one rule. For logp-lev-sq, 1-lev-br and logp-lev-bfly, it counts "
     "all data that a processor holds; for 2-lev-rec and 3-lev-sq, only the data that the leaders "
     "receive, not the data that the source divides. In Figure 14, it counts three accesses per "
     "byte for 1-lev-dir and 2-lev-rc, and one for the others. Each figure follows from one of two "
     "rules, as the last column shows",
     computation, Basis::fitted},
    {"c3", "Figure 10", "all-to-all: predicted and measured", chosen, no_barriers, figure_10,
     Basis::own},
    {"c3", "section 4.2: charges", "predicted cost of all-to-one", counted,
     "by the definition of C³, the charge is that of the busiest processor, which only receives; "
     "and where messages are combined, most of the charge is congestion",
     charges_of_gathers}};

} // namespace

constinit const std::span<const Experiment> c3_charges = charge_experiments;

} // namespace sextant::papers
