// SPDX-License-Identifier: BSD-3-Clause
// The theory of the Shift-Based paper: Table 1, and Figures 2 and 3, which plot it.
#include "sextant/lab/reproduce_shift_based.hpp"

#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sextant::lab {

Program commutative_pipeline(Elements elements, int ranks, int rank) {
    ProgramBuilder builder;
    const Region image = builder.in_out(elements);
    const auto part_at = [&](int step) {
        return part(image, (rank - step + ranks) % ranks, ranks);
    };
    builder.window(1);
    for (int step = 0; step + 1 < ranks; ++step) {
        const Region own = part_at(step + 1), come = builder.scratch(own.length);
        builder.round(step);
        builder.send((rank + 1) % ranks, part_at(step));
        builder.receive((rank - 1 + ranks) % ranks, come);
        builder.fold(own, {own, come});
    }
    return builder.finish(part_at(ranks - 1));
}

namespace {

/// The overlap of part i of m and part j of n of one image, as a fraction of the image.
double overlap(int i, int m, int j, int n) {
    const int first = std::max(i * n, j * m), last = std::min((i + 1) * n, (j + 1) * m);
    return std::max(0, last - first) / (static_cast<double>(m) * n);
}

/// The messages and images sent by the ranks of a 2-3 tree so far.
struct TreeCounts {
    explicit TreeCounts(int ranks) : messages(static_cast<std::size_t>(ranks)), images(messages) {}

    /// Merges neighbouring groups of these sizes, from rank `first` on: each rank gives the pixels
    /// of its old part to the members that own them in the merged group.
    void merge(std::size_t first, std::span<const int> sizes, int merged) {
        std::size_t rank = first;
        for (const int size : sizes) {
            for (int old = 0; old < size; ++old, ++rank) {
                double sent = 0;
                for (int place = 0; place < merged; ++place) {
                    const double common = overlap(old, size, place, merged);
                    if (common == 0 || first + static_cast<std::size_t>(place) == rank)
                        continue;
                    ++sent;
                    images[rank] += common;
                }
                messages[rank] += sent;
                stage_messages = std::max(stage_messages, sent);
            }
        }
    }

