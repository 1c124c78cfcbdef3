// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace sextant::halo {

Tile padded_tile(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank);
    if (own.elements() == 0)
        return own;
    const auto [x, y, z] = grid.margin;
    return {own.x - x,          own.y - y, own.width + 2 * x,
            own.height + 2 * y, own.z - z, own.depth + 2 * z};
}

Tile clipped_tile(const Grid& grid, int rank) {
    return common(padded_tile(grid, rank), grid.at_hand());
}

std::vector<Tile> beyond(const Grid& grid, int rank) {
    const Tile held = clipped_tile(grid, rank), all = grid.at_hand();
    const auto [width, height, depth] = std::array{grid.width, grid.height, grid.depth};
    return {common(held, {0, -grid.above, width, grid.above, all.z, all.depth}),
            common(held, {0, height, width, grid.below, all.z, all.depth}),
            common(held, {0, 0, width, height, -grid.before, grid.before}),
            common(held, {0, 0, width, height, depth, grid.after})};
}

Tile common(const Tile& a, const Tile& b) {
    const Elements left = std::max(a.x, b.x), top = std::max(a.y, b.y), front = std::max(a.z, b.z);
    const Elements right = std::min(a.x + a.width, b.x + b.width);
    const Elements bottom = std::min(a.y + a.height, b.y + b.height);
    const Elements back = std::min(a.z + a.depth, b.z + b.depth);
    return {left,
            top,
            std::max<Elements>(0, right - left),
            std::max<Elements>(0, bottom - top),
            front,
            std::max<Elements>(0, back - front)};
}

namespace {

/// The index of a part's first pixel in a buffer that holds a tile.
Elements start_in(const Tile& held, const Tile& part) {
    return ((part.z - held.z) * held.height + part.y - held.y) * held.width + part.x - held.x;
}

} // namespace

std::vector<Region> rows_in(const Tile& held, const Tile& part, int buffer) {
    if (part.elements() == 0)
        return {};
    const Elements start = start_in(held, part);
    if (part.depth == 1 || part.height == held.height)
        return {{buffer, start, part.width, held.width, part.height * part.depth}};
    std::vector<Region> planes;
    for (Elements z = 0; z < part.depth; ++z)
        planes.push_back(
            {buffer, start + z * held.height * held.width, part.width, held.width, part.height});
    return planes;
}

std::vector<Region> places_in(const Tile& held, const Tile& part, int buffer) {
    if (part.width != held.width || part.elements() == 0)
        return rows_in(held, part, buffer);
    const Elements start = start_in(held, part);
    if (part.depth == 1 || part.height == held.height)
        return {block(buffer, start, part.elements())};
    return {{buffer, start, part.height * part.width, held.height * held.width, part.depth}};
}

Tile part_in(const Tile& held, const Region& first, std::size_t count) {
    const Elements row = first.offset / held.width;
    Tile part{
        held.x + first.offset % held.width, held.y + row % held.height,  first.length, first.count,
        held.z + row / held.height,         static_cast<Elements>(count)};
    if (first.count > held.height) { // one region with the rows of several planes
        part.height = held.height;
        part.depth = first.count / held.height;
    }
    return part;
}

void add_copy(ProgramBuilder& builder, const Tile& part, const Tile& to_held, const Region& to,
              const Tile& from_held, const Region& from) {
    const auto places = [](const Tile& held, const Tile& of, const Region& in) {
        std::vector<Region> regions = places_in(held, of, in.buffer);
        for (Region& region : regions)
            region.offset += in.offset;
        return regions;
    };
    const auto into = places(to_held, part, to), out_of = places(from_held, part, from);
    if (into.size() == 1 && out_of.size() == 1)
        return builder.copy(into[0], out_of[0]);
    for (Elements z = 0; z < part.depth && !into.empty(); ++z) {
        const Tile plane{part.x, part.y, part.width, part.height, part.z + z, 1};
        builder.copy(places(to_held, plane, to)[0], places(from_held, plane, from)[0]);
    }
}

namespace {

struct Numbers {
    int first, last; ///< `last` is one past the last number
};

/// The columns, rows or layers of a grid that may overlap the interval [first, last).
Numbers within_reach(Elements first, Elements last, Elements size, int parts) {
    const auto holds = [&](Elements at) { // part i begins at size * i / parts
        return static_cast<int>(((std::clamp<Elements>(at, 0, size - 1) + 1) * parts - 1) / size);
    };
    return {holds(first), holds(last - 1) + 1};
}

} // namespace

std::vector<int> peers_of(const Grid& grid, int rank, const Tile& held) {
    std::vector<int> peers;
    if (held.elements() == 0)
        return peers;
    const Numbers columns = within_reach(held.x, held.x + held.width, grid.width, grid.columns);
    const Numbers rows = within_reach(held.y, held.y + held.height, grid.height, grid.rows);
    const Numbers layers = within_reach(held.z, held.z + held.depth, grid.depth, grid.layers);
    for (int k = layers.first; k < layers.last; ++k) {
        for (int j = rows.first; j < rows.last; ++j) {
            for (int i = columns.first; i < columns.last; ++i) {
                const int peer = (k * grid.rows + j) * grid.columns + i;
                if (peer != rank)
                    peers.push_back(peer);
            }
        }
    }
    return peers;
}

