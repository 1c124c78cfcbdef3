// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/exchange.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <numeric>

namespace sextant::halo {

Tile padded_tile(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank);
    if (own.elements() == 0)
        return own;
    const auto [x, y] = grid.margin;
    return {own.x - x, own.y - y, own.width + 2 * x, own.height + 2 * y};
}

Tile clipped_tile(const Grid& grid, int rank) {
    return common(padded_tile(grid, rank), grid.at_hand());
}

Tile common(const Tile& a, const Tile& b) {
    const Elements left = std::max(a.x, b.x), top = std::max(a.y, b.y);
    const Elements right = std::min(a.x + a.width, b.x + b.width);
    const Elements bottom = std::min(a.y + a.height, b.y + b.height);
    return {left, top, std::max<Elements>(0, right - left), std::max<Elements>(0, bottom - top)};
}

Region place_in(const Tile& held, const Tile& part, int buffer) {
    const Elements start = (part.y - held.y) * held.width + part.x - held.x;
    if (part.width == held.width)
        return block(buffer, start, part.elements());
    return {buffer, start, part.width, held.width, part.height};
}

namespace {

struct Numbers {
    int first, last; ///< `last` is one past the last number
};

/// The columns or rows of a grid that may overlap the interval [first, last).
Numbers within_reach(Elements first, Elements last, Elements size, int parts) {
    const auto holds = [&](Elements at) { // part i begins at size · i / parts
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
    for (int j = rows.first; j < rows.last; ++j) {
        for (int i = columns.first; i < columns.last; ++i) {
            if (j * grid.columns + i != rank)
                peers.push_back(j * grid.columns + i);
        }
    }
    return peers;
}

void add_exchange(ProgramBuilder& builder, const Grid& grid, int rank, const Region& buffer,
                  Tile (*held_by)(const Grid& grid, int rank)) {
    const Tile own = tile(grid, rank), held = held_by(grid, rank);
    for (const int peer : peers_of(grid, rank, held)) {
        builder.send(peer, place_in(held, common(own, held_by(grid, peer)), buffer.buffer));
        builder.receive(peer, place_in(held, common(tile(grid, peer), held), buffer.buffer));
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

    /// Sends to all ranks in one direction and receives from all in the opposite direction.
    void shift(int round, int dx, int dy) {
        builder_.round(round);
        for_each_peer(dx, dy, [&](int peer) {
            builder_.send(peer, place(common(wide(own_, dy), clipped_tile(grid_, peer))));
        });
        for_each_peer(-dx, -dy, [&](int peer) {
            builder_.receive(peer, place(common(wide(tile(grid_, peer), dy), held_)));
        });
    }

    Program finish() { return builder_.finish(all_); }

  private:
    /// Visits the peers, nearest first.
    template <class Visit>
    void for_each_peer(int dx, int dy, Visit&& visit) const {
        int i = rank_ % grid_.columns + dx, j = rank_ / grid_.columns + dy;
        for (; i >= 0 && i < grid_.columns && j >= 0 && j < grid_.rows; i += dx, j += dy) {
            if (own_.elements() > 0)
                visit(j * grid_.columns + i);
        }
    }

    /// Extends a strip that is sent upwards or downwards (dy is not 0) over the margins already
    /// received from the sides.
    Tile wide(const Tile& strip, int dy) const {
        return dy == 0 ? strip : Tile{held_.x, strip.y, held_.width, strip.height};
    }

    Region place(const Tile& part) const { return place_in(held_, part, all_.buffer); }

    const Grid& grid_;
    const Tile own_, held_;
    const int rank_;
    ProgramBuilder builder_;
    const Region all_;
};

} // namespace

Program axis_exchange(const Grid& grid, int rank) {
    AxisExchange program(grid, rank);
    program.shift(0, 1, 0);
    program.shift(1, -1, 0);
    program.shift(2, 0, -1);
    program.shift(3, 0, 1);
    return program.finish();
}

Frame frame_of(const Grid& grid, int rank) {
    const Tile own = tile(grid, rank), held = clipped_tile(grid, rank);
    const Elements right = own.x + own.width, bottom = own.y + own.height;
    return {{{held.x, held.y, held.width, own.y - held.y},
             {held.x, own.y, own.x - held.x, own.height},
             {right, own.y, held.x + held.width - right, own.height},
             {held.x, bottom, held.width, held.y + held.height - bottom}}};
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
        builder.send(peer, place_in(own, common(own, clipped_tile(grid, peer)), whole.buffer));
        Elements first = 0; // offset of the band; a peer's tile overlaps one band
        for (const Tile& band : frame) {
            Region place = place_in(band, common(tile(grid, peer), band), around.buffer);
            place.offset += first;
            builder.receive(peer, place);
            first += band.elements();
        }
    }
    return builder.finish(around);
}

} // namespace sextant::halo