    std::vector<double> messages, images;
    double stage_messages = 0;
};

double largest(const std::vector<double>& all) {
    return *std::max_element(all.begin(), all.end());
}

double mean(const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

} // namespace

Sent sent_by_tree_from_leaves(int ranks) {
    TreeCounts counts(ranks);
    std::vector<int> sizes(static_cast<std::size_t>(ranks), 1);
    while (sizes.size() > 1) {
        std::vector<int> merged;
        std::size_t rank = 0;
        for (std::size_t group = 0; group < sizes.size();) {
            const std::size_t count = sizes.size() - group == 3 ? 3 : 2;
            const auto children = std::span<const int>(sizes).subspan(group, count);
            merged.push_back(std::accumulate(children.begin(), children.end(), 0));
            counts.merge(rank, children, merged.back());
            rank += static_cast<std::size_t>(merged.back());
            group += count;
        }
        sizes = merged;
    }
    return {largest(counts.messages), counts.stage_messages, largest(counts.images),
            mean(counts.images)};
}

namespace {

constexpr std::string_view paper_of_theory = "shift-based";
constexpr Bytes pixel = 16;
constexpr double blended_per_second = 130e6; ///< pixels; fitted in Figures 4 to 9

// Table 1.

Sent sent_by(const Schedule& schedule, Elements pixels) {
    std::vector<double> messages, images;
    for (const Program& program : schedule) {
        messages.push_back(0);
        images.push_back(0);
        for (const Step& step : program.steps) {
            if (step.verb != Verb::send)
                continue;
            ++messages.back();
            images.back() +=
                static_cast<double>(program.elements_of(step)) / static_cast<double>(pixels);
        }
    }
    return {largest(messages), 0, largest(images), mean(images)};
}

constexpr Elements counted_pixels = 1 << 20;

Sent sent_by(const std::string& algorithm, int ranks, const std::vector<int>& radices = {}) {
    return sent_by(compositing_schedule(algorithm, ranks, counted_pixels, radices), counted_pixels);
}

/// The numbers of ranks for which bounds of 2-3 Swap are checked.
constexpr int least_ranks = 3, most_ranks = 127;

/// The paper's bounds of 2-3 Swap, compared with a tree built from the leaves and with Sextant's.
void add_two_three_swap(Result& result) {
    Sent worst, ours;
    for (int ranks = least_ranks; ranks <= most_ranks; ++ranks) {
        const double log = std::log2(ranks), part = (ranks - 1.0) / ranks;
        const Sent tree = sent_by_tree_from_leaves(ranks), own = sent_by("two-three-swap", ranks);
        worst.messages = std::max(worst.messages, tree.messages / log);
        worst.stage_messages = std::max(worst.stage_messages, tree.stage_messages);
        worst.mean_images = std::max(worst.mean_images, tree.mean_images / part);
        ours.messages = std::max(ours.messages, own.messages / log);
        ours.images = std::max(ours.images, own.images / part);
    }
    const auto row = [&](const char* what, double theirs, double counted) {
        result.rows.push_back({fmt::format("2-3 swap from the leaves, {}, at most, {} to {} ranks",
                                           what, least_ranks, most_ranks),
                               theirs,
                               {counted}});
    };
    row("messages of one stage", 4, worst.stage_messages);
    row("mean images / ((p - 1) / p)", 1.3, worst.mean_images);
    result.claims.push_back(
        {"the upper bounds of 2-3 Swap: 4 alpha log2(p), 1.3 beta n (p - 1) / p",
         worst.messages <= 4 && ours.messages <= 4 && ours.images <= 1.3,
         fmt::format(
             "{} to {} ranks: at most {:.2f} log2(p) messages of a tree from the leaves; of "
             "two-three-swap at most {:.2f} log2(p) messages and {:.2f} n (p - 1) / p",
             least_ranks, most_ranks, worst.messages, ours.messages, ours.images)});
}

/// A crossbar with the paper's beta.
simulate::Platform ideal_crossbar(std::size_t hosts, bool blends = false) {
    return simulate::parse_platform(
        fmt::format(R"({{"version": 1, "name": "ideal crossbar", "source": "section 4 of the paper",
            "network": {{"shape": "crossbar", "hosts": {}}},
            "links": {{"bytes_per_second": {}, "latency": 5e-7}},
            "costs": {{"seconds_per_application": {}}}}})",
                    hosts, 1 / .53e-9, blends ? 1 / blended_per_second : 0),
        "ideal crossbar");
}

/// The schedule with one message sent and one received by a rank at a time.
Schedule one_by_one(Schedule schedule) {
    for (Program& program : schedule) {
        int sent = 0, received = 0;
        for (Step& step : program.steps) {
            if (is_message(step.verb))
                step.round = step.verb == Verb::send ? sent++ : received++;
        }
        program.window = 1;
    }
    return schedule;
}

/// The fraction of the blending time of 4096x2048 pixels that is hidden behind messages.
double hidden_blending(const Schedule& schedule) {
    const auto time = [&](bool blends) {
        return run(schedule, pixel, {.platform = {}}, ideal_crossbar(schedule.size(), blends))
            .seconds;
    };
    const auto ranks = static_cast<double>(schedule.size());
    const double blending = 8.0 * mega * (ranks - 1) / ranks / blended_per_second;
    return std::max(0.0, 1 - (time(true) - time(false)) / blending);
}

/// Whether blending can be overlapped with messages, as stated in the last column of Table 1. If
/// messages can be sent one after another, that is what matters.
Claim overlap_of(const char* name, std::string_view stated, const Schedule& schedule,
                 const Schedule* in_sequence = nullptr) {
    const double together = hidden_blending(schedule);
    const double hidden = in_sequence ? hidden_blending(*in_sequence) : together;
    const bool holds = stated == "Yes"  ? hidden > .75
                       : stated == "No" ? hidden < .25
                                        : hidden > .25 && hidden < .75;
    Claim claim{fmt::format("Overlap. Blending: {}: {}", name, stated), holds,
                fmt::format("{:.0f} % of the blending time is hidden", 100 * hidden)};
    if (in_sequence) {
        claim.found += fmt::format(" if messages are sent one after another; {:.0f} % if all are "
                                   "sent at once, since those that share a port arrive together",
                                   100 * together);
    }
    return claim;
}

