// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/strip_contours.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

Tile StripTiles::rows(int strip, Elements margin) const {
    const Tile first = tile(strip, 0), last = tile(strip, ranks() - 1);
    return kernel::grown({0, first.y, grid.width, last.y + last.height - first.y}, margin, image());
}

kernel::SampleView TopDownReader::read(const Tile& held) {
    const Bytes row = held.width * source_.element().size;
    Memory samples(held.height * row);
    Tile rest = held;
    const Elements end = held_.y + held_.height;
    if (held.x == held_.x && held.width == held_.width && held.y >= held_.y && held.y < end) {
        const Elements kept = std::min(end - held.y, held.height);
        std::copy_n(samples_.data() + (held.y - held_.y) * row, kept * row, samples.data());
        rest.y += kept;
        rest.height -= kept;
    }
    read_part(source_, rest,
              samples.bytes().subspan(static_cast<std::size_t>((rest.y - held.y) * row)));
    samples_ = std::move(samples);
    held_ = held;
    kernel::SampleView view = samples_of(source_.element(), samples_.data());
    view.stride = held.width;
    view.tile = held;
    view.image = source_.shape();
    return view;
}

BytePlane::BytePlane(const Communicator& communicator, const StripTiles& tiles,
                     const std::string& scratch)
    : communicator_(communicator), tiles_(tiles) {
    agree(communicator_, [&] {
        if (communicator_.rank() == 0)
            file_.emplace(scratch);
    });
}

std::vector<std::uint8_t> BytePlane::read(int strip, Elements margin) const {
    std::vector<std::vector<std::uint8_t>> to(static_cast<std::size_t>(communicator_.size()));
    agree(communicator_, [&] {
        if (!file_)
            return;
        const Tile rows = tiles_.rows(strip, margin);
        Memory read(rows.elements());
        file_->read(rows.y * rows.width, read.bytes());
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const Tile part = kernel::grown(tiles_.tile(strip, rank), margin, tiles_.image());
            std::vector<std::uint8_t>& made = to[static_cast<std::size_t>(rank)];
            made.resize(static_cast<std::size_t>(part.elements()));
            copy_part(part, rows, read.data(), part, std::as_writable_bytes(std::span(made)).data(),
                      1);
        }
    });
    return all_to_all_lists(communicator_, to).values;
}

void BytePlane::write(int strip, const std::vector<std::uint8_t>& own) {
    const std::vector<std::uint8_t> all = gather_lists(communicator_, own).values;
    agree(communicator_, [&] {
        if (!file_)
            return;
        const Tile rows = tiles_.rows(strip, 0);
        Memory made(rows.elements());
        const std::byte* from = std::as_bytes(std::span(all)).data();
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const Tile part = tiles_.tile(strip, rank);
            copy_part(part, part, from, rows, made.data(), 1);
            from += part.elements();
        }
        file_->write(rows.y * rows.width, made.bytes());
    });
}

namespace {

using contour::BorderPixel;
using contour::Frontier;
using Codes = std::vector<std::uint8_t>;

Tile own_tile(const StripWork& work, int strip) {
    return work.tiles.tile(strip, work.communicator.rank());
}

std::size_t pixels_of(const Tile& tile) {
    return static_cast<std::size_t>(tile.elements());
}

void report(const StripWork& work, const char* part, int done) {
    if (work.communicator.rank() == 0)
        work.control.report(part, done, work.tiles.strips);
}

/// Calls `body` with each strip, from top to bottom.
template <class Body>
void each_strip(const StripWork& work, const char* part, Body&& body) {
    for (int strip = 0; strip < work.tiles.strips; ++strip) {
        report(work, part, strip);
        body(strip);
    }
}

/// Calls `body` with each strip, from bottom to top.
template <class Body>
void each_strip_up(const StripWork& work, const char* part, Body&& body) {
    for (int strip = work.tiles.strips - 1; strip >= 0; --strip) {
        report(work, part, work.tiles.strips - 1 - strip);
        body(strip);
    }
}

/// Runs a part of the work on a strip. Throws if any rank was cancelled.
void agree_on_strip(const StripWork& work, const std::function<void()>& part) {
    agree(work.communicator, [&] {
        work.control.check();
        part();
    });
}

/// The edge components of this rank's tile of a strip, and their border list.
struct Hanging {
    Hanging(const StripWork& work, int strip, Codes& codes)
        : edges({codes.data(), own_tile(work, strip).width}, own_tile(work, strip),
                work.tiles.image()),
          frontier(frontier_of(edges.components(),
                               work.tiles.number(strip, work.communicator.rank()))) {}
    EdgeComponents edges;
    Frontier frontier;
};

/// Runs `rounds` rounds of thinning on a tile with a margin; each round invalidates the outermost
/// pixels. Returns true if the last round changed the tile.
bool thin(Codes& codes, const Tile& held, const Tile& tile, ImageShape image, int rounds) {
    kernel::Thinning thinning(codes.data(), held,
                              kernel::grown(tile, kernel::thinning_margin * (rounds - 1), image),
                              image);
    for (int round = 1; round < rounds; ++round)
        thinning.round();
    const Codes before = codes;
    thinning.round();
    for (Elements y = tile.y - held.y; y < tile.y - held.y + tile.height; ++y) {
        const auto at = y * held.width + tile.x - held.x;
        if (!std::equal(codes.begin() + at, codes.begin() + at + tile.width, before.begin() + at))
            return true;
    }
    return false;
}

/// Returns the codes of the rectangle `tile`, a part of `held`.
Codes part_of(const Codes& codes, const Tile& held, const Tile& tile) {
    Codes part(pixels_of(tile));
    copy_part(tile, held, std::as_bytes(std::span(codes)).data(), tile,
              std::as_writable_bytes(std::span(part)).data(), 1);
    return part;
}

} // namespace

