// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/all_to_all.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sextant::collective {

namespace {

/// The start of each given strip if the strips are packed one after another, then the end of the
/// last strip.
std::vector<Elements> starts(Elements size, int ranks, const std::vector<int>& strips) {
    std::vector<Elements> starts{0};
    for (const int i : strips)
        starts.push_back(starts.back() + size * (i + 1) / ranks - size * i / ranks);
    return starts;
}

/// The extent of a run of strips.
struct Extent {
    Elements first, length;
};

std::size_t index_of(const std::vector<int>& strips, int strip) {
    return static_cast<std::size_t>(std::lower_bound(strips.begin(), strips.end(), strip) -
                                    strips.begin());
}

Extent extent(const std::vector<int>& strips, const std::vector<Elements>& starts, Run run) {
    const Elements first = starts[index_of(strips, run.first)];
    return {first, starts[index_of(strips, run.last) + 1] - first};
}

} // namespace

std::vector<int> all_ranks(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Blocks blocks_at_first(const Grid& grid, int rank) {
    return {{rank}, all_ranks(grid.ranks())};
}

Blocks blocks_at_last(const Grid& grid, int rank) {
    return {all_ranks(grid.ranks()), {rank}};
}

std::vector<Run> common_runs(std::span<const int> a, std::span<const int> b) {
    std::vector<Run> runs;
    bool continues = false;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] != b[j]) {
            a[i] < b[j] ? ++i : ++j;
            continues = false;
            continue;
        }
        if (continues)
            runs.back().last = a[i];
        else
            runs.push_back({a[i], a[i]});
        continues = true;
        ++i, ++j;
    }
    return runs;
}

PackedBlocks::PackedBlocks(const Partition& data, Blocks blocks) : blocks_(std::move(blocks)) {
    const Grid& grid = data.grid();
    if (data.is_image()) {
        row_starts_ = starts(grid.height, grid.ranks(), blocks_.from);
        column_starts_ = starts(grid.width, grid.ranks(), blocks_.to);
        return;
    }
    starts_ = {0};
    for (const int from : blocks_.from) {
        for (const int to : blocks_.to)
            starts_.push_back(starts_.back() + data.between(from, to));
    }
}

Elements PackedBlocks::elements() const {
    return starts_.empty() ? row_starts_.back() * column_starts_.back() : starts_.back();
}

std::vector<Region> PackedBlocks::regions(std::span<const Run> from, std::span<const Run> to,
                                          int buffer) const {
    if (!starts_.empty())
        return regions_of_rows(from, to, buffer);
    const Elements width = column_starts_.back();
    std::vector<Region> regions;
    for (const Run& rows : from) {
        const Extent down = extent(blocks_.from, row_starts_, rows);
        for (const Run& columns : to) {
            const Extent across = extent(blocks_.to, column_starts_, columns);
            const Elements first = down.first * width + across.first;
            if (across.length == width)
                regions.push_back(block(buffer, first, down.length * width));
            else
                regions.push_back({buffer, first, across.length, width, down.length});
        }
    }
    return regions;
}

std::vector<Region> PackedBlocks::regions_of_rows(std::span<const Run> from,
                                                  std::span<const Run> to, int buffer) const {
    std::vector<Region> regions;
    for (const Run& rows : from) {
        const std::size_t last = index_of(blocks_.from, rows.last);
        for (std::size_t row = index_of(blocks_.from, rows.first); row <= last; ++row) {
            for (const Run& columns : to) {
                const std::size_t at = row * blocks_.to.size();
                const Elements first = starts_[at + index_of(blocks_.to, columns.first)];
                const Elements end = starts_[at + index_of(blocks_.to, columns.last) + 1];
                regions.push_back(block(buffer, first, end - first));
            }
        }
    }
    return regions;
}

namespace {

/// The blocks that one rank holds, and the region that contains them.
struct Holding {
    PackedBlocks packed;
    Region place;
};

/// The runs of blocks that two successive holdings have in common.
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
    RoutedExchange(const Partition& data, const Route& route, int rank)
        : data_(data),
          grid_(data.grid()),
          route_(route),
          rank_(rank),
          held_{PackedBlocks(data, route.held(0, rank)), {}} {
        held_.place = builder_.input(held_.packed.elements());
    }

