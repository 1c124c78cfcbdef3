// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/reproduce_radix_k.hpp"

#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::lab {

namespace {

/// The parts of a vector, with one block per rank, that two partners exchange: the blocks of all
/// ranks outside their subtrees, which are `trees` ranks from `first` on, and the block of rank
/// `whose`.
std::array<Region, 3> in_use(const Region& vector, Elements a_block, int first, int trees,
                             int whose) {
    const Elements begin = first * a_block, end = (first + trees) * a_block;
    return {block(vector.buffer, 0, begin), block(vector.buffer, whose * a_block, a_block),
            block(vector.buffer, end, vector.length - end)};
}

/// Folds this rank's operand and the received one into `to`, the lower rank's first.
void fold_in_order(ProgramBuilder& builder, const Region& to, const Region& own, const Region& come,
                   bool own_is_lower) {
    builder.fold(to, {own_is_lower ? own : come, own_is_lower ? come : own});
}

} // namespace

Program recursive_doubling_allreduce(Elements elements, int ranks, int rank) {
    ProgramBuilder builder;
    Region sum = builder.input(elements);
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2) {
        const int partner = rank ^ distance;
        const Region come = builder.scratch(elements), next = builder.scratch(elements);
        builder.round(round);
        builder.send(partner, sum);
        builder.receive(partner, come);
        fold_in_order(builder, next, sum, come, rank < partner);
        sum = next;
    }
    return builder.finish(sum);
}

Program recursive_doubling_reduce_scatter(Elements elements, int ranks, int rank) {
    const Elements a_block = elements / ranks;
    ProgramBuilder builder;
    Region sum = builder.input(elements);
    for (int round = 0, distance = 1; distance < ranks; ++round, distance *= 2) {
        const int partner = rank ^ distance;
        const int both = rank & -2 * distance; // first rank of both partners' subtrees
        const Region come = builder.scratch(elements), next = builder.scratch(elements);
        const auto given = in_use(sum, a_block, both, 2 * distance, partner);
        const auto taken = in_use(come, a_block, both, 2 * distance, rank);
        builder.round(round);
        builder.send(partner, given);
        builder.receive(partner, taken);
        const auto own = in_use(sum, a_block, both, 2 * distance, rank);
        const auto made = in_use(next, a_block, both, 2 * distance, rank);
        for (std::size_t part = 0; part < made.size(); ++part)
            fold_in_order(builder, made[part], own[part], taken[part], rank < partner);
        sum = next;
    }
    return builder.finish(block(sum.buffer, rank * a_block, a_block));
}

Program pairwise_reduce_scatter(Elements elements, int ranks, int rank) {
    const Elements a_block = elements / ranks;
    ProgramBuilder builder;
    const Region own = builder.input(elements);
    // All receives use one buffer, so each waits until the previous block has been combined.
    const Region come = builder.scratch(a_block), sum = builder.output(a_block);
    Region so_far = block(own.buffer, rank * a_block, a_block);
    builder.window(1);
    for (int step = 1; step < ranks; ++step) {
        const int to = (rank + step) % ranks;
        builder.round(step - 1);
        builder.send(to, block(own.buffer, to * a_block, a_block));
        builder.receive((rank + ranks - step) % ranks, come);
        builder.fold(sum, {so_far, come});
        so_far = sum;
    }
    return builder.finish(so_far);
}

