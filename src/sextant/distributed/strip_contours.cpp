// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/strip_contours.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/canny.hpp"
#include "sextant/distributed/contour_merging.hpp"
#include "sextant/distributed/strip_tiles.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <fmt/format.h>

namespace sextant::distributed {

void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to) {
    const Tile& tile = samples.tile;
    const auto convert = [&](const auto* first) {
        for (Elements i = 0; i < tile.elements(); ++i) {
            const auto code = static_cast<float>(first[i]);
            if (!(code >= kernel::edge_end && code <= 7 &&
                  code == static_cast<float>(static_cast<int>(code))))
                throw InvalidFile(path, fmt::format("has {} at ({}, {}), expected a direction: -2 "
                                                    "to 7",
                                                    code, tile.x + i % tile.width,
                                                    tile.y + i / tile.width));
            to[i] = static_cast<kernel::Direction>(code);
        }
    };
    std::visit(convert, samples.first);
}

Image directions_from(const Image& samples, const std::string& path) {
    Image directions(samples.communicator(), samples.grid(), direction_i8);
    convert_directions(sample_view(samples), path,
                       reinterpret_cast<kernel::Direction*>(directions.bytes().data()));
    return directions;
}

namespace {

using contour::Boundary;
using contour::Crossing;

/// This rank's tile of a strip, and the pixels that ranking reads for it.
struct Place {
    Place(const StripWork& work, int strip)
        : number(work.tiles.number(strip, work.communicator.rank())),
          tile(work.tiles.tile(strip, work.communicator.rank())),
          held(kernel::grown(tile, ranking_margin, work.tiles.image())),
          image(work.tiles.image()) {}
    int number;
    Tile tile, held;
    ImageShape image;
};

/// The points of this rank's tile.
std::vector<RankedPoint> points_of(const StripWork& work, const Tile& tile,
                                   const kernel::ContourRanking& ranking,
                                   const ContoursOfTile& contours) {
    std::vector<RankedPoint> points;
    points.reserve(static_cast<std::size_t>(ranking.points()));
    each_point(work.tiles.grid, tile, ranking, contours,
               [&](std::size_t chain, Elements rank, Elements pixel) {
                   const bool closed = contours.placings[chain].period != kernel::Placing::open;
                   points.push_back({contours.heads[chain], pixel, static_cast<std::int32_t>(rank),
                                     closed ? 1 : 0});
               });
    return points;
}

/// Ranks this rank's tile of a strip; `ranking` is reused to keep its memory.
void apply(const StripWork& work, int strip, const StripDirections& directions,
           kernel::ContourRanking& ranking) {
    const std::vector<kernel::Direction> codes = directions(strip);
    const Place at(work, strip);
    agree(work.communicator, [&] {
        ranking.apply({codes.data(), at.held.width, at.held, at.image}, at.tile);
    });
}

Junctions sum_over_ranks(const Communicator& communicator, const Junctions& mine) {
    Junctions sum;
    for (const Junctions& some : communicator.all_gather(mine)) {
        sum.junctions += some.junctions;
        sum.cut += some.cut;
    }
    return sum;
}

} // namespace

StripDirections directions_of(const StripWork& work, const BytePlane& edges) {
    return [work, &edges](int strip) {
        const Place at(work, strip);
        const std::vector<std::uint8_t> codes = edges.read(strip, ranking_margin + 1);
        std::vector<kernel::Direction> made;
        agree(work.communicator, [&] {
            const Tile around = kernel::grown(at.tile, ranking_margin + 1, at.image);
            made.resize(static_cast<std::size_t>(at.held.elements()));
            kernel::find_directions({codes.data(), around.width, around, at.image}, at.held,
                                    made.data());
        });
        return made;
    };
}

StripDirections directions_in(const StripWork& work, RowSource& source) {
    return [work, &source](int strip) {
        std::vector<kernel::Direction> made;
        agree(work.communicator, [&] {
            const Place at(work, strip);
            made.resize(static_cast<std::size_t>(at.held.elements()));
            convert_directions(SamplesGoingDown(source).read(at.held), source.path(), made.data());
        });
        return made;
    };
}

Junctions rank_strips(const StripWork& work, const StripDirections& directions,
                      PointOrder* points) {
    const Communicator& communicator = work.communicator;
    const contour::Order order = order_of(work.tiles);
    StripLists<Crossing> lists(
        communicator, work.tiles,
        {[&order](std::span<const Boundary> some) { return contour::merge(order, some); },
         contour::follow},
        work.output);
    kernel::ContourRanking ranking;
    Junctions counted;
    for (int strip = 0; strip < work.tiles.strips; ++strip) {
        work.progress.say("contours", strip, work.tiles.strips);
        apply(work, strip, directions, ranking);
        counted.junctions += ranking.junctions();
        counted.cut += ranking.cut();
        lists.go_down(boundary_of(ranking, Place(work, strip).number));
    }
    for (int strip = work.tiles.strips - 1; strip >= 0; --strip) {
        work.progress.say("points", work.tiles.strips - 1 - strip, work.tiles.strips);
        apply(work, strip, directions, ranking);
        const Place at(work, strip);
        const std::vector<Crossing> crossings = lists.go_up(strip, boundary_of(ranking, at.number));
        std::vector<std::vector<RankedPoint>> to(static_cast<std::size_t>(communicator.size()));
        agree(communicator,
              [&] { to[0] = points_of(work, at.tile, ranking, place_chains(ranking, crossings)); });
        const ByRank<RankedPoint> got = deal(communicator, to);
        agree(communicator, [&] {
            if (points)
                points->add(got.values);
        });
    }
    return sum_over_ranks(communicator, counted);
}

} // namespace sextant::distributed