    void superstep(int number) {
        PackedBlocks packed(data_, route_.held(number + 1, rank_));
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
            builder_.send(to, joined(sent.at(held_)));
        }
    }

    void receive(int superstep, const Holding& next) {
        for (const int from : partners(superstep, -1)) {
            const Transfer received(route_.held(superstep, from), next.packed.blocks());
            builder_.receive(from, joined(received.at(next)));
        }
    }

    /// Merges adjacent regions of blocks of any lengths; regions of an image are unchanged.
    std::vector<Region> joined(std::vector<Region> regions) const {
        if (data_.is_image())
            return regions;
        std::vector<Region> longer;
        for (const Region& region : regions)
            append(longer, region);
        return longer;
    }

    /// The other ranks that this rank exchanges messages with, nearest first, upwards or downwards
    /// from this rank, so that ranks start with different partners.
    std::vector<int> partners(int superstep, int direction) const {
        std::vector<int> others = route_.partners(superstep, rank_);
        std::erase(others, rank_);
        const int p = grid_.ranks();
        std::sort(others.begin(), others.end(), [&](int a, int b) {
            return (direction * (a - rank_) + p) % p < (direction * (b - rank_) + p) % p;
        });
        return others;
    }

    const Partition& data_;
    const Grid& grid_;
    const Route& route_;
    const int rank_;
    ProgramBuilder builder_;
    Holding held_;
};

} // namespace

Program routed_all_to_all(const Partition& data, const Route& route, int rank) {
    RoutedExchange exchange(data, route, rank);
    for (int superstep = 0; superstep < route.supersteps; ++superstep)
        exchange.superstep(superstep);
    return exchange.finish();
}