void add_overlaps(Result& result) {
    constexpr int ranks = 64;
    const auto named = [](const char* algorithm, const std::vector<int>& radices = {}) {
        return compositing_schedule(algorithm, ranks, 8 * mega, radices);
    };
    const Schedule shifts = named("shift-based"), radix_k = named("radix-k", {8, 8});
    const Schedule pipeline =
        make_schedule(ranks, [](int rank) { return commutative_pipeline(8 * mega, ranks, rank); });
    const Schedule sequence = one_by_one(radix_k);
    for (const Claim& claim : {overlap_of("Direct Send", "Yes", named("direct-send"), &shifts),
                               overlap_of("Binary Swap", "No", named("binary-swap")),
                               overlap_of("2-3 Swap", "No", named("two-three-swap")),
                               overlap_of("Radix-k", "Partially", radix_k, &sequence),
                               overlap_of("Parallel Pipeline", "No", pipeline),
                               overlap_of("Shift-Based", "Yes", shifts)})
        result.claims.push_back(claim);
}

Result table_1(Extent) {
    constexpr int ranks = 64;
    const double log = std::countr_zero(unsigned{ranks}), all = ranks - 1;
    const double part = all / ranks;
    Result result{"messages or images sent per rank, 64 ranks", {"counted"}, {}, {}};
    const auto row = [&](const char* label, double messages, double images, const Sent& sent) {
        result.rows.push_back({fmt::format("{}, messages", label), messages, {sent.messages}});
        result.rows.push_back({fmt::format("{}, images", label), images, {sent.images}});
    };
    const Schedule commutative = make_schedule(
        ranks, [](int rank) { return commutative_pipeline(counted_pixels, ranks, rank); });
    row("direct-send", all, part, sent_by("direct-send", ranks));
    row("binary-swap", log, part, sent_by("binary-swap", ranks));
    row("two-three-swap", 4 * log, 1.3 * part, sent_by("two-three-swap", ranks));
    row("radix-k", 7 + 7, part, sent_by("radix-k", ranks, {8, 8}));
    row("parallel-pipeline, operands in order", all, part, sent_by("parallel-pipeline", ranks));
    row("parallel-pipeline, in any order", all, part, sent_by(commutative, counted_pixels));
    row("shift-based", all, part, sent_by("shift-based", ranks));
    add_two_three_swap(result);
    add_overlaps(result);
    return result;
}

// Figures 2 and 3.

constexpr Elements figure_pixels = 16 * mega;

double all_others(int ranks) {
    return ranks - 1;
}
double halvings(int ranks) {
    return std::countr_zero(static_cast<unsigned>(ranks));
}

Schedule by_name(const char* algorithm, int ranks) {
    return compositing_schedule(algorithm, ranks, figure_pixels);
}

/// The schedule with messages of one stage at a time.
Schedule by_stages(const char* algorithm, int ranks) {
    Schedule schedule = by_name(algorithm, ranks);
    for (Program& program : schedule)
        program.window = 1;
    return schedule;
}

/// A curve of the figures: the number of messages in Table 1, and whether the paper expects its
/// stages to be free of contention on a fat-tree.
struct Term {
    const char* label;
    double (*messages)(int ranks);
    bool keeps_apart;
    Schedule (*schedule)(int ranks);
};

constexpr Term terms[] = {
    {"binary-swap", halvings, false, [](int ranks) { return by_name("binary-swap", ranks); }},
    {"direct-send", all_others, false, [](int ranks) { return by_name("direct-send", ranks); }},
    {"parallel-pipeline, operands in order", all_others, true,
     [](int ranks) { return by_stages("parallel-pipeline", ranks); }},
    {"parallel-pipeline, in any order", all_others, true,
     [](int ranks) {
         return make_schedule(
             ranks, [=](int rank) { return commutative_pipeline(figure_pixels, ranks, rank); });
     }},
    {"shift-based", all_others, true, [](int ranks) { return by_stages("shift-based", ranks); }}};

/// The time in milliseconds by the formulas of Table 1, with 1 us per message, .53 ns per byte, and
/// 30 % less bandwidth under contention.
double by_formula(const Term& term, int ranks, bool fat_tree) {
    const double beta = .53e-9 / (fat_tree && !term.keeps_apart ? .7 : 1);
    const double bytes = static_cast<double>(figure_pixels * pixel) * (ranks - 1) / ranks;
    return 1e3 * (1e-6 * term.messages(ranks) + beta * bytes);
}

