// SPDX-License-Identifier: BSD-3-Clause
// Table 1 of the Shift-Based paper: messages, images and overlap, counted and simulated.
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "papers/experiments.hpp"
#include "papers/shift_based.hpp"
#include <fmt/format.h>

namespace sextant::papers {

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

/// The numbers of messages and images that each rank of a 2-3 tree has sent so far.
struct TreeCounts {
    explicit TreeCounts(int ranks) : messages(static_cast<std::size_t>(ranks)), images(messages) {}

    /// Merges neighbouring groups of these sizes, from rank `first` on. Each rank sends the pixels
    /// of its old part to their owners in the merged group.
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

constexpr double blended_per_second = 130e6; ///< pixels; fitted in Figures 4 to 9

} // namespace

simulate::Platform ideal_crossbar(std::size_t hosts, bool blends) {
    return simulate::parse_platform(
        fmt::format(R"({{"version": 1, "name": "ideal crossbar", "source": "section 4 of the paper",
            "network": {{"shape": "crossbar", "hosts": {}}},
            "links": {{"bytes_per_second": {}, "latency": 5e-7}},
            "costs": {{"seconds_per_application": {}}}}})",
                    hosts, 1 / .53e-9, blends ? 1 / blended_per_second : 0),
        "ideal crossbar");
}

namespace {

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

/// The numbers of ranks for which the bounds of 2-3 Swap are checked.
constexpr int least_ranks = 3, most_ranks = 127;

/// Compares the paper's bounds of 2-3 Swap with a tree built from the leaves and with Sextant's
/// tree.
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
    const auto row = [&](const char* algorithm, const char* what, double most, double counted) {
        result.rows.push_back({.label = fmt::format("{}, {}, at most, {} to {} ranks", algorithm,
                                                    what, least_ranks, most_ranks),
                               .theirs = most,
                               .ours = {counted},
                               .match = Match::at_most});
    };
    const char* const leaves = "2-3 swap from the leaves";
    row(leaves, "messages / log2(p)", 4, worst.messages);
    row(leaves, "messages of one stage", 4, worst.stage_messages);
    row(leaves, "mean images / ((p - 1) / p)", 1.3, worst.mean_images);
    row("two-three-swap", "messages / log2(p)", 4, ours.messages);
    row("two-three-swap", "images / ((p - 1) / p)", 1.3, ours.images);
}

/// The schedule with one send and one receive at a time per rank.
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
        return run(schedule, 16, {.platform = {}}, ideal_crossbar(schedule.size(), blends)).seconds;
    };
    const auto ranks = static_cast<double>(schedule.size());
    const double blending = 8.0 * mega * (ranks - 1) / ranks / blended_per_second;
    return std::max(0.0, 1 - (time(true) - time(false)) / blending);
}

/// The claim in the last column of Table 1 that blending can or cannot be overlapped with messages.
/// If messages can be sent one after another, the schedule that does so decides.
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
    Result result{"messages or images sent per rank, 64 ranks", {"counted"}};
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

constexpr Experiment count_experiments[] = {
    {"shift-based", "Table 1", "messages and images sent by each algorithm",
     "counted in the schedules; the overlap is simulated on a crossbar of 64 nodes with 0.53 ns "
     "per byte and 130 Mpx/s",
     "2-3 Swap: the paper states upper bounds for numbers that are not powers of two; on 64 ranks, "
     "2-3 Swap is Binary-Swap. A tree built from the leaves, with parts in the order of ranks, "
     "slightly exceeds two bounds; Sextant's tree is built from the root and sends no more data "
     "than "
     "Binary-Swap. Parallel Pipeline: to keep the order of operands, results that cross the end of "
     "the ring are sent in pairs; in any order, as for the depths of Lee et al., the counts agree",
     table_1, Basis::printed, Match::count}};

} // namespace

constinit const std::span<const Experiment> shift_based_counts = count_experiments;

} // namespace sextant::papers