namespace {

/// Builds one rank's program for a one-level all-to-all.
class DirectExchange {
  public:
    DirectExchange(const Partition& data, int rank)
        : rank_(rank),
          ranks_(data.ranks()),
          rows_(data, blocks_at_first(data.grid(), rank)),
          columns_(data, blocks_at_last(data.grid(), rank)),
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

Program direct_all_to_all(const Partition& data, int rank) {
    DirectExchange exchange(data, rank);
    const int p = exchange.ranks();
    for (int distance = 1; distance < p; ++distance) {
        exchange.send((rank + distance) % p);
        exchange.receive((rank - distance + p) % p);
    }
    return exchange.finish();
}

Program linear_all_to_all(const Partition& data, int rank) {
    DirectExchange exchange(data, rank);
    exchange.one_round_at_a_time();
    const int p = exchange.ranks();
    for (int distance = 1; distance < p; ++distance) {
        exchange.round(distance - 1);
        exchange.send((rank + distance) % p);
        exchange.receive((rank - distance + p) % p);
    }
    return exchange.finish();
}

Program exclusive_or_all_to_all(const Partition& data, int rank) {
    DirectExchange exchange(data, rank);
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

Program columns_rows_all_to_all(const Partition& data, int rank) {
    const Grid& grid = data.grid();
    const auto column_of = [&](int r) { return Submachine{r % grid.columns, 0, 1, grid.rows}; };
    const auto row_of = [&](int r) { return Submachine{0, r / grid.columns, grid.columns, 1}; };
    Route route;
    route.supersteps = 2;
    route.held = [&](int supersteps, int r) -> Blocks {
        if (supersteps == 0)
            return blocks_at_first(grid, r);
        if (supersteps == 1)
            return {ranks_of(grid, column_of(r)), ranks_of(grid, row_of(r))};
        return blocks_at_last(grid, r);
    };
    route.submachine = [&](int superstep, int r) {
        return superstep == 0 ? column_of(r) : row_of(r);
    };
    route.partners = [&](int superstep, int r) {
        return ranks_of(grid, route.submachine(superstep, r));
    };
    return routed_all_to_all(data, route, rank);
}

namespace {

/// Cuts the grid of processors into squares for 2-lev-sq, and determines for which squares each
/// rank collects and forwards blocks.
class Squares {
  public:
    explicit Squares(const Grid& grid) : grid_(grid), squares_(into_squares(whole_machine(grid))) {}

    int square_of(int rank) const {
        return static_cast<int>(
            std::find_if(squares_.begin(), squares_.end(),
                         [&](const Submachine& square) { return contains(grid_, square, rank); }) -
            squares_.begin());
    }
    const Submachine& square(int number) const {
        return squares_[static_cast<std::size_t>(number)];
    }

    /// The ranks of all squares whose blocks this rank collects and forwards. In a square with m
    /// members, member i serves the squares i, i + m, i + 2m, …
    std::vector<int> minded_by(int rank) const {
        const std::vector<int> members = ranks_of(grid_, square(square_of(rank)));
        const auto place =
            static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
        std::vector<int> minded;
        for (int number = place; number < static_cast<int>(squares_.size());
             number += static_cast<int>(members.size())) {
            const std::vector<int> ranks = ranks_of(grid_, square(number));
            minded.insert(minded.end(), ranks.begin(), ranks.end());
        }
        std::sort(minded.begin(), minded.end());
        return minded;
    }

  private:
    const Grid& grid_;
    const std::vector<Submachine> squares_;
};

} // namespace

Program squares_all_to_all(const Partition& data, int rank) {
    const Grid& grid = data.grid();
    const Squares squares(grid);
    const auto members_of = [&](int r) {
        return ranks_of(grid, squares.square(squares.square_of(r)));
    };
    Route route;
    route.supersteps = 3;
    route.held = [&](int supersteps, int r) -> Blocks {
        switch (supersteps) {
        case 0:
            return blocks_at_first(grid, r);
        case 1:
            return {members_of(r), squares.minded_by(r)};
        case 2:
            return {squares.minded_by(r), members_of(r)};
        default:
            return blocks_at_last(grid, r);
        }
    };
    route.submachine = [&](int superstep, int r) {
        return superstep == 1 ? whole_machine(grid) : squares.square(squares.square_of(r));
    };
    route.partners = [&](int superstep, int r) {
        return superstep == 1 ? squares.minded_by(r) : members_of(r);
    };
    return routed_all_to_all(data, route, rank);
}

namespace {

/// The two halves of a submachine, and the messages between them.
class Halves {
  public:
    Halves(const Grid& grid, const Submachine& machine)
        : grid_(grid), first_(cut_in_two(machine).front()), second_(cut_in_two(machine).back()) {}

    /// The ranks of the other half that send to this rank; empty for a single processor.
    std::vector<int> senders_to(int rank) const {
        std::vector<int> senders;
        if (first_ == second_)
            return senders;
        const bool in_first = contains(grid_, first_, rank);
        const Submachine &own = in_first ? first_ : second_, &other = in_first ? second_ : first_;
        const int x = rank % grid_.columns - own.column, y = rank / grid_.columns - own.row;
        for (int row = y; row < other.rows; row += own.rows) {
            for (int column = x; column < other.columns; column += own.columns)
                senders.push_back((other.row + row) * grid_.columns + other.column + column);
        }
        return senders;
    }
    /// The rank of the other half that a rank sends to.
    int receiver_from(int rank) const {
        const bool in_first = contains(grid_, first_, rank);
        const Submachine &own = in_first ? first_ : second_, &other = in_first ? second_ : first_;
        const int x = (rank % grid_.columns - own.column) % other.columns;
        const int y = (rank / grid_.columns - own.row) % other.rows;
        return (other.row + y) * grid_.columns + other.column + x;
    }

  private:
    const Grid& grid_;
    const Submachine first_, second_;
};

/// The submachine that contains a rank after this many halvings.
Submachine halved(const Grid& grid, int times, int rank) {
    Submachine machine = whole_machine(grid);
    for (int i = 0; i < times; ++i) {
        const std::vector<Submachine> halves = cut_in_two(machine);
        machine = contains(grid, halves.front(), rank) ? halves.front() : halves.back();
    }
    return machine;
}

/// The original owners of the blocks that a rank holds after this many halvings.
std::vector<int> sources(const Grid& grid, int times, int rank) {
    if (times == 0)
        return {rank};
    std::vector<int> all = sources(grid, times - 1, rank);
    for (const int sender : Halves(grid, halved(grid, times - 1, rank)).senders_to(rank)) {
        const std::vector<int> theirs = sources(grid, times - 1, sender);
        all.insert(all.end(), theirs.begin(), theirs.end());
    }
    std::sort(all.begin(), all.end());
    return all;
}

int ceil_log2(int n) {
    return std::countr_zero(std::bit_ceil(static_cast<unsigned>(n)));
}

} // namespace

Program butterfly_all_to_all(const Partition& data, int rank) {
    const Grid& grid = data.grid();
    Route route;
    route.supersteps = ceil_log2(grid.columns) + ceil_log2(grid.rows);
    route.held = [&](int supersteps, int r) -> Blocks {
        return {sources(grid, supersteps, r), ranks_of(grid, halved(grid, supersteps, r))};
    };
    route.submachine = [&](int superstep, int r) { return halved(grid, superstep, r); };
    route.partners = [&](int superstep, int r) {
        const Halves halves(grid, halved(grid, superstep, r));
        std::vector<int> partners = halves.senders_to(r);
        if (!partners.empty() || halved(grid, superstep, r).size() > 1)
            partners.push_back(halves.receiver_from(r));
        std::sort(partners.begin(), partners.end());
        partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
        return partners;
    };
    return routed_all_to_all(data, route, rank);
}

} // namespace sextant::collective
