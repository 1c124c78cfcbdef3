// SPDX-License-Identifier: BSD-3-Clause
// The messages of the P-3PC paper: the costs in Table 1, single messages in Figure 2, and the sizes
// that section 4 and 5 state.
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "papers/p3pc.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

using machine::Layout;
using machine::Path;

constexpr Elements K = 1024;

// Table 1.

struct TableColumn {
    const char* heading;
    Elements values;
};

constexpr TableColumn table_columns[] = {
    {"0", 0}, {"1K", K}, {"50K", 50 * K}, {"100K", 100 * K}, {"500K", 500 * K}};

constexpr Path paths[] = {Path::send, Path::receive, Path::full};
constexpr Layout all_layouts[] = {Layout::cc, Layout::cn, Layout::nc, Layout::nn};

/// The DAS profile in which an empty message of any layout costs as much as an empty contiguous
/// one.
machine::Profile with_one_constant() {
    machine::Profile profile = machine_of_paper("das");
    machine::LinkCosts& link = profile.links.at(0);
    for (machine::Curve& curve : link.curves) {
        const auto* contiguous =
            machine::find(link, curve.path, Layout::cc, machine::Strategy::contiguous);
        curve.points.front().seconds = contiguous->points.front().seconds;
    }
    return profile;
}

/// The largest relative change of an estimate of Figure 6 for 512 x 512 pixels on 16 ranks if empty
/// messages cost the same in all layouts.
double effect_of_constants() {
    const DasCosts T, one(with_one_constant());
    double most = 0;
    for (const Grid& grid : das_grids) {
        for (const DasOperation& what : das_operations()) {
            const auto estimated = [&](const DasCosts& costs) {
                if (what.collective.empty())
                    return border_published(costs, grid, what.margin());
                const Layout strided = what.side == Path::send ? Layout::nc : Layout::cn;
                return (what.is("flat") ? flat_tree : binomial_tree)(costs, grid, what.side,
                                                                     strided);
            };
            most = std::max(most, std::abs(estimated(one) / estimated(T) - 1));
        }
    }
    return most;
}

Result table_1_of_p3pc(Extent) {
    const Table table("p3pc_table1_das_us");
    const DasCosts T;
    Result result{"microseconds on DAS, by path, layout and values", {"machines/das.json"}};
    std::size_t line = 0;
    double least = std::numeric_limits<double>::max(), most = 0;
    for (const Path path : paths) {
        for (const Layout layout : all_layouts) {
            for (const TableColumn& column : table_columns) {
                const double ours = 1e3 * T(path, layout, column.values);
                result.rows.push_back({fmt::format("{}, {}, {}", machine::name(path),
                                                   machine::name(layout), column.heading),
                                       table.number(line, column.heading),
                                       {ours},
                                       column.values != 500 * K});
                if (path == Path::full && layout == Layout::nn && column.values > 0) {
                    const double excess = ours / (1e3 * T(path, Layout::cc, column.values));
                    least = std::min(least, excess);
                    most = std::max(most, excess);
                }
            }
            ++line;
        }
    }
    const double effect = effect_of_constants();
    result.claims = {
        {"transmitting noncontiguous data indeed has a significant impact on performance",
         least > 1.5,
         fmt::format("the full path takes {:.2f} to {:.2f} times as long if both sides are "
                     "noncontiguous",
                     least, most)},
        {"these additional [m = 0] values do not affect the estimations presented in this section "
         "in any way",
         effect == 0,
         fmt::format("with one value for all layouts, an estimate changes by at most {:.2f} %: "
                     "costs of messages of fewer than 1K values are interpolated from m = 0",
                     100 * effect)}};
    return result;
}

// Figure 2.

struct NamedLayout {
    std::string_view name;
    Layout layout;
    bool sender_strided, receiver_strided;
};

constexpr NamedLayout named_layouts[] = {{"cc", Layout::cc, false, false},
                                         {"cn", Layout::cn, false, true},
                                         {"nc", Layout::nc, true, false},
                                         {"nn", Layout::nn, true, true}};

