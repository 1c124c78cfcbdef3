// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/axis_exchange.hpp"

#include "sextant/schedule/builder.hpp"

namespace sextant::halo {

namespace {

/// One rank's four steps.
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

    /// Sends to the neighbour in one direction and receives from the opposite one.
    void shift(int round, int dx, int dy) {
        builder_.round(round);
        if (has(dx, dy))
            builder_.send(neighbour(dx, dy), strip(dx, dy, false));
        if (has(-dx, -dy))
            builder_.receive(neighbour(-dx, -dy), strip(-dx, -dy, true));
    }

    Program finish() { return builder_.finish(all_); }

  private:
    bool has(int dx, int dy) const {
        const int i = rank_ % grid_.columns + dx, j = rank_ / grid_.columns + dy;
        return i >= 0 && i < grid_.columns && j >= 0 && j < grid_.rows;
    }
    int neighbour(int dx, int dy) const { return rank_ + dy * grid_.columns + dx; }

    /// The strip at the edge of the tile on one side, or the margin outside of it. Above and below
    /// it reaches over the margins that neighbours at the sides have filled.
    Region strip(int dx, int dy, bool outside) const {
        const Elements margin = grid_.margin;
        if (dx != 0)
            return place({edge(own_.x, own_.width, dx, outside), own_.y, margin, own_.height});
        return place({held_.x, edge(own_.y, own_.height, dy, outside), held_.width, margin});
    }

    Elements edge(Elements first, Elements size, int direction, bool outside) const {
        const Elements margin = grid_.margin;
        if (direction < 0)
            return outside ? first - margin : first;
        return outside ? first + size : first + size - margin;
    }

    Region place(const Tile& part) const {
        const Elements start = (part.y - held_.y) * held_.width + part.x - held_.x;
        if (part.width == held_.width)
            return block(all_.buffer, start, part.elements());
        return {all_.buffer, start, part.width, held_.width, part.height};
    }

    const Grid& grid_;
    const Tile own_, held_;
    const int rank_;
    ProgramBuilder builder_;
    const Region all_;
};

} // namespace

Program axis_exchange(const Grid& grid, int rank) {
    check_margin(grid);
    AxisExchange program(grid, rank);
    program.shift(0, 1, 0);
    program.shift(1, -1, 0);
    program.shift(2, 0, -1);
    program.shift(3, 0, 1);
    return program.finish();
}

} // namespace sextant::halo