namespace {

/// The paper's radices: 8 while the number of ranks is divisible by 8, then the remaining factor.
std::vector<int> eights_first(int ranks) {
    std::vector<int> radices;
    for (; ranks % 8 == 0 && ranks > 8; ranks /= 8)
        radices.push_back(8);
    radices.push_back(ranks);
    return radices;
}

std::vector<int> ascending_primes(int number) {
    std::vector<int> primes;
    for (int prime = 2; number > 1; ++prime) {
        for (; number % prime == 0; number /= prime)
            primes.push_back(prime);
    }
    return primes;
}

/// The radices: factors of at most 8, largest first, then the remaining factor.
std::vector<int> factors_to_eight(int number) {
    std::vector<int> radices;
    for (int factor = 8; factor > 1; --factor) {
        for (; number % factor == 0; number /= factor)
            radices.push_back(factor);
    }
    if (number > 1)
        radices.push_back(number);
    return radices;
}

double milliseconds(Seconds seconds) {
    return 1e3 * seconds;
}

// Figure 1 of the Radix-k paper.

/// The shipped torus platforms, by number of hosts.
const std::map<int, std::string> tori = {
    {32, "torus-4x4x2"},  {64, "torus-4x4x4"},    {128, "torus-8x4x4"},    {256, "torus-8x8x4"},
    {512, "torus-8x8x8"}, {1024, "torus-16x8x8"}, {4096, "torus-16x16x16"}};

/// The simulated time of one of MPI's reductions, in milliseconds.
double reduced(Program (*reduction)(Elements, int, int), int ranks, Elements pixels) {
    const Schedule schedule =
        make_schedule(ranks, [&](int rank) { return reduction(pixels, ranks, rank); });
    return milliseconds(run(schedule, 16, {tori.at(ranks)}).seconds);
}

Row reductions(int ranks, Elements megapixels) {
    const Elements pixels = megapixels * mega;
    const auto compositing = [&](const char* algorithm) {
        return milliseconds(composite(algorithm, ranks, pixels, {tori.at(ranks)}));
    };
    return {fmt::format("{} Mpx, {} nodes", megapixels, ranks),
            {},
            {compositing("binary-swap"), reduced(pairwise_reduce_scatter, ranks, pixels),
             reduced(recursive_doubling_reduce_scatter, ranks, pixels), compositing("binary-tree"),
             reduced(recursive_doubling_allreduce, ranks, pixels)}};
}

Result figure_1(Extent extent) {
    Result result{"milliseconds",
                  {"binary-swap", "reduce-scatter by pairs", "reduce-scatter in order", "reduce",
                   "allreduce"},
                  {},
                  {}};
    for (const int ranks : {32, 64, 128, 256}) {
        if (ranks == 64 || extent == Extent::whole)
            result.rows.push_back(reductions(ranks, 2));
    }
    if (extent == Extent::whole) {
        for (const Elements megapixels : {1, 4, 8})
            result.rows.push_back(reductions(64, megapixels));
    }
    double least = 1e9, most = 0;
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

// Figure 3 of the Radix-k paper.

Result figure_3(Extent) {
    const Setting torus{"torus-4x4x4"};
    Result result{"milliseconds, 2 Mpx on 64 nodes", {"simulated"}, {}, {}};
    const double swap = milliseconds(composite("binary-swap", 64, 2 * mega, torus));
    const double radix = milliseconds(composite("radix-k", 64, 2 * mega, torus, {8, 8}));
    result.rows = {{"binary-swap", {}, {swap}}, {"radix-k 8,8", {}, {radix}}};
    result.claims.push_back({"[8, 8] overlaps messages and blending and finishes earlier",
                             radix < swap, fmt::format("{:.2f} times", swap / radix)});
    return result;
}

// Figure 4 of the Radix-k paper.

Result figure_4(Extent extent) {
    Result result{"speedup of Radix-k over Binary-Swap", {"simulated"}, {}, {}};
    const bool whole = extent == Extent::whole;
    double sum = 0, least = 1e9;
    for (const Elements pixels :
         whole ? std::vector<Elements>{1, 2, 4, 8} : std::vector<Elements>{2}) {
        for (const auto& [ranks, torus] : tori) {
            if (ranks > (whole ? 4096 : 256))
                continue;
            const Seconds swap = composite("binary-swap", ranks, pixels * mega, {torus});
            const Seconds radix =
                composite("radix-k", ranks, pixels * mega, {torus}, eights_first(ranks));
            result.rows.push_back(
                {fmt::format("{} Mpx, {} nodes", pixels, ranks), 1.45, {swap / radix}});
            sum += swap / radix;
            least = std::min(least, swap / radix);
        }
    }
    const double mean = sum / static_cast<double>(result.rows.size());
    result.claims.push_back(
        {"Radix-k is never slower", least >= 1, fmt::format("at least {:.2f} times", least)});
    result.claims.push_back({"1.45 times faster on average", std::abs(mean / 1.45 - 1) < .1,
                             fmt::format("{:.2f}", mean)});
    return result;
}

// Figure 5 of the Radix-k paper.

Result figure_5(Extent extent) {
    Result result{"milliseconds, 2 Mpx, nodes of a torus of 1,024", {"radix-k"}, {}, {}};
    double worst = 0, best = 1e9;
    const bool whole = extent == Extent::whole;
    for (int ranks = 32; ranks <= (whole ? 1024 : 352); ranks += whole ? 32 : 160) {
        const double took = milliseconds(
            composite("radix-k", ranks, 2 * mega, {"torus-16x8x8"}, factors_to_eight(ranks)));
        result.rows.push_back(
            {fmt::format("{} nodes, {}", ranks, fmt::join(factors_to_eight(ranks), ",")),
             {},
             {took}});
        worst = std::max(worst, took);
        best = std::min(best, took);
    }
    result.claims.push_back(
        {"numbers of nodes that are not powers of two do not cost a constant factor of two",
         worst < 2 * best, fmt::format("from {:.0f} to {:.0f} ms", best, worst)});
    return result;
}

// Figure 6 of the Radix-k paper.

const std::vector<std::vector<int>> radix_vectors = {
    {2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {8, 8, 2, 2}, {8, 8, 4}, {16, 16}, {32, 8}, {64, 4}};

/// The fastest radices in a column.
std::string best(const Result& result, std::size_t column) {
    return std::min_element(
               result.rows.begin(), result.rows.end(),
               [&](const Row& a, const Row& b) { return a.ours[column] < b.ours[column]; })
        ->label;
}

Result figure_6(Extent extent) {
    Result result{
        "milliseconds, 2 Mpx on 256 nodes", {"mesh", "torus", "torus, 2x2x2 blocks"}, {}, {}};
    for (const std::vector<int>& radices : radix_vectors) {
        if (extent == Extent::quick && radices.front() == 64)
            continue;
        Row row{fmt::format("{}", fmt::join(radices, ",")), {}, {}};
        for (const Setting& setting : {Setting{"mesh-8x8x4"}, Setting{"torus-8x8x4"},
                                       Setting{"torus-8x8x4", "blocks-8x8x4"}})
            row.ours.push_back(milliseconds(composite("radix-k", 256, 2 * mega, setting, radices)));
        result.rows.push_back(row);
    }
    const auto loss = [&](std::size_t row) {
        return result.rows[row].ours[0] / result.rows[row].ours[1];
    };
    const std::string unmapped = best(result, 1), mapped = best(result, 2);
    result.claims = {
        {"unmapped, the best first radix is 16 or more", std::stoi(unmapped) >= 16, unmapped},
        {"mapped to blocks of 2x2x2, the best first radix is 8", mapped.starts_with("8,8"), mapped},
        {"wrap-around links matter, most for large radices", loss(5) > 1.3 && loss(5) > loss(0),
         fmt::format("{:.2f} for 32,8, {:.2f} for binary swap", loss(5), loss(0))}};
    return result;
}

// Figure 7 of the Radix-k paper.

/// The group to which Figure 7 of the paper assigns a number of ranks.
std::string group_of(int ranks) {
    for (const int factor : {4, 3, 5}) {
        if (ranks % factor == 0)
            return fmt::format("multiples of {}", factor);
    }
    return "the rest";
}

Result figure_7(Extent extent) {
    Result result{"milliseconds, 2 Mpx, mean of a group", {"simulated"}, {}, {}};
    std::map<std::string, std::vector<double>> groups;
    for (int ranks = 4; ranks <= 96; ranks += extent == Extent::whole ? 1 : 7) {
        groups[group_of(ranks)].push_back(milliseconds(
            composite("radix-k", ranks, 2 * mega, {"myrinet-100"}, ascending_primes(ranks))));
    }
    std::map<std::string, double> means;
    for (const auto& [group, times] : groups) {
        for (const double time : times)
            means[group] += time / static_cast<double>(times.size());
        // The paper's line for multiples of four is between .06 and .08 s.
        const bool has_number = group == "multiples of 4";
        result.rows.push_back(
            {group, has_number ? std::optional(70.0) : std::nullopt, {means[group]}});
    }
    result.claims = {
        {"multiples of 4 are fastest, then multiples of 3, then multiples of 5, then the rest",
         means["multiples of 4"] < means["multiples of 3"] &&
             means["multiples of 3"] < means["multiples of 5"] &&
             means["multiples of 5"] < means["the rest"],
         fmt::format("{:.0f}, {:.0f}, {:.0f}, {:.0f} ms", means["multiples of 4"],
                     means["multiples of 3"], means["multiples of 5"], means["the rest"])}};
    return result;
}

constexpr std::string_view paper = "radix-k";
constexpr std::string_view blue_gene = "Blue Gene/P, 374 MB/s per link; 1.5 us per message and 25 "
                                       "Mpx/s are assumed, because the paper states neither";
constexpr Experiment experiments[] = {
    {paper, "Figure 1", "Binary-Swap compared with MPI's reductions",
     "as for Figure 3; the paper names no algorithms, so those of MPICH for a user-defined "
     "operator and long vectors are used. Pairwise exchange requires a commutative operator, which "
     "blending is not",
     "which reduce-scatter MPI used depends on whether blending was declared commutative: the "
     "paper's factor is between the two",
     figure_1},
    {paper, "Figure 3", "Binary-Swap and [8, 8] on 64 nodes", blue_gene, "", figure_3},
    {paper, "Figure 4", "image and system size, first radix 8; the paper gives only the mean",
     blue_gene,
     "from 1,024 nodes on, a group of eight is half of a ring of 16 and cannot use its wrap-around "
     "link, so the ring acts as a mesh",
     figure_4},
    {paper, "Figure 5", "numbers that are not powers of two", blue_gene,
     "a large prime factor is one round of direct-send, whose messages share links", figure_5},
    {paper, "Figure 6", "radices at 256 nodes: mesh, torus, mapping", blue_gene, "", figure_6},
    {paper, "Figure 7", "a Myrinet cluster, ascending primes",
     "1.1 GB/s, 3 us per message and the loss of capacity of fat-tree-144-calibrated are assumed; "
     "the blending rate is fitted to .06 s at 4 ranks",
     "without the parameters of the cluster, the ranking of the groups can be tested, but not the "
     "differences between them",
     figure_7}};

} // namespace

std::span<const Experiment> radix_k_paper() {
    return experiments;
}

namespace {

constexpr int ranks = 64;

/// The fraction of active pixels before each round if a fraction `density` of each rank's image is
/// active, at random: 1 - (1 - density)^m for m blended images.
std::vector<double> active_by_round(const std::vector<int>& radices, double density) {
    std::vector<double> active;
    int blended = 1;
    for (const int radix : radices) {
        active.push_back(1 - std::pow(1 - density, blended));
        blended *= radix;
    }
    return active;
}

double sparse_milliseconds(const std::vector<int>& radices, double density,
                           const std::string& platform) {
    const Setting setting{.platform = platform,
                          .active_by_round = active_by_round(radices, density)};
    return 1e3 * composite("radix-k", ranks, 2 * mega, setting, radices);
}

std::string text(const std::vector<int>& radices) {
    return fmt::format("{}", fmt::join(radices, ","));
}

const std::vector<std::vector<int>> shown = {
    {2, 2, 2, 2, 2, 2}, {4, 4, 4}, {8, 8}, {16, 4}, {4, 16}, {32, 2}, {2, 32}, {64}};

/// The results for one density: times of the displayed radices, and the fastest radices of all.
struct Found {
    Row row;
    std::vector<int> best;
};

Found at_density(double density, const std::string& platform,
                 const std::vector<std::vector<int>>& vectors) {
    std::vector<double> times;
    for (const std::vector<int>& radices : vectors)
        times.push_back(sparse_milliseconds(radices, density, platform));
    const auto least = std::min_element(times.begin(), times.end()) - times.begin();
    const std::vector<int>& best = vectors[static_cast<std::size_t>(least)];
    Found found{
        {fmt::format("{}, {:.3g} % active: best {}", platform, 100 * density, text(best)), {}, {}},
        best};
    for (const std::vector<int>& radices : shown) {
        const auto at = std::find(vectors.begin(), vectors.end(), radices) - vectors.begin();
        found.row.ours.push_back(times[static_cast<std::size_t>(at)]);
    }
    found.row.ours.push_back(*std::min_element(times.begin(), times.end()));
    return found;
}

/// A claim that holds if the best first radix never decreases as fewer pixels are active, and is
/// larger at the lowest density than at the highest.
Claim higher_radices_first(const std::string& platform, const std::vector<Found>& by_density) {
    std::vector<int> first;
    for (const Found& found : by_density)
        first.push_back(found.best.front());
    return {
        fmt::format("on {}, fewer active pixels favour higher radices in early rounds", platform),
        std::is_sorted(first.begin(), first.end()) && first.front() < first.back(),
        fmt::format("the best first radices are {}", fmt::join(first, ", "))};
}

Result radices_by_density(Extent extent) {
    const bool whole = extent == Extent::whole;
    Result result{"milliseconds, 2 Mpx on 64 ranks", {}, {}, {}};
    for (const std::vector<int>& radices : shown)
        result.columns.push_back(text(radices));
    result.columns.push_back("best");
    const auto vectors = whole ? compositing::factorisations(ranks) : shown;
    const auto densities = whole ? std::vector{1., .5, .25, .1, .03, .01} : std::vector{1., .03};
    for (const char* platform : {"torus-4x4x4", "fat-tree-144-calibrated"}) {
        std::vector<Found> by_density;
        for (const double density : densities) {
            by_density.push_back(at_density(density, platform, vectors));
            result.rows.push_back(by_density.back().row);
        }
        result.claims.push_back(higher_radices_first(platform, by_density));
    }
    return result;
}

constexpr Experiment sparse_experiments[] = {
    {"radix-k", "section 5.2", "do higher radices in early rounds suit sparse images?",
     "a hypothesis that the paper left open. A random fraction f of each rank's pixels is "
     "active; of m blended images, 1 - (1 - f)^m are. Messages and folds contain only active "
     "pixels; the cost of encoding is ignored. With --whole all 32 vectors of radices are compared",
     "on the torus a single round of all ranks is the fastest even if all pixels are active: no "
     "higher first radix exists",
     radices_by_density}};

} // namespace

std::span<const Experiment> radix_k_sparse() {
    return sparse_experiments;
}

} // namespace sextant::lab
