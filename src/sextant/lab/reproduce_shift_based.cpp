// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/reproduce_shift_based.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/model/model.hpp"
#include "sextant/simulate/platform.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace sextant::lab {

std::vector<int> loads(const simulate::Network& network, std::span<const HostMessage> flows) {
    std::vector<int> loads(network.links.size());
    for (const HostMessage& flow : flows) {
        for (const int link : simulate::path_of(network, flow.from, flow.to))
            ++loads[static_cast<std::size_t>(link)];
    }
    return loads;
}

double mean_share(const simulate::Network& network, std::span<const HostMessage> flows) {
    const std::vector<int> all = loads(network, flows);
    double sum = 0;
    for (const HostMessage& flow : flows) {
        int busiest = 1;
        for (const int link : simulate::path_of(network, flow.from, flow.to))
            busiest = std::max(busiest, all[static_cast<std::size_t>(link)]);
        sum += 1.0 / busiest;
    }
    return flows.empty() ? 1 : sum / static_cast<double>(flows.size());
}

namespace {

// Table 1 of the Shift-Based paper.

/// The largest number of messages that a rank sends, and the largest number of pixels in units of
/// one image, as counted in the paper.
struct Costs {
    double messages = 0, images = 0;
};

Costs counted(const std::string& algorithm, int ranks, const std::vector<int>& radices) {
    constexpr Elements pixels = 1 << 20;
    Costs most;
    for (const Program& program : compositing_schedule(algorithm, ranks, pixels, radices)) {
        Costs own;
        for (const Step& step : program.steps) {
            if (step.verb != Verb::send)
                continue;
            ++own.messages;
            own.images += static_cast<double>(program.elements_of(step)) / pixels;
        }
        most.messages = std::max(most.messages, own.messages);
        most.images = std::max(most.images, own.images);
    }
    return most;
}

Result table_1(Extent) {
    constexpr int ranks = 64;
    const double log = std::countr_zero(unsigned{ranks}), all = ranks - 1;
    const double part = all / ranks;
    Result result{"messages or images sent per rank, 64 ranks", {"counted"}, {}, {}};
    const auto row = [&](const char* algorithm, double messages, double images,
                         const std::vector<int>& radices = {}) {
        const Costs own = counted(algorithm, ranks, radices);
        result.rows.push_back({fmt::format("{}, messages", algorithm), messages, {own.messages}});
        result.rows.push_back({fmt::format("{}, images", algorithm), images, {own.images}});
    };
    row("direct-send", all, part);
    row("binary-swap", log, part);
    row("two-three-swap", 4 * log, 1.3 * part);
    row("radix-k", 7 + 7, part, {8, 8});
    row("parallel-pipeline", all, part);
    row("shift-based", all, part);
    return result;
}

// Figures 4 to 7 and 9 of the Shift-Based paper.

/// Frame rates of one of the paper's cases by three models: fluid without blending cost, fluid with
/// blending, and calibrated.
std::vector<double> frame_rates(const std::string& algorithm, int nodes, const std::string& order,
                                Elements pixels) {
    const bool crossbar = order == "crossbar";
    const std::string fluid = crossbar ? "crossbar-12" : "fat-tree-144";
    const std::string file = order == "alphabetical" ? "fat-tree-144-alphabetical" : "";
    const auto rate = [&](const Setting& setting) {
        return 1 / composite(algorithm, nodes, pixels, setting);
    };
    return {rate({fluid, file}), rate({fluid, file, 120e6}), rate({fluid + "-calibrated", file})};
}

Result frame_rate_figures(Extent) {
    const Table table("shift_based_frame_rates");
    Result result{
        "frames per second", {"fluid, blending free", "fluid, 120 Mpx/s", "calibrated"}, {}, {}};
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const std::string &algorithm = table.text(i, "algorithm"), &order = table.text(i, "order");
        const auto number = [&](const char* column) {
            return static_cast<Elements>(table.number(i, column).value());
        };
        const auto nodes = static_cast<int>(number("nodes"));
        result.rows.push_back(
            {fmt::format("{}, {} nodes, {}, {}x{}", algorithm, nodes, order, number("width"),
                         number("height")),
             table.number(i, "frames_per_second"),
             frame_rates(algorithm, nodes, order, number("width") * number("height"))});
    }
    return result;
}

// Figure 8 of the Shift-Based paper.

