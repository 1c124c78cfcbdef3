// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/axis_exchange.hpp"

#include "sextant/schedule/builder.hpp"

namespace sextant::halo {

namespace {

/// One rank's four directions.
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

    /// Sends to those who lie in one direction and receives from those in the opposite one.
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
    /// The nearest first.
    template <class Visit>
    void for_each_peer(int dx, int dy, Visit&& visit) const {
        int i = rank_ % grid_.columns + dx, j = rank_ / grid_.columns + dy;
        for (; i >= 0 && i < grid_.columns && j >= 0 && j < grid_.rows; i += dx, j += dy) {
            if (own_.elements() > 0)
                visit(j * grid_.columns + i);
        }
    }

    /// Strips that go up and down reach over the margins that neighbours at the sides have filled.
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

} // namespace sextant::halo