void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank)) {
    const Tile own = tile(grid, rank), held = held_by(grid, rank);
    for (const int peer : peers_of(grid, rank, held)) {
        builder.send(peer, places_in(held, common(own, held_by(grid, peer)), buffer.buffer));
        builder.receive(peer, places_in(held, common(tile(grid, peer), held), buffer.buffer));
    }
}

Program exchange(const Grid& grid, int rank) {
    ProgramBuilder builder;
    const Region all = builder.in_out(padded_tile(grid, rank).elements());
    add_exchange(builder, grid, rank, all, padded_tile);
    return builder.finish(all);
}

namespace {

/// Builds the program of one rank, step by step.
class AxisExchange {
  public:
    AxisExchange(const Grid& grid, int rank)
        : grid_(grid),
          own_(tile(grid, rank)),
          held_(clipped_tile(grid, rank)),
          rank_(rank),
          all_(builder_.in_out(held_.elements())) {
        builder_.window(1);
    }

    /// The number of tiles from one rank to the next along each axis.
    struct Direction {
        int x = 0, y = 0, z = 0;
    };

    /// Sends to all ranks in one direction and receives from all ranks in the opposite direction.
    void shift(int round, const Direction& by) {
        builder_.round(round);
        for_each_peer(by, [&](int peer) {
            builder_.send(peer, places(common(wide(own_, by), clipped_tile(grid_, peer))));
        });
        for_each_peer({-by.x, -by.y, -by.z}, [&](int peer) {
            builder_.receive(peer, places(common(wide(tile(grid_, peer), by), held_)));
        });
    }

    Program finish() { return builder_.finish(all_); }

  private:
    /// Visits the peers, nearest first.
    template <class Visit>
    void for_each_peer(const Direction& by, Visit&& visit) const {
        const auto [columns, rows, layers] = std::array{grid_.columns, grid_.rows, grid_.layers};
        int i = rank_ % columns + by.x, j = rank_ / columns % rows + by.y;
        int k = rank_ / columns / rows + by.z;
        for (; i >= 0 && i < columns && j >= 0 && j < rows && k >= 0 && k < layers;
             i += by.x, j += by.y, k += by.z) {
            if (own_.elements() > 0)
                visit((k * rows + j) * columns + i);
        }
    }

    /// Extends a strip over the margins already received: those at the sides for strips sent up or
    /// down, and also those above and below for strips sent backwards or forwards.
    Tile wide(Tile strip, const Direction& by) const {
        if (by.y != 0 || by.z != 0)
            strip.x = held_.x, strip.width = held_.width;
        if (by.z != 0)
            strip.y = held_.y, strip.height = held_.height;
        return strip;
    }

    std::vector<Region> places(const Tile& part) const {
        return places_in(held_, part, all_.buffer);
    }

    const Grid& grid_;
    const Tile own_, held_;
    const int rank_;
    ProgramBuilder builder_;
    const Region all_;
};

} // namespace

Program axis_exchange(const Grid& grid, int rank) {
    AxisExchange program(grid, rank);
    program.shift(0, {.x = 1});
    program.shift(1, {.x = -1});
    program.shift(2, {.y = -1});
    program.shift(3, {.y = 1});
    program.shift(4, {.z = -1});
    program.shift(5, {.z = 1});
    return program.finish();
}

Frame frame_of(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
    const Elements right = own.x + own.width, bottom = own.y + own.height;
    const Elements back = own.z + own.depth;
    const Elements right_width = held.x + held.width - right, left_width = own.x - held.x;
    return {{{held.x, held.y, held.width, held.height, held.z, own.z - held.z},
             {held.x, held.y, held.width, own.y - held.y, own.z, own.depth},
             {held.x, own.y, left_width, own.height, own.z, own.depth},
             {right, own.y, right_width, own.height, own.z, own.depth},
             {held.x, bottom, held.width, held.y + held.height - bottom, own.z, own.depth},
             {held.x, held.y, held.width, held.height, back, held.z + held.depth - back}}};
}

Program frame_exchange(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
    const Frame frame = frame_of(grid, rank);
    ProgramBuilder builder;
    const Region whole = builder.input(own.elements());
    const Region around = builder.output(
        std::accumulate(frame.begin(), frame.end(), Elements{0},
                        [](Elements sum, const Tile& band) { return sum + band.elements(); }));
    for (const int peer : peers_of(grid, rank, held)) {
        builder.send(peer, places_in(own, common(own, clipped_tile(grid, peer)), whole.buffer));
        Elements first = 0; // offset of the band; a peer's tile overlaps one band
        for (const Tile& band : frame) {
            auto places = places_in(band, common(tile(grid, peer), band), around.buffer);
            for (Region& place : places)
                place.offset += first;
            builder.receive(peer, places);
            first += band.elements();
        }
    }
    return builder.finish(around);
}

} // namespace sextant::halo