double shift_rate(int nodes, Elements pixels = 8 * mega) {
    return 1 / composite("shift-based", nodes, pixels, {"fat-tree-144-calibrated"});
}

Result figure_8(Extent extent) {
    Result result{"frames per second, calibrated", {"2048x2048", "4096x2048", "4096x4096"}, {}, {}};
    std::vector<int> counts{12, 24, 36, 60, 61, 71, 72, 100, 131, 132, 144};
    if (extent == Extent::whole) {
        counts.resize(133);
        std::iota(counts.begin(), counts.end(), 12);
    }
    double lowest_peak = 1e9, highest_other = 0;
    for (const int nodes : counts) {
        const Row row{
            fmt::format("{} nodes", nodes),
            {},
            {shift_rate(nodes, 4 * mega), shift_rate(nodes), shift_rate(nodes, 16 * mega)}};
        if (nodes % 12 == 0)
            lowest_peak = std::min(lowest_peak, row.ours[1]);
        else if (nodes > 12)
            highest_other = std::max(highest_other, row.ours[1]);
        result.rows.push_back(row);
    }
    result.claims.push_back(
        {"frame rates peak at multiples of 12 and nowhere else", lowest_peak > highest_other,
         fmt::format("lowest at a multiple of 12: {:.1f}, highest elsewhere: {:.1f}", lowest_peak,
                     highest_other)});
    return result;
}

// The effect of routing, which goes beyond the paper's experiments.

simulate::Network network(const std::string& platform) {
    return simulate::read_platform(machine::shared_file(simulate::platforms, platform)).network;
}

/// The mean fraction of a link's bandwidth that random pairs of hosts get.
double bisection(const std::string& platform) {
    const simulate::Network tree = network(platform);
    std::mt19937_64 draw(1);
    std::vector<int> hosts(tree.hosts.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    double sum = 0;
    constexpr int trials = 50;
    for (int trial = 0; trial < trials; ++trial) {
        for (std::size_t i = hosts.size(); i > 1; --i)
            std::swap(hosts[i - 1], hosts[draw() % i]);
        std::vector<HostMessage> flows;
        for (std::size_t i = 0; i + 1 < hosts.size(); i += 2) {
            flows.push_back({hosts[i], hosts[i + 1]});
            flows.push_back({hosts[i + 1], hosts[i]});
        }
        sum += mean_share(tree, flows);
    }
    return sum / trials;
}

Result random_bisection(Extent) {
    Result result{
        "fraction of a cable's bandwidth between random pairs of hosts", {"counted"}, {}, {}};
    for (const auto& [label, platform] :
         {std::pair("144 hosts, d-mod-k", "fat-tree-144-calibrated"),
          std::pair("144 hosts, random routes", "fat-tree-144-random"),
          std::pair("1,728 hosts, d-mod-k", "fat-tree-1728")})
        result.rows.push_back({label, .575, {bisection(platform)}});
    return result;
}

Result routings(Extent extent) {
    Result result{"frames per second, fluid network, 4096x2048, free blending",
                  {"shift-based", "radix-k"},
                  {},
                  {}};
    if (extent == Extent::whole)
        result.columns.push_back("direct-send");
    for (const auto& [platform, nodes] :
         {std::pair("fat-tree-144", 144), std::pair("fat-tree-144-min-hop", 144),
          std::pair("fat-tree-144-random", 144), std::pair("fat-tree-120-partly-filled", 120)}) {
        Row row{fmt::format("{}, {} nodes", platform, nodes), {}, {}};
        for (const std::string& algorithm : result.columns) {
            const bool has_radices = algorithm == "radix-k";
            row.ours.push_back(
                1 / composite(algorithm, nodes, 8 * mega, {platform},
                              has_radices ? std::vector{12, nodes / 12} : std::vector<int>{}));
        }
        result.rows.push_back(row);
    }
    return result;
}

/// The largest number of messages that share a link in any round of Binary-Swap.
int most_met_in_binary_swap(const std::string& platform, int ranks) {
    const simulate::Network tree = network(platform);
    int most = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        std::vector<HostMessage> flows;
        for (int rank = 0; rank < ranks; ++rank)
            flows.push_back({rank, rank ^ distance});
        const std::vector<int> loads = lab::loads(tree, flows);
        most = std::max(most, *std::max_element(loads.begin(), loads.end()));
    }
    return most;
}

