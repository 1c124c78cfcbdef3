// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/judge.hpp"

#include "sextant/compositing/radix_k.hpp"
#include "sextant/compositing/ways.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/planner/asked.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::operation {

namespace {

/// The launches that are looked at.
using Launches = std::vector<std::size_t>;

Launches all_of(const EvaluatedCase& one) {
    Launches launches(one.ways.front().measured.size());
    std::iota(launches.begin(), launches.end(), std::size_t{0});
    return launches;
}

/// The time of each way, in that of the median way.
std::vector<double> shares(const EvaluatedCase& one, const Launches& launches) {
    std::vector<std::vector<double>> of_way(one.ways.size());
    for (const std::size_t launch : launches) {
        std::vector<double> times;
        for (const EvaluatedWay& way : one.ways)
            times.push_back(way.measured[launch]);
        const double middle = median(times);
        for (std::size_t w = 0; w < times.size(); ++w)
            of_way[w].push_back(times[w] / middle);
    }
    std::vector<double> shares;
    for (const std::vector<double>& times : of_way)
        shares.push_back(median(times));
    return shares;
}

/// Of the catalogue's ways: a baseline is no choice of ours.
std::size_t best_of(const EvaluatedCase& one, const std::vector<double>& shares) {
    std::size_t best = one.ways.size();
    for (std::size_t w = 0; w < shares.size(); ++w) {
        if (!one.ways[w].baseline && (best == one.ways.size() || shares[w] < shares[best]))
            best = w;
    }
    return best;
}

double regret(const EvaluatedCase& one, const std::vector<double>& shares, std::size_t taken) {
    return shares[taken] / shares[best_of(one, shares)] - 1;
}

/// A policy as the name of its way for so many ranks; "" where it has none.
struct Policy {
    const char* name;
    std::string (*way)(int ranks, bool collect);
};

std::string radix(const std::vector<int>& radices) {
    return compositing::Way{&compositing::find("radix-k"), {radices, 0}}.text();
}

std::vector<int> ascending_primes(int ranks) {
    std::vector<int> primes;
    for (int k = 2; ranks > 1; ++k) {
        for (; ranks % k == 0; ranks /= k)
            primes.push_back(k);
    }
    return primes;
}

constexpr Policy policies[] = {
    {"binary swap, or 2-3 swap",
     [](int ranks, bool) -> std::string {
         return (ranks & (ranks - 1)) == 0 ? "binary-swap" : "two-three-swap";
     }},
    {"direct send", [](int, bool) -> std::string { return "direct-send"; }},
    {"Shift-Based", [](int, bool) -> std::string { return "shift-based, window 1"; }},
    {"radix-k, 8 first, then 4 and 2",
     [](int ranks, bool) {
         const std::vector<int> radices = planner::largest_first_radices(ranks);
         return radix(radices.empty() ? std::vector<int>{ranks} : radices);
     }},
    {"radix-k, ascending primes", [](int ranks, bool) { return radix(ascending_primes(ranks)); }},
    {"MPI_Reduce, where the picture is collected",
     [](int, bool collect) -> std::string { return collect ? "mpi-reduce" : ""; }},
    {"MPI_Reduce_scatter, where it is not",
     [](int, bool collect) -> std::string { return collect ? "" : "mpi-reduce-scatter"; }}};

/// An oracle that knows one half of the launches, judged by the other; both ways round.
double floor_of(const EvaluatedCase& one) {
    Launches halves[2];
    for (const std::size_t launch : all_of(one))
        halves[launch % 2].push_back(launch);
    const std::vector<double> a = shares(one, halves[0]), b = shares(one, halves[1]);
    return (regret(one, b, best_of(one, a)) + regret(one, a, best_of(one, b))) / 2;
}

void add_errors(std::vector<double>& errors, const EvaluatedCase& one) {
    for (const EvaluatedWay& way : one.ways) {
        if (way.predicted)
            errors.push_back(std::abs(*way.predicted / median(way.measured) - 1));
    }
}

} // namespace

double Regrets::mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Regrets::p95() const {
    return quantile(values, .95);
}

double Regrets::worst() const {
    return *std::max_element(values.begin(), values.end());
}

namespace {

void judge(const Evaluation& evaluation, Verdict& verdict) {
    constexpr double worth_naming = .02;
    for (const EvaluatedCase& one : evaluation.cases) {
        const std::vector<double> of_ways = shares(one, all_of(one));
        const auto place = [&](const std::string& name) {
            return static_cast<std::size_t>(one.find(name) - one.ways.data());
        };
        const double lost = regret(one, of_ways, place(one.chosen));
        verdict.planner.values.push_back(lost);
        if (lost > worth_naming) {
            verdict.losses.push_back(
                {one.what.name, one.chosen, one.ways[best_of(one, of_ways)].name, lost});
        }
        const std::vector<std::string> taken = ways_of_policies(evaluation.ranks, one.what.collect);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if (one.find(taken[i]))
                verdict.policies[i].values.push_back(regret(one, of_ways, place(taken[i])));
        }
        if (one.ways.front().measured.size() > 1)
            verdict.floor.values.push_back(floor_of(one));
        add_errors(verdict.errors, one);
    }
}

} // namespace

std::vector<std::string> ways_of_policies(int ranks, bool collect) {
    std::vector<std::string> ways;
    for (const Policy& policy : policies)
        ways.push_back(policy.way(ranks, collect));
    return ways;
}

Verdict judge(std::span<const Evaluation> evaluations) {
    Verdict verdict;
    verdict.planner.policy = "the planner";
    verdict.floor.policy = "noise floor: an oracle of half the launches";
    for (const Policy& policy : policies)
        verdict.policies.push_back({policy.name, {}});
    for (const Evaluation& evaluation : evaluations)
        judge(evaluation, verdict);
    std::erase_if(verdict.policies, [](const Regrets& each) { return each.values.empty(); });
    std::stable_sort(verdict.losses.begin(), verdict.losses.end(),
                     [](const Loss& a, const Loss& b) { return a.regret > b.regret; });
    return verdict;
}

} // namespace sextant::operation
