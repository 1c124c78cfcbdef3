// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/strip_edges.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/distributed/canny.hpp"
#include "sextant/distributed/strip_tiles.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sextant::distributed {

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

/// Calls `body` with each strip, from the top of the image down.
template <class Body>
void each_strip(const StripWork& work, const char* what, Body&& body) {
    for (int strip = 0; strip < work.tiles.strips; ++strip) {
        work.progress.say(what, strip, work.tiles.strips);
        body(strip);
    }
}

StripLists<BorderPixel> hanging_lists(const StripWork& work, const contour::Order& order) {
    const Elements width = work.tiles.grid.width;
    return {work.communicator,
            work.tiles,
            {[&order](std::span<const Frontier> lists) {
                 return contour::merge(order, lists, contour::Touch::corners);
             },
             [width](std::span<const Frontier> lists) {
                 return contour::join(lists, width, contour::Touch::corners);
             }},
            work.output};
}

/// The edge components of this rank's tile of a strip, and their border list.
struct Hanging {
    Hanging(const StripWork& work, int strip, Codes& codes)
        : edges({codes.data(), own_tile(work, strip).width}, own_tile(work, strip),
                work.tiles.image()),
          frontier(frontier_of(edges.components(),
                               work.tiles.number(strip, work.communicator.rank()))) {}
    HangingEdges edges;
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

/// The part `tile` of the codes of `held`.
Codes part_of(const Codes& codes, const Tile& held, const Tile& tile) {
    Codes part(pixels_of(tile));
    for (Elements y = 0; y < tile.height; ++y)
        std::copy_n(codes.begin() + (tile.y - held.y + y) * held.width + tile.x - held.x,
                    tile.width, part.begin() + y * tile.width);
    return part;
}

bool any_rank(const Communicator& communicator, bool mine) {
    const std::vector<int> all = communicator.all_gather(mine ? 1 : 0);
    return std::ranges::any_of(all, [](int one) { return one != 0; });
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
        SamplesGoingDown samples(source);
        each_strip(work, "gradients", [&](int strip) {
            agree(work.communicator, [&] {
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
    const contour::Order order = order_of(work.tiles);
    StripLists<BorderPixel> lists = hanging_lists(work, order);
    BytePlane maxima(work.communicator, work.tiles, work.output);
    SamplesGoingDown samples(source);
    each_strip(work, "edges", [&](int strip) {
        const Tile tile = own_tile(work, strip);
        Codes codes(pixels_of(tile));
        std::optional<Hanging> hanging;
        agree(work.communicator, [&] {
            const kernel::SampleView held =
                samples.read(kernel::grown(tile, finder->margin(), work.tiles.image()));
            finder->find({&held, 1}, tile, thresholds, {codes.data(), tile.width});
            hanging.emplace(work, strip, codes);
        });
        lists.go_down(hanging->frontier);
        maxima.write(strip, codes);
    });
    BytePlane edges(work.communicator, work.tiles, work.output);
    for (int strip = work.tiles.strips - 1; strip >= 0; --strip) {
        Codes codes = maxima.read(strip, 0);
        std::optional<Hanging> hanging;
        agree(work.communicator, [&] { hanging.emplace(work, strip, codes); });
        const std::vector<BorderPixel> joined = lists.go_up(strip, hanging->frontier);
        agree(work.communicator, [&] {
            hanging->edges.keep(parts_of(hanging->edges.components(), hanging->frontier, joined));
        });
        edges.write(strip, codes);
    }
    return edges;
}

BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds) {
    const Elements margin = kernel::thinning_margin * rounds;
    const ImageShape image = work.tiles.image();
    for (bool changed = true; changed;) {
        changed = false;
        BytePlane thinned(work.communicator, work.tiles, work.output);
        each_strip(work, "lines", [&](int strip) {
            const Tile tile = own_tile(work, strip), held = kernel::grown(tile, margin, image);
            Codes around = codes.read(strip, margin);
            agree(work.communicator, [&] {
                if (tile.elements() > 0)
                    changed = thin(around, held, tile, image, rounds) || changed;
                around = part_of(around, held, tile);
            });
            thinned.write(strip, around);
        });
        changed = any_rank(work.communicator, changed);
        codes = std::move(thinned);
    }
    return codes;
}

} // namespace sextant::distributed
