// SPDX-License-Identifier: BSD-3-Clause
// Table 1 and Figures 1 to 3 of the Radix-k paper.
#include "papers/radix_k.hpp"

#include "sextant/compositing/catalogue.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "papers/intrepid.hpp"
#include "papers/mpi_reductions.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

// Table 1 of the Radix-k paper.

/// The terms of the paper's cost model for one algorithm: the maximum numbers of rounds, of images
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

/// Binary-Swap followed by a gather of the pieces on rank 0.
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
    Result result{"steps, and images sent or combined per rank, 64 ranks", {"counted"}};
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
    const simulate::Platform usual = intrepid(partition);
    simulate::Platform slow_operator = usual;
    slow_operator.costs.seconds_per_application *= 2;
    const auto milliseconds = [&](const Schedule& schedule, const simulate::Platform& platform) {
        return 1e3 * run_on(schedule, 16, platform).seconds;
    };
    return {fmt::format("{} Mpx, {} nodes, {} {}", megapixels, ranks,
                        partition.torus ? "torus" : "mesh", text(partition.extents)),
            {},
            {milliseconds(compositing_schedule("binary-swap", ranks, pixels), usual),
             milliseconds(schedule_of(pairwise_reduce_scatter, ranks, pixels), usual),
             milliseconds(schedule_of(pairwise_reduce_scatter, ranks, pixels), slow_operator),
             milliseconds(schedule_of(recursive_doubling_reduce_scatter, ranks, pixels), usual),
             milliseconds(compositing_schedule("binary-tree", ranks, pixels), usual),
             milliseconds(schedule_of(recursive_doubling_allreduce, ranks, pixels), usual)}};
}

/// The columns of Figure 1.
enum : std::size_t { swap, by_pairs, by_pairs_slowly, in_order, reduce, all_reduce };

Result figure_1(Extent extent) {
    Result result{"milliseconds",
                  {"binary-swap", "reduce-scatter by pairs", "the same, operator at half the rate",
                   "reduce-scatter in order", "reduce", "allreduce"}};
    const bool whole = extent == Extent::whole;
    for (int ranks = 32; ranks <= (whole ? 512 : 64); ranks *= 2)
        result.rows.push_back(reductions(ranks, 2, intrepid_partition(ranks)));
    for (const Elements megapixels :
         whole ? std::vector<Elements>{1, 4, 8} : std::vector<Elements>{})
        result.rows.push_back(reductions(64, megapixels, intrepid_partition(64)));
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Row& row : result.rows) {
        double closest = std::numeric_limits<double>::infinity();
        for (const std::size_t column : {by_pairs, in_order, reduce, all_reduce})
            closest = std::min(closest, row.ours[column] / row.ours[swap]);
        least = std::min(least, closest);
        most = std::max(most, closest);
    }
    result.claims.push_back(
        {"binary swap is about twice as fast as its closest competitor, reduce-scatter",
         least > 1.5 && most < 2.5, fmt::format("{:.2f} to {:.2f} times", least, most)});
    return result;
}

// Figure 2 of the Radix-k paper.

/// One round of a schedule in which all ranks do the same work.
struct RoundOfGroups {
    std::set<int> groups;
    int messages = 0; ///< number of messages per rank
    int distance = std::numeric_limits<int>::max();
    Elements part = 0; ///< size of each message
};

