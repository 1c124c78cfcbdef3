// SPDX-License-Identifier: BSD-3-Clause
// The gain of a second rank for labels, edges and contours, compared with a control.
//
//   bench_two_ranks [SIDE [ROUNDS]]
//
// Method: in the control, two ranks process the two halves of the image concurrently as separate
// images: nothing is exchanged or merged, but memory and caches are shared in the same way. The
// gain of the control over one rank is the upper limit on two cores of this machine; the gain of
// two ranks is compared with it. Times are wall-clock times from the start of both ranks to the end
// of both. One rank, two ranks and the control run once in each round; medians are shown.
#include "sextant/comm/threads.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/components.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/tiles/tile_borders.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "tests/support/direction_maps.hpp"
#include "tests/support/shapes.hpp"
#include <fmt/format.h>

namespace {

using namespace sextant;

/// An operation on an image in tiles, whose elements are bytes or directions.
struct Case {
    std::string name;
    std::vector<std::byte> pixels;
    ElementFormat element;
    std::function<void(const distributed::Image&)> work;
};

const contour::Pattern& pattern() {
    return contour::find("logp-lev-quad");
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

void label(const distributed::Image& image) {
    label_components(image, {}, pattern());
}

void find_edges(const distributed::Image& image) {
    edge_directions(image, 1, {20, 60}, always(pattern()));
}

void rank_contours(const distributed::Image& directions) {
    const distributed::Padded padded = distributed::with_margin(directions, 2);
    kernel::ContourRanking ranking;
    ranking.apply({reinterpret_cast<const kernel::Direction*>(padded.pixels.data()),
                   padded.held.width, padded.held, directions.shape()},
                  directions.tile());
    const ContoursOfTile contours =
        merge_contours(directions.communicator(), directions.grid(), ranking, pattern());
    const Elements pixels = directions.tile().elements();
    Memory numbers(4 * pixels), ranks(4 * pixels);
    ranking.write(contours.placings,
                  {reinterpret_cast<std::int32_t*>(numbers.data()),
                   reinterpret_cast<std::int32_t*>(ranks.data()), directions.tile().width});
}

std::vector<Case> cases_of(ImageShape image) {
    std::vector<Case> cases;
    for (const test::Shape& shape : {test::blobs(image, 16, 255), test::random_shape(image, 30)})
        cases.push_back({"labels of " + shape.name, bytes_of(shape.samples), gray_u8, label});
    cases.push_back(
        {"edges of blobs", bytes_of(test::blobs(image, 64, 255).samples), gray_u8, find_edges});
    const test::DirectionMap lines = test::directed(test::vertical_lines(image, 4), 2);
    cases.push_back({"contours of lines", bytes_of(lines.codes), direction_i8, rank_contours});
    return cases;
}

/// Ends contours at the last row, where they would continue in the other half.
void end_contours(distributed::Image& directions) {
    const Tile tile = directions.tile();
    const auto last = directions.bytes().last(static_cast<std::size_t>(tile.width));
    for (std::byte& code : last) {
        if (code != static_cast<std::byte>(kernel::no_edge))
            code = static_cast<std::byte>(kernel::edge_end);
    }
}

/// The whole image on one rank; upper and lower half on two ranks; or each half as a separate image
/// (control).
enum class Setup { one, two, control };

double milliseconds(const Case& one, ImageShape image, Setup setup) {
    double taken = 0;
    run_threads(setup == Setup::one ? 1 : 2, [&](Communicator communicator) {
        const int rank = communicator.rank();
        const bool halves = setup == Setup::control;
        const Communicator own = communicator.split(halves ? rank : 0, 0);
        const Elements height = halves ? image.height / 2 : image.height;
        distributed::Image tiles(own, {image.width, height, 1, own.size()}, one.element);
        const Elements first = halves ? rank * height : tiles.tile().y;
        std::copy_n(one.pixels.begin() + first * image.width, tiles.bytes().size(),
                    tiles.bytes().begin());
        if (halves && one.element == direction_i8)
            end_contours(tiles);
        communicator.all_gather(0);
        const auto begin = std::chrono::steady_clock::now();
        one.work(tiles);
        communicator.all_gather(0);
        const std::chrono::duration<double, std::milli> now =
            std::chrono::steady_clock::now() - begin;
        if (rank == 0)
            taken = now.count();
    });
    return taken;
}

void measure(const Case& one, ImageShape image, int rounds) {
    std::vector<double> alone, control, both;
    for (int round = 0; round < rounds; ++round) {
        const double of_one = milliseconds(one, image, Setup::one);
        const double of_two = milliseconds(one, image, Setup::two);
        const double of_halves = milliseconds(one, image, Setup::control);
        alone.push_back(of_one / of_two);
        control.push_back(of_one / of_halves);
        both.push_back(of_halves / of_two);
    }
    fmt::print("{:>24} {:>9.2f} {:>9.2f} {:>9.2f}\n", one.name, median(alone), median(control),
               median(both));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    const Elements side = argc > 1 ? std::stoi(argv[1]) : 4096;
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (side < 64 || side % 2 != 0 || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_two_ranks [SIDE, even [ROUNDS, at least 5]]\n");
        return 2;
    }
    fmt::print("{:>24} {:>9} {:>9} {:>9}\n", "gain over one rank", "two ranks", "control", "ratio");
    for (const Case& one : cases_of({side, side}))
        measure(one, {side, side}, rounds);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_two_ranks: {}\n", error.what());
    return 1;
}