Result binary_swap_routing(Extent) {
    constexpr int ranks = 128;
    Result result{"maximum number of messages of a round on one cable", {"counted"}, {}, {}};
    for (const char* platform : {"fat-tree-144-calibrated", "fat-tree-144-binary-swap"}) {
        result.rows.push_back({platform, {}, {double(most_met_in_binary_swap(platform, ranks))}});
    }
    result.claims.push_back(
        {"some static routing lets Binary-Swap run without contention",
         result.rows.back().ours.back() == 1,
         "with the table of fat-tree-144-binary-swap, 128 ranks in order have no contention"});
    return result;
}

constexpr std::string_view paper = "shift-based";
constexpr Experiment experiments[] = {
    {paper, "Table 1", "messages and images sent by each algorithm",
     "counted on the schedules; 2-3 Swap: the paper's upper bound for numbers that are not powers "
     "of two",
     "2-3 Swap on a power of two is Binary-Swap, below the bound; Parallel Pipeline here keeps the "
     "order of operands, so results that cross the end of its ring are sent in pairs",
     table_1},
    {paper, "Figures 4-7, 9", "frame rates on a crossbar and a fat-tree",
     "16 bytes per pixel, 1827 MB/s per cable; calibrated: a loss of capacity if flows share a "
     "cable, and 130 Mpx/s, both fitted to 12 nodes",
     "a fluid network shares cables without loss, so that the order of hosts matters less for "
     "Direct-Send; the loss is fitted to one crossbar only",
     frame_rate_figures, true},
    {paper, "Figure 8", "frame rates by number of nodes", "calibrated as for Figures 4-7 and 9",
     "with 13 to 22 nodes, on two leaf switches, rates are as high as at multiples of 12, because "
     "the second switch has so few hosts that the messages of a shift do not share cables",
     figure_8},
    {paper, "section 2.1.3", "random bisection",
     "links are counted, not simulated; 55 to 60 % is from Hoefler et al. 2008",
     "144 hosts are a small cluster, with fewer messages per cable", random_bisection},
    {paper, "beyond", "routing and partly filled leaves", "fluid network without fitted parameters",
     "", routings, true},
    {paper, "section 4", "a routing for Binary-Swap", "links are counted, not simulated", "",
     binary_swap_routing}};

} // namespace

std::span<const Experiment> shift_based_paper() {
    return experiments;
}

