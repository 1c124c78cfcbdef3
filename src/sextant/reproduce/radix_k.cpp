// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/mpi_reductions.hpp"
#include "sextant/reproduce/papers.hpp"
#include "sextant/reproduce/runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::reproduce {

namespace {

/// 8 as long as it divides, then what is left: the paper's choice.
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

/// Factors of 8 at most where there are such, largest first; a larger prime last.
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

// Figure 1.

/// The tori that there are, by hosts.
const std::map<int, std::string> tori = {
    {32, "torus-4x4x2"},  {64, "torus-4x4x4"},    {128, "torus-8x4x4"},    {256, "torus-8x8x4"},
    {512, "torus-8x8x8"}, {1024, "torus-16x8x8"}, {4096, "torus-16x16x16"}};

/// Milliseconds of a reduction as MPI does it.
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

// Figure 3.

Result figure_3(Extent) {
    const Setting torus{"torus-4x4x4"};
    Result result{"milliseconds, 2 Mpx on 64 nodes", {"simulated"}, {}, {}};
    const double swap = milliseconds(composite("binary-swap", 64, 2 * mega, torus));
    const double radix = milliseconds(composite("radix-k", 64, 2 * mega, torus, {8, 8}));
    result.rows = {{"binary-swap", {}, {swap}}, {"radix-k 8,8", {}, {radix}}};
    result.claims.push_back({"[8, 8] overlaps messages and blending and is done earlier",
                             radix < swap, fmt::format("{:.2f} times", swap / radix)});
    return result;
}

// Figure 4.

Result figure_4(Extent extent) {
    Result result{"times that Radix-k is faster than Binary-Swap", {"simulated"}, {}, {}};
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

// Figure 5.

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
    result.claims.push_back({"other numbers than powers of two cost no constant factor of two",
                             worst < 2 * best,
                             fmt::format("from {:.0f} to {:.0f} ms", best, worst)});
    return result;
}

// Figure 6.

const std::vector<std::vector<int>> vectors = {
    {2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {8, 8, 2, 2}, {8, 8, 4}, {16, 16}, {32, 8}, {64, 4}};

/// The radices that take least time.
std::string best(const Result& result, std::size_t column) {
    return std::min_element(
               result.rows.begin(), result.rows.end(),
               [&](const Row& a, const Row& b) { return a.ours[column] < b.ours[column]; })
        ->label;
}

Result figure_6(Extent extent) {
    Result result{
        "milliseconds, 2 Mpx on 256 nodes", {"mesh", "torus", "torus, 2x2x2 blocks"}, {}, {}};
    for (const std::vector<int>& radices : vectors) {
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
        {"unmapped, the best radices hold 16 or more", std::stoi(unmapped) >= 16, unmapped},
        {"mapped to blocks of 2x2x2, the best hold 8", mapped.starts_with("8,8"), mapped},
        {"wrapping links matter, most for large radices", loss(5) > 1.3 && loss(5) > loss(0),
         fmt::format("{:.2f} for 32,8, {:.2f} for binary swap", loss(5), loss(0))}};
    return result;
}

// Figure 7.

/// The group of a number in the paper's figure.
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
        // The middle of the paper's line for multiples of four, .06 to .08 s.
        const bool has_number = group == "multiples of 4";
        result.rows.push_back(
            {group, has_number ? std::optional(70.0) : std::nullopt, {means[group]}});
    }
    result.claims = {
        {"multiples of 4 are fastest, then those of 3, then of 5, then the rest",
         means["multiples of 4"] < means["multiples of 3"] &&
             means["multiples of 3"] < means["multiples of 5"] &&
             means["multiples of 5"] < means["the rest"],
         fmt::format("{:.0f}, {:.0f}, {:.0f}, {:.0f} ms", means["multiples of 4"],
                     means["multiples of 3"], means["multiples of 5"], means["the rest"])}};
    return result;
}

constexpr std::string_view paper = "radix-k";
constexpr std::string_view blue_gene =
    "Blue Gene/P, 374 MB/s a link; 1.5 us a message and 25 Mpx/s are assumed, the paper gives none";
constexpr Experiment experiments[] = {
    {paper, "Figure 1", "Binary-Swap beside MPI's reductions",
     "as below; the paper names no algorithms: taken are those of MPICH for an operator of the "
     "user's own and long vectors. By pairs asks that operands commute, as blending does not",
     "which of the two reduce-scatters MPI took depends on whether blending was declared to "
     "commute: the paper's factor lies between theirs",
     figure_1},
    {paper, "Figure 3", "Binary-Swap and [8, 8] on 64 nodes", blue_gene, "", figure_3},
    {paper, "Figure 4", "image and system size, 8 first; the paper prints the mean of all",
     blue_gene,
     "from 1,024 nodes on a group of eight is half of a ring of 16 and cannot send around it, as "
     "on a "
     "mesh",
     figure_4},
    {paper, "Figure 5", "other numbers than powers of two", blue_gene,
     "a large prime factor is one round of direct-send, whose messages share links", figure_5},
    {paper, "Figure 6", "radices at 256 nodes: mesh, torus, mapping", blue_gene, "", figure_6},
    {paper, "Figure 7", "a Myrinet cluster, ascending primes",
     "1.1 GB/s, 3 us a message, the loss of capacity of fat-tree-144-calibrated, all assumed; "
     "blending fitted to .06 s at 4 ranks",
     "without the cluster's parameters the groups' order can be tested, their distance not",
     figure_7}};

} // namespace

std::span<const Experiment> radix_k_paper() {
    return experiments;
}

} // namespace sextant::reproduce