kernel::EdgeThresholds strip_quantiles(const StripWork& work, RowSource& source, double sigma,
                                       double low, double high) {
    std::optional<kernel::EdgeFinder> finder;
    agree(work.communicator, [&] {
        require_edge_quantiles(low, high);
        finder.emplace(sigma);
    });
    Quantiles found({low, high});
    for (int pass = 0; pass < Quantiles::passes; ++pass) {
        TopDownReader samples(source);
        each_strip(work, "gradients", [&](int strip) {
            agree_on_strip(work, [&] {
                const Tile tile = own_tile(work, strip);
                const kernel::SampleView held =
                    samples.read(kernel::grown(tile, finder->margin(), work.tiles.image()));
                std::vector<float> lengths(pixels_of(tile));
                finder->measure({&held, 1}, tile, lengths.data());
                found.add(lengths);
            });
        });
        found.end_pass(work.communicator);
    }
    return {found.value(0), found.value(1)};
}

BytePlane strip_edges(const StripWork& work, RowSource& source, double sigma,
                      kernel::EdgeThresholds thresholds) {
    std::optional<kernel::EdgeFinder> finder;
    agree(work.communicator, [&] { finder.emplace(sigma); });
    StripLists<BorderPixel> lists(
        work.communicator, work.tiles,
        contour::component_merger(order_of(work.tiles), contour::Touch::corners), work.scratch);
    BytePlane maxima(work.communicator, work.tiles, work.scratch);
    TopDownReader samples(source);
    each_strip(work, "edges", [&](int strip) {
        const Tile tile = own_tile(work, strip);
        Codes codes(pixels_of(tile));
        std::optional<Hanging> hanging;
        agree_on_strip(work, [&] {
            const kernel::SampleView held =
                samples.read(kernel::grown(tile, finder->margin(), work.tiles.image()));
            finder->find({&held, 1}, tile, thresholds, {codes.data(), tile.width});
            hanging.emplace(work, strip, codes);
        });
        lists.go_down(hanging->frontier);
        maxima.write(strip, codes);
    });
    BytePlane edges(work.communicator, work.tiles, work.scratch);
    each_strip_up(work, "hysteresis", [&](int strip) {
        Codes codes = maxima.read(strip, 0);
        std::optional<Hanging> hanging;
        agree_on_strip(work, [&] { hanging.emplace(work, strip, codes); });
        const std::vector<BorderPixel> joined = lists.go_up(strip, hanging->frontier);
        agree(work.communicator, [&] {
            hanging->edges.keep(parts_of(hanging->edges.components(), hanging->frontier, joined));
        });
        edges.write(strip, codes);
    });
    return edges;
}

BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds) {
    const Elements margin = kernel::thinning_margin * rounds;
    const ImageShape image = work.tiles.image();
    for (bool changed = true; changed;) {
        changed = false;
        BytePlane thinned(work.communicator, work.tiles, work.scratch);
        each_strip(work, "lines", [&](int strip) {
            const Tile tile = own_tile(work, strip), held = kernel::grown(tile, margin, image);
            Codes around = codes.read(strip, margin);
            agree_on_strip(work, [&] {
                if (tile.elements() > 0)
                    changed = thin(around, held, tile, image, rounds) || changed;
                around = part_of(around, held, tile);
            });
            thinned.write(strip, around);
        });
        changed = sum_over_ranks(work.communicator, changed ? 1 : 0) > 0;
        codes = std::move(thinned);
    }
    return codes;
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

/// Returns the points of this rank's tile.
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

/// Ranks the points in this rank's tile of a strip; `ranking` is reused to keep its memory.
void apply(const StripWork& work, int strip, const StripDirections& directions,
           kernel::ContourRanking& ranking) {
    const std::vector<kernel::Direction> codes = directions(strip);
    const Place at(work, strip);
    agree_on_strip(work, [&] {
        ranking.apply({codes.data(), at.held.width, at.held, at.image}, at.tile);
    });
}

} // namespace

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
            convert_directions(TopDownReader(source).read(at.held), source.path(), made.data());
        });
        return made;
    };
}

Junctions rank_strips(const StripWork& work, const StripDirections& directions,
                      PointOrder* points) {
    const Communicator& communicator = work.communicator;
    StripLists<Crossing> lists(communicator, work.tiles,
                               contour::crossing_merger(order_of(work.tiles)), work.scratch);
    kernel::ContourRanking ranking;
    Junctions counted;
    each_strip(work, "contours", [&](int strip) {
        apply(work, strip, directions, ranking);
        counted.junctions += ranking.junctions();
        counted.cut += ranking.cut();
        lists.go_down(boundary_of(ranking, Place(work, strip).number));
    });
    each_strip_up(work, "points", [&](int strip) {
        apply(work, strip, directions, ranking);
        const Place at(work, strip);
        const std::vector<Crossing> crossings = lists.go_up(strip, boundary_of(ranking, at.number));
        std::vector<RankedPoint> own;
        agree(communicator,
              [&] { own = points_of(work, at.tile, ranking, place_chains(ranking, crossings)); });
        const ByRank<RankedPoint> got = gather_lists(communicator, std::move(own));
        agree(communicator, [&] {
            if (points)
                points->add(got.values);
        });
    });
    return sum_over_ranks(communicator, counted);
}

} // namespace sextant::distributed