/// A schedule of one message; strided data has 100 blocks, as in the paper's measurements.
Schedule one_message(const NamedLayout& layout, Elements elements) {
    return make_schedule(2, [&](int rank) {
        constexpr Elements blocks = 100;
        const bool strided = rank == 0 ? layout.sender_strided : layout.receiver_strided;
        const Elements length = elements / blocks;
        ProgramBuilder builder;
        const Region whole = rank == 0 ? builder.input(2 * elements) : builder.output(2 * elements);
        const Region region = strided ? Region{whole.buffer, 0, length, 2 * length, blocks}
                                      : block(whole.buffer, 0, length * blocks);
        if (rank == 0)
            builder.send(1, region);
        else
            builder.receive(0, region);
        return builder.finish(region);
    });
}

/// The DAS profile in which senders and receivers are busy for at most the full path.
machine::Profile with_short_sides() {
    machine::Profile profile = machine_of_paper("das");
    machine::LinkCosts& link = profile.links.at(0);
    for (machine::Curve& curve : link.curves) {
        const auto* full = machine::find(link, Path::full, curve.layout, curve.strategy);
        for (std::size_t i = 0; i < curve.points.size(); ++i) {
            const double most = full->points.at(i).seconds.median;
            curve.points[i].seconds =
                machine::exactly(std::min(curve.points[i].seconds.median, most));
        }
    }
    return profile;
}

/// The paper's claims about Figure 2, checked with the values of its Table 1.
std::vector<Claim> claims_of_figure_2() {
    const DasCosts T;
    const double sides = T(Path::full, Layout::cc, K) / T(Path::send, Layout::cc, K);
    const double strided = T(Path::full, Layout::nn, 500 * K) / T(Path::full, Layout::cc, 500 * K);
    const auto slope = [&](Elements from, Elements to) {
        return (T(Path::full, Layout::cc, to) - T(Path::full, Layout::cc, from)) /
               static_cast<double>(to - from);
    };
    const double bends = slope(100 * K, 500 * K) / slope(K, 50 * K);
    return {{"[between sending and the full path] latency differences can be significant",
             sides > 1.5, fmt::format("{:.2f} times at 1K values", sides)},
            {"the latency for communicating either contiguous or noncontiguous data may be "
             "significantly different",
             strided > 1.5, fmt::format("{:.2f} times at 500K values", strided)},
            {"nonlinearities may be quite significant", bends > 1.2,
             fmt::format("an additional value costs {:.2f} times as much beyond 100K as below 50K",
                         bends)}};
}

Result messages_of(std::span<const std::int64_t> values) {
    const machine::Profile das = machine_of_paper("das"), short_sides = with_short_sides();
    const DasCosts T;
    Result result{"microseconds of the full path",
                  {"LogGP*", "P-3PC, sides limited to the full path", "P-3PC"}};
    for (const NamedLayout& layout : named_layouts) {
        for (const Elements count : values) {
            const Schedule schedule = one_message(layout, count);
            const std::string number =
                count % K == 0 ? fmt::format("{}K", count / K) : std::to_string(count);
            result.rows.push_back({fmt::format("{}, {} values", layout.name, number),
                                   1e3 * T(Path::full, layout.layout, count),
                                   {1e3 * replayed("loggp-star", schedule, das),
                                    1e3 * replayed("p3pc", schedule, short_sides),
                                    1e3 * replayed("p3pc", schedule, das)}});
        }
    }
    return result;
}

Result figure_2_of_p3pc(Extent) {
    Result result = messages_of(std::vector<std::int64_t>{K, 50 * K, 100 * K, 500 * K});
    result.claims = claims_of_figure_2();
    return result;
}

// Sections 4 and 5: sizes of kernels and messages.

struct KernelSize {
    double sigma;
    int order, pixels;
};