namespace {

constexpr Bytes pixel = 16;

// Figures 2 and 3 of the Shift-Based paper.

/// An algorithm, the number of messages in Table 1 that the figures plot, and whether its stages
/// are free of link contention on a fat-tree.
struct Term {
    const char* algorithm;
    double (*messages)(int ranks);
    bool keeps_apart;
};

double all_others(int ranks) {
    return ranks - 1;
}
double halvings(int ranks) {
    return std::countr_zero(static_cast<unsigned>(ranks));
}

constexpr Term terms[] = {{"binary-swap", halvings, false},
                          {"direct-send", all_others, false},
                          {"parallel-pipeline", all_others, true},
                          {"shift-based", all_others, true}};

constexpr Elements figure_pixels = 16 * mega;

/// The time in milliseconds by the formulas of Table 1, with 1 us per message, .53 ns per byte, and
/// 30 % less bandwidth under contention.
double by_formula(const Term& term, int ranks, bool fat_tree) {
    const double beta = .53e-9 / (fat_tree && !term.keeps_apart ? .7 : 1);
    const double bytes = static_cast<double>(figure_pixels * pixel) * (ranks - 1) / ranks;
    return 1e3 * (1e-6 * term.messages(ranks) + beta * bytes);
}

Schedule schedule_of(const Term& term, int ranks) {
    Schedule schedule = compositing_schedule(term.algorithm, ranks, figure_pixels);
    for (Program& program : schedule) {
        if (term.keeps_apart)
            program.window = 1;
    }
    return schedule;
}

/// The time in milliseconds that the Hockney model predicts for the schedule, without link
/// contention.
double replayed(const Term& term, int ranks) {
    static const machine::Profile infiniband = machine_of_paper("ddr-infiniband");
    const Schedule schedule = schedule_of(term, ranks);
    return 1e3 * model::find("hockney")
                     .predict({.schedule = schedule, .machine = infiniband, .element_size = pixel})
                     .seconds;
}

double on_fat_tree(const Term& term, int ranks) {
    const Setting setting{.platform = "fat-tree-144-calibrated", .blend_rate = 1e15};
    return 1e3 * run(schedule_of(term, ranks), pixel, setting).seconds;
}

Result theory(bool fat_tree) {
    Result result{"milliseconds of communication, 4096x4096", {}, {}, {}};
    result.columns = {fat_tree ? "simulated" : "replayed"};
    for (const int ranks : {16, 64, 128}) {
        for (const Term& term : terms) {
            result.rows.push_back({fmt::format("{}, {} nodes", term.algorithm, ranks),
                                   by_formula(term, ranks, fat_tree),
                                   {fat_tree ? on_fat_tree(term, ranks) : replayed(term, ranks)}});
        }
    }
    return result;
}

Result figure_2(Extent) {
    return theory(false);
}

Result figure_3(Extent) {
    return theory(true);
}

// The bandwidth matrices in Figures 4 to 7 and 9 of the Shift-Based paper.

/// The bandwidth of each message in MB/s; its time starts when the receiver is ready.
std::vector<double> bandwidths(const Trace& trace) {
    std::vector<double> all;
    for (const Event& event : trace.events) {
        if (event.activity == Activity::receive)
            all.push_back(1e-6 * static_cast<double>(event.elements * pixel) /
                          (event.end - event.begin));
    }
    return all;
}

Row bandwidths_of(const Table& table, std::size_t row) {
    const std::string &algorithm = table.text(row, "algorithm"), &order = table.text(row, "order");
    const auto number = [&](const char* column) {
        return static_cast<Elements>(table.number(row, column).value());
    };
    const auto nodes = static_cast<int>(number("nodes"));
    const Setting setting{.platform = order == "crossbar" ? "crossbar-12-calibrated"
                                                          : "fat-tree-144-calibrated",
                          .order = order == "alphabetical" ? "fat-tree-144-alphabetical" : "",
                          .timeline = true};
    const Elements pixels = number("width") * number("height");
    const std::vector<double> all =
        bandwidths(run(compositing_schedule(algorithm, nodes, pixels), pixel, setting).timeline);
    const double mean =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    return {fmt::format("{}, {} nodes, {}, {}x{}", algorithm, nodes, order, number("width"),
                        number("height")),
            table.number(row, "mean_bandwidth_MBps"),
            {quantile(all, .1), quantile(all, .9), mean}};
}

Result matrices(Extent) {
    const Table table("shift_based_frame_rates");
    Result result{
        "MB/s of a message, calibrated", {"10th percentile", "90th percentile", "mean"}, {}, {}};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (table.number(row, "mean_bandwidth_MBps"))
            result.rows.push_back(bandwidths_of(table, row));
    }
    return result;
}

constexpr Experiment bandwidth_experiments[] = {
    {paper, "Figure 2", "communication on an ideal crossbar",
     "Table 1 with 1 us per message and .53 ns per byte, compared with schedules evaluated by "
     "Hockney's model with the same parameters; blending is free",
     "Direct-Send as published sends to rank 0 first, then to rank 1: because a port receives one "
     "message at a time, other messages wait, which the formula ignores. Parallel Pipeline sends "
     "nearly twice as much data to keep the order of operands",
     figure_2},
    {paper, "Figure 3", "communication on a fat-tree",
     "the paper expects 30 % less bandwidth under contention; our times are simulated on the "
     "calibrated 12-ary 2-tree; blending is free, and shifts and the pipeline run stage by stage",
     "shifts avoid contention only at multiples of 12, which 16, 64 and 128 are not: with these, "
     "contention slows shifts as in Figures 8 and 9; it slows Direct-Send more than the paper "
     "expects, but as much as the paper measured; Parallel Pipeline sends nearly twice as much, as "
     "for Figure 2",
     figure_3},
    {paper, "Figures 4-7, 9: matrices", "bandwidths of messages",
     "the paper shows matrices and histograms, and prints means; our messages are timed from when "
     "a receiver asks for them, on a network calibrated as for the frame rates of Figures 4-7 and "
     "9",
     "the paper does not state when its timing of a message starts; a network without noise shows "
     "a few "
     "sharp bandwidths where the paper's histograms are broad",
     matrices}};

} // namespace

std::span<const Experiment> shift_based_bandwidths() {
    return bandwidth_experiments;
}

} // namespace sextant::lab
