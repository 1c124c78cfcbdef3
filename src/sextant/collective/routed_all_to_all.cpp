// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/routed_all_to_all.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>

namespace sextant::collective {

namespace {

/// What one rank has, and where.
struct Holding {
    PackedBlocks packed;
    Region place;
};

/// What goes from one holding to the next: the runs that both have.
struct Transfer {
    std::vector<Run> from, to;

    Transfer(const Blocks& now, const Blocks& next)
        : from(common_runs(now.from, next.from)), to(common_runs(now.to, next.to)) {}

    std::vector<Region> at(const Holding& holding) const {
        return holding.packed.regions(from, to, holding.place.buffer);
    }
};

class RoutedExchange {
  public:
    RoutedExchange(const Grid& grid, const Route& route, int rank)
        : grid_(grid),
          route_(route),
          rank_(rank),
          held_{PackedBlocks(grid, route.held(0, rank)), {}} {
        held_.place = builder_.input(held_.packed.elements());
    }

    void superstep(int number) {
        PackedBlocks packed(grid_, route_.held(number + 1, rank_));
        if (packed.blocks() == held_.packed.blocks())
            return;
        const bool last = packed.blocks() == blocks_at_last(grid_, rank_);
        const Elements size = packed.elements();
        const Holding next{std::move(packed),
                           last ? builder_.output(size) : builder_.scratch(size)};
        builder_.round(number);
        builder_.group(group_of(grid_, route_.submachine(number, rank_)));
        keep(next);
        send(number);
        receive(number, next);
        held_ = next;
    }

    Program finish() { return builder_.finish(held_.place); }

  private:
    void keep(const Holding& next) {
        const Transfer kept(held_.packed.blocks(), next.packed.blocks());
        const std::vector<Region> now = kept.at(held_), then = kept.at(next);
        for (std::size_t i = 0; i < now.size(); ++i)
            builder_.copy(then[i], now[i]);
    }

    void send(int superstep) {
        for (const int to : partners(superstep, 1)) {
            const Transfer sent(held_.packed.blocks(), route_.held(superstep + 1, to));
            builder_.send(to, sent.at(held_));
        }
    }

    void receive(int superstep, const Holding& next) {
        for (const int from : partners(superstep, -1)) {
            const Transfer received(route_.held(superstep, from), next.packed.blocks());
            builder_.receive(from, received.at(next));
        }
    }

    /// The nearest first, upwards or downwards from this rank: so not all begin with the same.
    std::vector<int> partners(int superstep, int direction) const {
        std::vector<int> others = route_.partners(superstep, rank_);
        std::erase(others, rank_);
        const int p = grid_.ranks();
        std::sort(others.begin(), others.end(), [&](int a, int b) {
            return (direction * (a - rank_) + p) % p < (direction * (b - rank_) + p) % p;
        });
        return others;
    }

    const Grid& grid_;
    const Route& route_;
    const int rank_;
    ProgramBuilder builder_;
    Holding held_;
};

} // namespace

Program routed_all_to_all(const Grid& grid, const Route& route, int rank) {
    RoutedExchange exchange(grid, route, rank);
    for (int superstep = 0; superstep < route.supersteps; ++superstep)
        exchange.superstep(superstep);
    return exchange.finish();
}

} // namespace sextant::collective
