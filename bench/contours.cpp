// SPDX-License-Identifier: BSD-3-Clause
// The time to compute the head of each contour and the rank of each of its points, compared with a
// walk along each contour.
//
//   bench_contours [CASES.json [ROUNDS]]
//
// Method: both read the same directions and write two 32-bit numbers per pixel on one thread, into
// memory whose pages were touched before; their heads and ranks are compared before anything is
// timed. The walk has less to do: it ignores faults in the input, and junctions and closed
// contours, which these images do not have. Times are CPU times of the thread. In each round both
// run once, which gives one ratio; medians over the rounds with bootstrap intervals are reported,
// never minima.
#include "sextant/kernel/label/contour_ranking.hpp"

#include <algorithm>
#include <fstream>

#include "bench/duel.hpp"
#include "tests/support/direction_maps.hpp"
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;
using test::DirectionMap;

struct Case {
    std::string kind;
    int every = 1; ///< distance between lines in pixels
    ImageShape image;
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases"))
        cases.push_back(
            {row.at("kind"), row.value("every", 1), {row.at("width"), row.at("height")}});
    return cases;
}

DirectionMap make(const Case& one) {
    if (one.kind == "vertical")
        return test::directed(test::vertical_lines(one.image, one.every), 2);
    if (one.kind == "diagonal")
        return test::directed(test::diagonal_lines(one.image, one.every), 1);
    if (one.kind == "snake")
        return test::map_of_path(one.kind, one.image, test::snake_path(one.image), false);
    if (one.kind == "spiral")
        return test::map_of_path(one.kind, one.image, test::spiral_path(one.image), false);
    throw std::invalid_argument(one.kind + ": kinds are vertical, diagonal, snake, spiral");
}

/// Two planes of 32-bit numbers, with every page touched.
struct Planes {
    explicit Planes(ImageShape image)
        : first(image.elements() * 4), second(image.elements() * 4), width(image.width) {
        first.touch();
        second.touch();
    }
    kernel::RankPlanes view() {
        return {reinterpret_cast<std::int32_t*>(first.data()),
                reinterpret_cast<std::int32_t*>(second.data()), width};
    }
    Memory first, second;
    Elements width;
};

/// Follows each contour forward to its head or to a point whose rank is known, then assigns ranks
/// on the way back.
void walk(const DirectionMap& map, const kernel::RankPlanes& planes,
          std::vector<std::int32_t>& configuration) {
    const Elements pixels = map.image.elements();
    std::fill_n(planes.contours, pixels, -1);
    std::fill_n(planes.ranks, pixels, -1);
    Elements leads[8];
    std::transform(std::begin(kernel::steps), std::end(kernel::steps), leads,
                   [&](kernel::Step step) { return step.y * map.image.width + step.x; });
    const kernel::Direction* const codes = map.codes.data();
    for (Elements first = 0; first < pixels; ++first) {
        if (codes[first] == kernel::no_edge || planes.ranks[first] >= 0)
            continue;
        Elements pixel = first;
        configuration.clear();
        while (codes[pixel] >= 0 && planes.ranks[pixel] < 0) {
            configuration.push_back(static_cast<std::int32_t>(pixel));
            pixel += leads[codes[pixel]];
        }
        if (planes.ranks[pixel] < 0) {
            planes.contours[pixel] = static_cast<std::int32_t>(pixel);
            planes.ranks[pixel] = 0;
        }
        const std::int32_t head = planes.contours[pixel];
        std::int32_t rank = planes.ranks[pixel];
        for (std::size_t i = configuration.size(); i-- > 0;) {
            planes.contours[configuration[i]] = head;
            planes.ranks[configuration[i]] = ++rank;
        }
    }
}

/// True if both methods give each pixel the same head and rank. Ours stores the number of a
/// contour, the walk its head.
bool same_contours(const kernel::ContourRanking& ranking, const DirectionMap& map,
                   const kernel::RankPlanes& ours, const kernel::RankPlanes& theirs) {
    for (Elements i = 0; i < map.image.elements(); ++i) {
        const std::int32_t number = ours.contours[i];
        const Elements head =
            number < 0 ? -1 : ranking.chains()[static_cast<std::size_t>(number)].end;
        if (head != theirs.contours[i] || ours.ranks[i] != theirs.ranks[i])
            return false;
    }
    return true;
}

void measure(const Case& one, int rounds) {
    const DirectionMap map = make(one);
    kernel::ContourRanking ranking;
    Planes ours(one.image), theirs(one.image);
    std::vector<std::int32_t> configuration;
    const auto rank = [&] {
        ranking.apply(map.view(), {0, 0, one.image.width, one.image.height});
        ranking.write(ranking.placings(), ours.view());
    };
    const auto walk_along = [&] { walk(map, theirs.view(), configuration); };
    rank();
    walk_along();
    if (!same_contours(ranking, map, ours.view(), theirs.view()))
        throw std::runtime_error(map.name + ": the results differ");
    const bench::Duel fought = bench::duel(rounds, rank, walk_along);
    const double megapixels = static_cast<double>(one.image.elements()) * 1e-6;
    // The time without writing the output, which takes about 1 ms per megapixel.
    const double beyond_writing = median(fought.ours) - megapixels;
    fmt::print("{:>10} {:>6} {:>12} {:>8.1f} {:>22} {:>24} {:>20} {:>9.1f}\n", one.kind, one.every,
               fmt::format("{}x{}", one.image.width, one.image.height),
               100. * static_cast<double>(ranking.points()) /
                   static_cast<double>(one.image.elements()),
               bench::with_interval(fought.ours, megapixels),
               bench::with_interval(fought.theirs, megapixels), bench::with_interval(fought.ratios),
               beyond_writing * 1e6 / static_cast<double>(ranking.points()));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/contours.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_contours [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
    fmt::print("{:>10} {:>6} {:>12} {:>8} {:>22} {:>24} {:>20} {:>9}\n", "kind", "every", "image",
               "edges, %", "ours, CPU ms/Mpixel", "the walk, CPU ms/Mpixel", "ratio", "ns/point*");
    for (const Case& one : read_cases(file))
        measure(one, rounds);
    fmt::print("* beyond 1 ms/Mpixel\n");
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_contours: {}\n", error.what());
    return 1;
}
