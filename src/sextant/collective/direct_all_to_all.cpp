// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/direct_all_to_all.hpp"

#include "sextant/collective/corner_turn.hpp"
#include "sextant/schedule/builder.hpp"

#include <bit>

namespace sextant::collective {

namespace {

/// One rank's blocks, on their way from its rows to its columns.
class DirectExchange {
  public:
    DirectExchange(const Grid& grid, int rank)
        : rank_(rank),
          ranks_(grid.ranks()),
          rows_(grid, blocks_at_first(grid, rank)),
          columns_(grid, blocks_at_last(grid, rank)),
          input_(builder_.input(rows_.elements())),
          output_(builder_.output(columns_.elements())) {
        builder_.copy(place_of(rank), block_for(rank));
    }

    int ranks() const { return ranks_; }
    void round(int number) { builder_.round(number); }
    void one_round_at_a_time() { builder_.window(1); }
    void send(int to) { builder_.send(to, block_for(to)); }
    void receive(int from) { builder_.receive(from, place_of(from)); }
    Program finish() { return builder_.finish(output_); }

  private:
    Region block_for(int to) const { return only(rows_, {rank_, rank_}, {to, to}, input_); }
    Region place_of(int from) const {
        return only(columns_, {from, from}, {rank_, rank_}, output_);
    }

    static Region only(const PackedBlocks& held, Run from, Run to, const Region& buffer) {
        return held.regions({&from, 1}, {&to, 1}, buffer.buffer).front();
    }

    const int rank_, ranks_;
    const PackedBlocks rows_, columns_;
    ProgramBuilder builder_;
    const Region input_, output_;
};

} // namespace

Program direct_all_to_all(const Grid& grid, int rank) {
    DirectExchange exchange(grid, rank);
    const int p = exchange.ranks();
    for (int distance = 1; distance < p; ++distance) {
        exchange.send((rank + distance) % p);
        exchange.receive((rank - distance + p) % p);
    }
    return exchange.finish();
}

Program linear_all_to_all(const Grid& grid, int rank) {
    DirectExchange exchange(grid, rank);
    exchange.one_round_at_a_time();
    const int p = exchange.ranks();
    for (int distance = 1; distance < p; ++distance) {
        exchange.round(distance - 1);
        exchange.send((rank + distance) % p);
        exchange.receive((rank - distance + p) % p);
    }
    return exchange.finish();
}

Program exclusive_or_all_to_all(const Grid& grid, int rank) {
    DirectExchange exchange(grid, rank);
    exchange.one_round_at_a_time();
    const int p = exchange.ranks();
    const int differences = static_cast<int>(std::bit_ceil(static_cast<unsigned>(p)));
    for (int difference = 1; difference < differences; ++difference) {
        const int partner = rank ^ difference;
        if (partner >= p)
            continue;
        exchange.round(difference - 1);
        exchange.send(partner);
        exchange.receive(partner);
    }
    return exchange.finish();
}

} // namespace sextant::collective
