// SPDX-License-Identifier: BSD-3-Clause
// Table 1 and Figures 1 to 3 of the Radix-k paper.
#include "sextant/lab/reproduce_radix_k.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/lab/intrepid.hpp"
#include "sextant/lab/mpi_reductions.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

// Table 1 of the Radix-k paper.

/// The terms of the paper's cost model for one algorithm: the largest numbers of rounds, of images
/// sent and of images combined by a rank.
struct Terms {
    double steps = 0, sent = 0, combined = 0;
};

Terms terms_of(const Schedule& schedule, Elements image) {
    Terms most;
    for (const Program& program : schedule) {
        std::set<int> rounds;
        Elements sent = 0, combined = 0;
        for (const Step& step : program.steps) {
            if (is_message(step.verb))
                rounds.insert(step.round);
            if (step.verb == Verb::send)
                sent += program.elements_of(step);
            if (step.verb == Verb::fold)
                combined += (step.count - 1) * step.to.elements();
        }
        const auto images = [&](Elements elements) {
            return static_cast<double>(elements) / static_cast<double>(image);
        };
        most.steps = std::max(most.steps, static_cast<double>(rounds.size()));
        most.sent = std::max(most.sent, images(sent));
        most.combined = std::max(most.combined, images(combined));
    }
    return most;
}

Schedule schedule_of(Program (*reduction)(Elements, int, int), int ranks, Elements elements) {
    return make_schedule(ranks, [&](int rank) { return reduction(elements, ranks, rank); });
}

/// Binary-Swap whose pieces are gathered at rank 0.
Schedule gathered_binary_swap(int ranks, Elements elements) {
    const compositing::Algorithm& swap = compositing::find("binary-swap");
    const compositing::Task task = compositing::one_image_each(ranks, elements, 0);
    return make_schedule(ranks,
                         [&](int rank) { return compositing::program(swap, task, {}, rank); });
}

Result table_1(Extent) {
    constexpr int ranks = 64;
    constexpr Elements elements = 1 << 20;
    const double steps = std::countr_zero(unsigned{ranks}), part = 1 - 1. / ranks;
    Result result{"steps, and images sent or combined per rank, 64 ranks", {"counted"}, {}, {}};
    const auto add = [&](const char* algorithm, const Terms& bound, const Schedule& schedule) {
        const Terms found = terms_of(schedule, elements);
        result.rows.push_back({fmt::format("{}, steps", algorithm), bound.steps, {found.steps}});
        result.rows.push_back({fmt::format("{}, sent", algorithm), bound.sent, {found.sent}});
        result.rows.push_back(
            {fmt::format("{}, combined", algorithm), bound.combined, {found.combined}});
    };
    const auto compositing = [&](const char* algorithm, const std::vector<int>& radices = {}) {
        return compositing_schedule(algorithm, ranks, elements, radices);
    };
    const Terms reduce{steps, 1, part}, all_reduce{steps, 2 * part, part},
        reduce_scatter{steps, part, part};
    add("reduce: binary-tree", reduce, compositing("binary-tree"));
    add("reduce: binary-swap and gather", reduce, gathered_binary_swap(ranks, elements));
    add("allreduce: recursive doubling", all_reduce,
        schedule_of(recursive_doubling_allreduce, ranks, elements));
    add("allreduce: halving and doubling", all_reduce,
        schedule_of(halving_doubling_allreduce, ranks, elements));
    add("reduce-scatter: binary-swap", reduce_scatter, compositing("binary-swap"));
    add("reduce-scatter: radix-k 8,8", {2, part, part}, compositing("radix-k", {8, 8}));
    add("reduce-scatter: direct-send", {1, part, part}, compositing("direct-send"));
    const auto worst = [](int p) {
        const Terms found = terms_of(compositing_schedule("two-three-swap", p, elements), elements);
        const double part_of_p = 1 - 1. / p;
        return Terms{found.steps / std::bit_width(unsigned(p - 1)), found.sent / part_of_p,
                     found.combined / part_of_p};
    };
    Terms most;
    for (int p = 3; p <= 128; ++p) {
        const Terms one = worst(p);
        most = {std::max(most.steps, one.steps), std::max(most.sent, one.sent),
                std::max(most.combined, one.combined)};
    }
    result.claims.push_back(
        {"2-3 swap exceeds the bounds at most 4 times in steps, 1.3 times in data sent and 2 times "
         "in data combined",
         most.steps <= 4 && most.sent <= 1.3 && most.combined <= 2,
         fmt::format("on 3 to 128 ranks at most {:.2f}, {:.2f} and {:.2f} times", most.steps,
                     most.sent, most.combined)});
    return result;
}