Result figure_2(Extent) {
    constexpr int ranks = 12;
    constexpr Elements elements = 1200;
    Result result{"12 ranks, k = [4, 3]", {"counted"}};
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

/// The quantities that the paper reads from the profile of a run.
struct Profile {
    double milliseconds = 0;
    double overlap = 0; ///< fraction of the blending time during which a message arrives
    double halving = 0; ///< largest deviation of a round's time from half of the previous one
    double spread = 0; ///< time between the first and the last rank's end of the first round, in ms
};

/// The fraction of the blending time during which a message to the same rank is in transit.
double overlap_of(const std::vector<Event>& blends, const std::vector<Event>& sends) {
    Seconds blending = 0, overlapped = 0;
    for (const Event& blend : blends) {
        blending += blend.end - blend.begin;
        std::vector<std::pair<Seconds, Seconds>> parts;
        for (const Event& send : sends) {
            const Seconds begin = std::max(blend.begin, send.begin);
            const Seconds end = std::min(blend.end, send.end);
            if (send.peer == blend.rank && begin < end)
                parts.emplace_back(begin, end);
        }
        std::ranges::sort(parts);
        Seconds reached = blend.begin; // messages may overlap, so count each moment once
        for (const auto& [begin, end] : parts) {
            overlapped += std::max(0., end - std::max(begin, reached));
            reached = std::max(reached, end);
        }
    }
    return overlapped / blending;
}

Profile profile_of_run(const std::vector<int>& radices, bool torus) {
    constexpr int ranks = 64;
    const Schedule schedule = compositing_schedule("radix-k", ranks, 2 * mega, radices);
    const Trace trace =
        run_on(schedule, 16, intrepid({{4, 4, 4}, torus}), {.timeline = true}).timeline;
    std::vector<Event> blends, sends;
    std::map<int, std::vector<Seconds>> ends; // by round: end time of each rank
    for (const Event& event : trace.events) {
        if (event.activity == Activity::fold) {
            blends.push_back(event);
            std::vector<Seconds>& of_ranks = ends[event.round];
            of_ranks.resize(ranks);
            Seconds& end = of_ranks[static_cast<std::size_t>(event.rank)];
            end = std::max(end, event.end);
        } else if (event.activity == Activity::send) {
            sends.push_back(event);
        }
    }
    Profile profile{1e3 * trace.duration, overlap_of(blends, sends)};
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
    Result result{
        "2 Mpx on 64 nodes",
        {"mesh: binary-swap", "mesh: radix-k 8,8", "torus: binary-swap", "torus: radix-k 8,8"}};
    const Profile profiles[] = {profile_of_run(twos(64), false), profile_of_run({8, 8}, false),
                                profile_of_run(twos(64), true), profile_of_run({8, 8}, true)};
    const auto row = [&](const char* label, double Profile::*value, double unit) {
        Row made{label};
        for (const Profile& profile : profiles)
            made.ours.push_back(unit * profile.*value);
        result.rows.push_back(made);
    };
    row("milliseconds", &Profile::milliseconds, 1);
    row("time of blending in which a message is in transit to the rank, %", &Profile::overlap, 100);
    row("from the first to the last rank that ends round 1, ms", &Profile::spread, 1);
    const auto& [mesh_swap, mesh_radix, swap, radix] = profiles;
    result.claims = {
        {"each round of binary swap takes half of the time of the previous one",
         swap.halving < .1 && mesh_swap.halving < .1,
         fmt::format("within {:.0f} % on the torus, {:.0f} % on the mesh", 100 * swap.halving,
                     100 * mesh_swap.halving)},
        {"binary swap does not overlap messages and blending",
         std::max(swap.overlap, mesh_swap.overlap) < .01,
         fmt::format("{:.1f} %", 100 * std::max(swap.overlap, mesh_swap.overlap))},
        {"[8, 8] blends while messages arrive", std::min(radix.overlap, mesh_radix.overlap) > .1,
         fmt::format("{:.0f} %", 100 * std::min(radix.overlap, mesh_radix.overlap))},
        {"ranks begin the second round of [8, 8] at different times",
         radix.spread > 1 && swap.spread < 1,
         fmt::format("within {:.1f} ms; within {:.1f} ms for binary swap", radix.spread,
                     swap.spread)},
        {"[8, 8] finishes earlier",
         radix.milliseconds < swap.milliseconds && mesh_radix.milliseconds < mesh_swap.milliseconds,
         fmt::format("{:.2f} times on the torus, {:.2f} times on the mesh",
                     swap.milliseconds / radix.milliseconds,
                     mesh_swap.milliseconds / mesh_radix.milliseconds)}};
    return result;
}

constexpr Experiment experiments[] = {
    {"radix-k", "Table 1", "lower bounds of reductions",
     "counted in the schedules. Each term is bounded separately. For Radix-k and Direct-Send, the "
     "steps are the rounds that section 3.2 gives",
     "no reduce or allreduce of a long vector reaches all three bounds: a tree needs the fewest "
     "steps, and halving the vector moves and combines the least data; each bound is reached by "
     "one of the two. Only reduce-scatter reaches all, by binary swap. The steps of Direct-Send "
     "are one round of p - 1 messages, which are sent in p - 1 rounds here so that a window can "
     "limit them",
     table_1, Basis::printed, Match::count},
    {"radix-k", "Figure 1", "Binary-Swap compared with MPI's reductions",
     "Blue Gene/P as for Figure 3. The paper names no algorithms, so those of MPICH for a "
     "user-defined operator and long vectors are used. Pairwise exchange requires a commutative "
     "operator, which blending is not. The paper plots the points without numbers: their values "
     "cannot be known",
     "which reduce-scatter MPI used, and how fast it applied the operator, cannot be known. "
     "Pairwise exchange sends and combines as much as binary swap, so only contention makes it "
     "slower; if MPI applies the operator at half the rate, it is 1.5 to 1.9 times as slow. "
     "Reduce-scatter in order is more than 3 times as slow",
     figure_1},
    {"radix-k", "Figure 2", "rounds and groups of 12 ranks", "counted in the schedule", "",
     figure_2, Basis::printed, Match::count},
    {"radix-k", "Figure 3", "Binary-Swap and [8, 8] on 64 nodes",
     "Blue Gene/P, 374 MB/s per link; 1.5 us per message and 25 Mpx/s are assumed, because the "
     "paper states neither. The paper plots timelines without numbers: durations cannot be known. "
     "A partition of 64 nodes was a mesh; as part of a torus, its links wrap around",
     "on a mesh, messages between ranks at distance 2 share links, so the second round takes as "
     "long for its messages as the first. On a torus, they do not",
     figure_3}};

} // namespace

constinit const std::span<const Experiment> radix_k_paper = experiments;

} // namespace sextant::papers