/// The time in milliseconds that the Hockney model predicts: ports send one message at a time, and
/// receive one.
double port_by_port(const Schedule& schedule) {
    static const machine::Profile infiniband = machine_of_paper("ddr-infiniband");
    return 1e3 * model::find("hockney")
                     .predict({.schedule = schedule, .machine = infiniband, .element_size = pixel})
                     .seconds;
}

/// The time in milliseconds on an ideal crossbar whose ports are shared by messages in transit.
double on_shared_ports(const Schedule& schedule) {
    return 1e3 * run(schedule, pixel, {.platform = {}}, ideal_crossbar(schedule.size())).seconds;
}

Result figure_2(Extent) {
    Result result{"milliseconds of communication, 4096x4096",
                  {"one message per port", "shared ports"},
                  {},
                  {}};
    for (const int ranks : {16, 64, 128}) {
        for (const Term& term : terms) {
            const Schedule schedule = term.schedule(ranks);
            result.rows.push_back({fmt::format("{}, {} nodes", term.label, ranks),
                                   by_formula(term, ranks, false),
                                   {port_by_port(schedule), on_shared_ports(schedule)}});
        }
    }
    const auto latency = [](int ranks) {
        return 1e-3 * all_others(ranks) / by_formula(terms[1], ranks, false);
    };
    result.claims.push_back(
        {"the latency term does not have a big impact on the total network time, except for very "
         "high processor counts (several thousands)",
         latency(1024) < .01 && latency(8192) > .05,
         fmt::format("{:.1f} % of the time at 128 nodes, {:.1f} % at 1,024 and {:.1f} % at 8,192, "
                     "with the most messages",
                     100 * latency(128), 100 * latency(1024), 100 * latency(8192))});
    return result;
}

double on_fat_tree(const Schedule& schedule, const char* platform) {
    return 1e3 * run(schedule, pixel, {.platform = platform, .blend_rate = 1e15}).seconds;
}

/// Binary-Swap with other routings: with the table of section 4, there is no contention, as on a
/// crossbar.
void add_routings_of_binary_swap(Result& figure) {
    const Term& swap = terms[0];
    for (const int ranks : {16, 64, 128}) {
        const Schedule schedule = swap.schedule(ranks);
        const auto row = [&](const char* label, const char* platform, bool contention) {
            const double time = on_fat_tree(schedule, platform);
            figure.rows.push_back({fmt::format("{}, {} nodes, {}", swap.label, ranks, label),
                                   by_formula(swap, ranks, contention),
                                   {time, time}});
        };
        row("Min Hop", "fat-tree-144-min-hop", true);
        row("table of section 4, no loss expected", "fat-tree-144-binary-swap", false);
    }
}

/// The time of a row of Figure 3 on the calibrated network, relative to a crossbar's formula.
double slowdown(const Result& figure, const Term& term, int ranks) {
    const std::string label = fmt::format("{}, {} nodes", term.label, ranks);
    const auto row = std::find_if(figure.rows.begin(), figure.rows.end(),
                                  [&](const Row& each) { return each.label == label; });
    return row->ours.back() / by_formula(term, ranks, false);
}