// Figure 1 of the Radix-k paper.

Row reductions(int ranks, Elements megapixels, const IntrepidPartition& partition) {
    const Elements pixels = megapixels * mega;
    const simulate::Platform platform = intrepid(partition);
    const auto milliseconds = [&](const Schedule& schedule) {
        return 1e3 * run_on(schedule, 16, platform).seconds;
    };
    return {fmt::format("{} Mpx, {} nodes, {} {}", megapixels, ranks,
                        partition.torus ? "torus" : "mesh", text(partition.extents)),
            {},
            {milliseconds(compositing_schedule("binary-swap", ranks, pixels)),
             milliseconds(schedule_of(pairwise_reduce_scatter, ranks, pixels)),
             milliseconds(schedule_of(recursive_doubling_reduce_scatter, ranks, pixels)),
             milliseconds(compositing_schedule("binary-tree", ranks, pixels)),
             milliseconds(schedule_of(recursive_doubling_allreduce, ranks, pixels))}};
}

Result figure_1(Extent extent) {
    Result result{"milliseconds",
                  {"binary-swap", "reduce-scatter by pairs", "reduce-scatter in order", "reduce",
                   "allreduce"},
                  {},
                  {}};
    const bool whole = extent == Extent::whole;
    for (int ranks = 32; ranks <= (whole ? 512 : 64); ranks *= 2)
        result.rows.push_back(reductions(ranks, 2, intrepid_partition(ranks)));
    for (const Elements megapixels :
         whole ? std::vector<Elements>{1, 4, 8} : std::vector<Elements>{})
        result.rows.push_back(reductions(64, megapixels, intrepid_partition(64)));
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Row& row : result.rows) {
        const double closest = *std::min_element(row.ours.begin() + 1, row.ours.end());
        least = std::min(least, closest / row.ours.front());
        most = std::max(most, closest / row.ours.front());
    }
    result.claims.push_back(
        {"binary swap is about twice as fast as its closest competitor, reduce-scatter",
         least > 1.5 && most < 2.5, fmt::format("{:.2f} to {:.2f} times", least, most)});
    return result;
}

// Figure 2 of the Radix-k paper.

/// One round of a schedule whose ranks all do the same.
struct RoundOfGroups {
    std::set<int> groups;
    int messages = 0; ///< sent by each rank
    int distance = std::numeric_limits<int>::max();
    Elements part = 0; ///< of each message
};

Result figure_2(Extent) {
    constexpr int ranks = 12;
    constexpr Elements elements = 1200;
    Result result{"12 ranks, k = [4, 3]", {"counted"}, {}, {}};
    std::map<int, RoundOfGroups> rounds;
    const Schedule schedule = compositing_schedule("radix-k", ranks, elements, {4, 3});
    for (int rank = 0; rank < ranks; ++rank) {
        const Program& program = schedule[static_cast<std::size_t>(rank)];
        for (const Step& step : program.steps) {
            if (step.verb != Verb::send)
                continue;
            RoundOfGroups& round = rounds[step.round];
            round.groups.insert(step.group);
            round.messages += rank == 0;
            round.distance = std::min(round.distance, std::abs(step.peer - rank));
            round.part = program.elements_of(step);
        }
    }
    const auto add = [&](int number, int groups, int members, int distance, int parts) {
        const RoundOfGroups& found = rounds.at(number);
        const auto row = [&](const char* what, int theirs, double ours) {
            result.rows.push_back({fmt::format("round {}, {}", number + 1, what),
                                   static_cast<double>(theirs),
                                   {ours}});
        };
        row("groups", groups, static_cast<double>(found.groups.size()));
        row("members of a group", members, found.messages + 1);
        row("distance of neighbours in rank order", distance, found.distance);
        row("pieces of the image", parts,
            static_cast<double>(elements) / static_cast<double>(found.part));
    };
    add(0, 3, 4, 1, 4);
    add(1, 4, 3, 4, 12);
    return result;
}

// Figure 3 of the Radix-k paper.

/// What the paper reads off the profile of a run.
struct Profile {
    double milliseconds = 0;
    double overlap = 0; ///< fraction of the time of blending during which a message arrives
    double halving = 0; ///< largest deviation of a round's time from half of the previous one
    double spread = 0;  ///< between the first and the last rank that ends the first round, in ms
};