constexpr KernelSize kernel_sizes[] = {{1, 0, 7},  {1, 1, 9},  {1, 2, 9},  {3, 0, 15}, {3, 1, 23},
                                       {3, 2, 25}, {5, 0, 23}, {5, 1, 37}, {5, 2, 39}};

Elements reach(double sigma, int order) {
    return kernel::gaussian_reach(sigma, order, kernel::p3pc_kernel);
}

struct SizeRange {
    Elements least = std::numeric_limits<Elements>::max(), most = 0;

    void add(const Schedule& schedule) {
        for (const Program& program : schedule) {
            for (const Step& step : program.steps) {
                if (step.verb != Verb::send)
                    continue;
                least = std::min(least, program.elements_of(step));
                most = std::max(most, program.elements_of(step));
            }
        }
    }
};

/// The range of message sizes, in values, in Figures 9 and 10. Each derivative needs the borders of
/// its own kernel.
SizeRange message_sizes() {
    SizeRange sizes;
    std::vector<Grid> grids(std::begin(das_grids), std::end(das_grids));
    grids.insert(grids.end(),
                 {{512, 512, 8, 1}, {512, 512, 32, 1}, {1024, 1024, 16, 1}, {2048, 2048, 16, 1}});
    for (const Grid& grid : grids) {
        for (const DasOperation& what : das_operations()) {
            if (!what.collective.empty())
                sizes.add(schedule_of(what, grid));
        }
        for (const KernelSize& kernel : kernel_sizes)
            sizes.add(exchange_schedule(grid, reach(kernel.sigma, kernel.order)));
    }
    return sizes;
}

Result kernels_and_messages(Extent) {
    Result result{"pixels of a kernel, bytes of a message", {"counted"}};
    for (const KernelSize& kernel : kernel_sizes) {
        result.rows.push_back(
            {fmt::format("kernel of order {}, sigma {}", kernel.order, kernel.sigma),
             double(kernel.pixels),
             {2.0 * double(reach(kernel.sigma, kernel.order)) + 1}});
    }
    constexpr double value = 4;
    const SizeRange sizes = message_sizes();
    const auto least = static_cast<double>(sizes.least), most = static_cast<double>(sizes.most);
    result.rows.push_back({"smallest message", 192.0, {value * least}});
    result.rows.push_back({"smallest message, in values", 192.0, {least}});
    result.rows.push_back({"largest message", 8.0 * (1 << 20), {value * most}});
    return result;
}

constexpr std::string_view paper_of_messages = "p3pc";
constexpr std::string_view setting_of_messages =
    "the paper only plots these times: the column \"paper\" is computed from the values of Table "
    "1, with 100 blocks per noncontiguous message; \"ours\" is the replayed time of one message";
constexpr std::string_view reasons_of_messages =
    "if one side is busy for longer than the full path, as in six cells of Table 1, the message "
    "arrives only then: the column with shorter sides agrees; and numbers of values are rounded "
    "down to 100 equal blocks";
constexpr Experiment message_experiments[] = {
    {paper_of_messages, "Table 1", "costs of messages on DAS",
     "the profile machines/das.json, from which all predictions for DAS are made, at the sizes of "
     "the paper's table; the page shows the largest size, --json all sizes",
     "", table_1_of_p3pc, Basis::own},
    {paper_of_messages, "Figure 2", "one message by path, layout and size", setting_of_messages,
     reasons_of_messages, figure_2_of_p3pc, Basis::own},
    {paper_of_messages, "sections 4, 5", "sizes of kernels and messages",
     "the kernels named p3pc, and the schedules of Figures 9 and 10 with the borders that each "
     "derivative needs",
     "the smallest message of the figures has 192 values, not 192 bytes", kernels_and_messages,
     Basis::printed, Match::count}};

} // namespace

DasEstimates estimate_messages(std::span<const std::int64_t> values) {
    return {{paper_of_messages, "Figure 2", "one message by path, layout and size",
             setting_of_messages, reasons_of_messages, nullptr},
            messages_of(values)};
}

constinit const std::span<const Experiment> p3pc_messages = message_experiments;

} // namespace sextant::papers