std::vector<Claim> claims_of_figure_3(const Result& figure) {
    const Term &swap = terms[0], &direct = terms[1], &pipeline = terms[3], &shifts = terms[4];
    const auto at = [&](const Term& term, int ranks) { return slowdown(figure, term, ranks); };
    const Schedule radix_k = compositing_schedule("radix-k", 144, figure_pixels, {12, 12});
    const double of_radix_k =
        on_fat_tree(radix_k, "fat-tree-144-calibrated") / by_formula(direct, 144, false);
    const double lost = 100 * (1 - 1 / at(direct, 144));
    return {
        {"only the Parallel Pipeline and Shift-Based algorithms can benefit from the full "
         "cross-bisectional bandwidth provided by IB fat-trees",
         at(pipeline, 72) < 1.05 && at(shifts, 72) < 1.05 && at(direct, 72) > 1.05 &&
             at(swap, 64) > 1.05,
         fmt::format("times relative to a crossbar: on 72 nodes, Parallel Pipeline {:.2f}, "
                     "Shift-Based {:.2f}, Direct-Send {:.2f}; on 64 nodes, Binary-Swap {:.2f}",
                     at(pipeline, 72), at(shifts, 72), at(direct, 72), at(swap, 64))},
        {"the Direct Send and Radix-k algorithms all suffer from hot spots on large IB "
         "fat-trees, and would not benefit from the full 1800 MB/s",
         at(direct, 144) > 1.05 && of_radix_k > 1.05,
         fmt::format("on 144 nodes, Direct-Send takes {:.2f} times as long as on a crossbar "
                     "without loss, and Radix-k 12,12 takes {:.2f} times as long",
                     at(direct, 144), of_radix_k)},
        {"a performance degradation of 30%, which is a low estimate as compared to real runs",
         lost > 30, fmt::format("Direct-Send loses {:.0f} % of the bandwidth on 144 nodes", lost)},
        {"in terms of scalability of the communication time on large IB fat-trees, the Parallel "
         "Pipeline and the Shift-Based algorithms are completely equivalent",
         at(shifts, 64) < 1.05 * at(pipeline, 64),
         fmt::format("at multiples of 12; on 64 nodes, Shift-Based takes {:.2f} times as long",
                     at(shifts, 64) / at(pipeline, 64))}};
}

Result figure_3(Extent) {
    Result result{"milliseconds of communication, 4096x4096",
                  {"links shared without loss", "calibrated"},
                  {},
                  {}};
    for (const Term& term : terms) {
        const bool halves = term.messages == halvings;
        for (const int ranks : halves ? std::vector{16, 64, 128} : std::vector{24, 64, 72, 144}) {
            const Schedule schedule = term.schedule(ranks);
            result.rows.push_back({fmt::format("{}, {} nodes", term.label, ranks),
                                   by_formula(term, ranks, true),
                                   {on_fat_tree(schedule, "fat-tree-144"),
                                    on_fat_tree(schedule, "fat-tree-144-calibrated")}});
        }
    }
    add_routings_of_binary_swap(result);
    result.claims = claims_of_figure_3(result);
    return result;
}

constexpr Experiment theory_experiments[] = {
    {paper_of_theory, "Table 1", "messages and images sent by each algorithm",
     "counted on the schedules; the overlap is simulated on a crossbar of 64 nodes with .53 ns per "
     "byte and 130 Mpx/s",
     "2-3 Swap: the paper states upper bounds for numbers that are not powers of two; on 64 ranks, "
     "2-3 Swap is Binary-Swap. A tree built from the leaves, with parts in the order of ranks, "
     "reaches both bounds; Sextant's tree is built from the root and sends no more data than "
     "Binary-Swap. Parallel Pipeline: to keep the order of operands, results that cross the end of "
     "the ring are sent in pairs; in any order, as for the depths of Lee et al., the counts agree",
     table_1},
    {paper_of_theory, "Figure 2", "communication on an ideal crossbar",
     "Table 1 with 1 us per message and .53 ns per byte; schedules are replayed by Hockney's "
     "model, "
     "in which a port receives one message at a time, and simulated on a crossbar whose ports are "
     "shared; blending is free",
     "Parallel Pipeline sends nearly twice as much data to keep the order of operands; in any "
     "order, "
     "it agrees. Direct-Send sends to rank 0 first, then to rank 1: where a port receives one "
     "message at a time, the others wait, which the formula ignores",
     figure_2},
    {paper_of_theory, "Figure 3", "communication on a fat-tree",
     "the paper expects 30 % less bandwidth under contention; our times are simulated on the "
     "12-ary "
     "2-tree; blending is free, and shifts and the pipeline run stage by stage",
     "Binary-Swap: with d-mod-k routing, at most two messages share a cable; Min Hop causes the "
     "expected 30 %, and the table of section 4 no loss. Shift-Based: 64 is not a multiple of 12, "
     "as "
     "in Figures 8 and 9. Direct-Send: without the loss on shared cables, which is fitted to the "
     "measurement on 12 nodes, it would take less time than the paper expects. Parallel Pipeline: "
     "as "
     "for Figure 2",
     figure_3}};

} // namespace

std::span<const Experiment> shift_based_theory() {
    return theory_experiments;
}

} // namespace sextant::lab