double overlap_of(const std::vector<Event>& blends, const std::vector<Event>& receives) {
    // The receives of a rank overlap each other: count each moment of blending once.
    Seconds blending = 0, overlapped = 0;
    for (const Event& blend : blends) {
        blending += blend.end - blend.begin;
        std::vector<std::pair<Seconds, Seconds>> parts;
        for (const Event& receive : receives) {
            const Seconds begin = std::max(blend.begin, receive.begin);
            const Seconds end = std::min(blend.end, receive.end);
            if (receive.rank == blend.rank && begin < end)
                parts.emplace_back(begin, end);
        }
        std::ranges::sort(parts);
        Seconds reached = blend.begin;
        for (const auto& [begin, end] : parts) {
            overlapped += std::max(0., end - std::max(begin, reached));
            reached = std::max(reached, end);
        }
    }
    return overlapped / blending;
}

Profile profile_of_run(const std::vector<int>& radices) {
    const Schedule schedule = compositing_schedule("radix-k", 64, 2 * mega, radices);
    const Trace trace =
        run_on(schedule, 16, intrepid(intrepid_partition(64)), {.timeline = true}).timeline;
    std::vector<Event> blends, receives;
    std::map<int, std::vector<Seconds>> ends; // of a round, by rank
    for (const Event& event : trace.events) {
        if (event.activity == Activity::fold) {
            blends.push_back(event);
            auto& of_ranks = ends[event.round];
            of_ranks.resize(64);
            auto& end = of_ranks[static_cast<std::size_t>(event.rank)];
            end = std::max(end, event.end);
        } else if (event.activity == Activity::receive) {
            receives.push_back(event);
        }
    }
    Profile profile{1e3 * trace.duration, overlap_of(blends, receives), 0, 0};
    const auto [first, last] = std::ranges::minmax(ends.begin()->second);
    profile.spread = 1e3 * (last - first);
    Seconds before = 0, previous = 0;
    for (const auto& [round, of_ranks] : ends) {
        const Seconds end = std::ranges::max(of_ranks), took = end - before;
        if (previous > 0)
            profile.halving = std::max(profile.halving, std::abs(took / previous * 2 - 1));
        before = end;
        previous = took;
    }
    return profile;
}

Result figure_3(Extent) {
    Result result{"2 Mpx on 64 nodes", {"binary-swap", "radix-k 8,8"}, {}, {}};
    const Profile swap = profile_of_run(twos(64)), radix = profile_of_run({8, 8});
    result.rows = {
        {"milliseconds", {}, {swap.milliseconds, radix.milliseconds}},
        {"blending while messages arrive, %", {}, {100 * swap.overlap, 100 * radix.overlap}},
        {"first to last rank at the end of round 1, ms", {}, {swap.spread, radix.spread}}};
    result.claims = {
        {"the rounds of binary swap take half of the time of the previous one", swap.halving < .1,
         fmt::format("within {:.0f} %", 100 * swap.halving)},
        {"binary swap does not overlap messages and blending", swap.overlap < .01,
         fmt::format("{:.1f} %", 100 * swap.overlap)},
        {"[8, 8] blends while messages arrive", radix.overlap > .1,
         fmt::format("{:.0f} %", 100 * radix.overlap)},
        {"ranks begin the second round of [8, 8] at different times",
         radix.spread > 2 * swap.spread,
         fmt::format("within {:.1f} ms, {:.1f} ms for binary swap", radix.spread, swap.spread)},
        {"[8, 8] finishes earlier", radix.milliseconds < swap.milliseconds,
         fmt::format("{:.2f} times", swap.milliseconds / radix.milliseconds)}};
    return result;
}

constexpr Experiment experiments[] = {
    {"radix-k", "Table 1", "lower bounds of reductions", "counted on the schedules", "", table_1},
    {"radix-k", "Figure 1", "Binary-Swap compared with MPI's reductions",
     "as for Figure 3; the paper names no algorithms, so those of MPICH for a user-defined "
     "operator and long vectors are used. Pairwise exchange requires a commutative operator, which "
     "blending is not",
     "which reduce-scatter MPI used depends on whether blending was declared commutative: the "
     "paper's factor is between the two",
     figure_1},
    {"radix-k", "Figure 2", "rounds and groups of 12 ranks", "counted on the schedule", "",
     figure_2},
    {"radix-k", "Figure 3", "Binary-Swap and [8, 8] on 64 nodes", blue_gene_assumptions, "",
     figure_3}};

} // namespace

std::span<const Experiment> radix_k_paper() {
    return experiments;
}

} // namespace sextant::lab
