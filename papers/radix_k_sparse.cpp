// SPDX-License-Identifier: BSD-3-Clause
// Future work of the Radix-k paper: images with few active pixels.
#include "sextant/compositing/swap_algorithms.hpp"

#include <algorithm>
#include <cmath>

#include "papers/experiments.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::papers {

namespace {

constexpr int ranks = 64;

/// The fraction of active pixels before each round if a random fraction `density` of each rank's
/// image is active: 1 - (1 - density)^m for m blended images.
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

/// The results for one density: times of the displayed radices, and the fastest of all radices.
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

/// A claim that holds if the best first radix never decreases with decreasing density, and is
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
    Result result{"milliseconds, 2 Mpx on 64 ranks", {}};
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

constinit const std::span<const Experiment> radix_k_sparse = sparse_experiments;

} // namespace sextant::papers
