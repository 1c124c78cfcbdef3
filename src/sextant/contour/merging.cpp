// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/merging.hpp"

#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::contour {

namespace {

/// Reverses the mixed-radix digits of a number below `count`.
int reversed(int number, int count) {
    int made = 0;
    for (const Digit digit : digits(count))
        made = made * digit.radix + digit.of(number);
    return made;
}

/// The inverse of reversed().
int reversed_from(int number, int count) {
    std::vector<Digit> all = digits(count);
    std::reverse(all.begin(), all.end());
    int made = 0, base = 1;
    for (const Digit digit : all) {
        made += number / base % digit.radix * digit.base;
        base *= digit.radix;
    }
    return made;
}

/// The number of columns or rows spanned by ranks that differ only in this digit, ends included.
int reach(Hosts hosts, Digit digit, int count) {
    if (digit.radix == 1)
        return 1;
    return hosts == Hosts::own ? digit.base * digit.radix : count / digit.base;
}

} // namespace

int host(Hosts hosts, const Grid& grid, int tile) {
    if (hosts == Hosts::own)
        return tile;
    return reversed(tile / grid.columns, grid.rows) * grid.columns +
           reversed(tile % grid.columns, grid.columns);
}

int tile_of(Hosts hosts, const Grid& grid, int rank) {
    if (hosts == Hosts::own)
        return rank;
    return reversed_from(rank / grid.columns, grid.rows) * grid.columns +
           reversed_from(rank % grid.columns, grid.columns);
}

collective::Submachine submachine(Hosts hosts, const Grid& grid, const Stage& stage, int rank) {
    const int columns = reach(hosts, stage.column, grid.columns);
    const int rows = reach(hosts, stage.row, grid.rows);
    const int column = rank % grid.columns, row = rank / grid.columns;
    return {column / columns * columns, row / rows * rows, columns, rows};
}

namespace {

/// A list in the memory of a rank.
struct List {
    Run run;
    Region at;
};

/// Builds one rank's program. A rank that merges for another tile uses the position of that tile.
class Merging {
  public:
    Merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank, const ListSizes& sizes,
            const ListRoom& room)
        : grid_(grid),
          stages_(stages),
          hosts_(hosts),
          order_(grid, stages),
          sizes_(sizes),
          room_(room),
          rank_(rank),
          tile_(tile_of(hosts, grid, rank)) {}

    Program write() {
        const List own = own_list();
        merge_stages(own);
        return finish();
    }

  private:
    int host_of(int tile) const { return host(hosts_, grid_, tile); }

    Elements size(Run run) const { return sizes_ ? sizes_(run) : 1; }
    Run run_of(int tile) const { return {order_.position(tile), order_.position(tile) + 1}; }
    Bytes room(Run run) const { return room_ ? room_(run) : 0; }
    /// The capacity for merging these parts. The executor may merge some lists before the others
    /// arrive. The intermediate list may be longer than the final one, but not longer than all
    /// parts together.
    Bytes room_to_merge(const std::vector<Run>& parts) const {
        Bytes sum = 0;
        for (const Run part : parts)
            sum += room(part);
        return sum;
    }
    List in_scratch(Run run, Bytes room) {
        return {run, builder_.buffer({Role::scratch, size(run), 0, room})};
    }

    /// The runs that the previous stage merged into `run`; `run` itself before the first stage.
    std::vector<Run> parts_of(Run run, std::size_t stage) const {
        if (stage == 0)
            return {run};
        const int count = stages_[stage - 1].size(), width = (run.last - run.first) / count;
        std::vector<Run> parts;
        for (int i = 0; i < count; ++i)
            parts.push_back({run.first + i * width, run.first + (i + 1) * width});
        return parts;
    }

    /// The list of the tile that this rank merges for.
    List own_list() {
        const Region input =
            builder_.buffer({Role::input, size(run_of(rank_)), 0, room(run_of(rank_))});
        if (tile_ == rank_)
            return {run_of(rank_), input};
        const List moved = in_scratch(run_of(tile_), room(run_of(tile_)));
        builder_.round(round_++);
        builder_.send(host_of(rank_), input);
        builder_.receive(tile_, moved.at);
        return moved;
    }

    /// If hosts are reversed, round 0 moves lists to their hosts. Ranks that are their own hosts
    /// skip round 0, so that later rounds have the same numbers on all ranks.
    void begin_stage(const Stage& stage) {
        round_ = std::max(round_, hosts_ == Hosts::own ? 0 : 1);
        builder_.round(round_++);
        builder_.group(collective::group_of(grid_, submachine(hosts_, grid_, stage, rank_)));
    }

    void merge_stages(List known) {
        int width = 1;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            const Stage& stage = stages_[s];
            const int own_place = stage.place(grid_, tile_);
            const int first = known.run.first - own_place * width;
            begin_stage(stage);
            std::vector<List> lists(static_cast<std::size_t>(stage.size()));
            lists[static_cast<std::size_t>(own_place)] = known;
            for (int distance = 1; distance < stage.size(); ++distance) {
                const int to = (own_place + distance) % stage.size();
                const int from = (own_place + stage.size() - distance) % stage.size();
                builder_.send(host_of(stage.tile_at(grid_, tile_, to)), known.at);
                List& list = lists[static_cast<std::size_t>(from)];
                const Run run{first + from * width, first + (from + 1) * width};
                list = in_scratch(run, room_to_merge(parts_of(run, s)));
                builder_.receive(host_of(stage.tile_at(grid_, tile_, from)), list.at);
                others_.push_back(list);
            }
            width *= stage.size();
            if (s + 1 < stages_.size()) { // no rank needs a list of the whole image
                const Run run{first, first + width};
                known = in_scratch(run, room_to_merge(parts_of(run, s + 1)));
                merge(known, lists);
            }
        }
    }

    void merge(const List& to, const std::vector<List>& lists) {
        if (!sizes_) {
            std::vector<Region> operands;
            for (const List& list : lists)
                operands.push_back(list.at);
            return builder_.fold(to.at, operands);
        }
        Elements done = 0;
        for (const List& list : lists) {
            const Elements count = std::min(list.at.length, to.at.length - done);
            builder_.copy(block(to.at.buffer, to.at.offset + done, count),
                          block(list.at.buffer, list.at.offset, count));
            done += count;
        }
    }

    /// The lists of the tiles before this rank's tile, or of those after it, sorted.
    std::vector<List> on_side(bool before) const {
        std::vector<List> lists;
        const int position = order_.position(tile_);
        for (const List& list : others_) {
            if ((list.run.first < position) == before)
                lists.push_back(list);
        }
        std::sort(lists.begin(), lists.end(),
                  [](const List& a, const List& b) { return a.run.first < b.run.first; });
        return lists;
    }

    /// The run of all tiles before a tile and the run of all tiles after it, without empty runs.
    std::vector<Run> sides(int tile) const {
        const int position = order_.position(tile), all = grid_.ranks();
        std::vector<Run> runs;
        for (const Run run : {Run{0, position}, Run{position + 1, all}}) {
            if (run.first < run.last)
                runs.push_back(run);
        }
        return runs;
    }

    /// Capacity in bytes for the list of all tiles before a tile or of all tiles after the tile,
    /// whichever is larger.
    Bytes room_at_sides(int tile) const {
        const int position = order_.position(tile);
        Bytes before = 0, behind = 0;
        int width = 1;
        for (const Stage& stage : stages_) {
            const int all = width * stage.size(), first = position / all * all;
            for (Run run{first, first + width}; run.first < first + all;
                 run = {run.last, run.last + width}) {
                if (!run.holds(position))
                    (run.first < position ? before : behind) += room(run);
            }
            width = all;
        }
        return std::max(before, behind);
    }

    /// The lists of these runs, stored one after another in one buffer.
    std::vector<List> in(const Region& buffer, const std::vector<Run>& runs) const {
        std::vector<List> lists;
        Elements offset = 0;
        for (const Run run : runs) {
            lists.push_back({run, block(buffer.buffer, offset, size(run))});
            offset += size(run);
        }
        return lists;
    }

    Elements size(const std::vector<Run>& runs) const {
        Elements sum = 0;
        for (const Run run : runs)
            sum += size(run);
        return sum;
    }

    Program finish() {
        builder_.group(0);
        const std::vector<Run> hosted = sides(tile_), wanted = sides(rank_);
        const Region output =
            builder_.buffer({Role::output, size(wanted), 0, room_at_sides(rank_)});
        const bool moved = tile_ != rank_;
        const Region merged =
            moved ? builder_.buffer({Role::scratch, size(hosted), 0, room_at_sides(tile_)})
                  : output;
        for (const List& list : in(merged, hosted))
            merge(list, on_side(list.run.first == 0));
        if (moved) {
            builder_.round(round_);
            for (const List& list : in(merged, hosted))
                builder_.send(tile_, list.at);
            for (const List& list : in(output, wanted))
                builder_.receive(host_of(rank_), list.at);
        }
        return builder_.finish(output);
    }

    const Grid& grid_;
    const Stages& stages_;
    const Hosts hosts_;
    const Order order_;
    const ListSizes& sizes_;
    const ListRoom& room_;
    const int rank_, tile_; ///< `tile_` is the tile that this rank merges for
    ProgramBuilder builder_;
    std::vector<List> others_;
    int round_ = 0;
};

} // namespace

Program merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                const ListRoom& room) {
    return Merging(grid, stages, hosts, rank, {}, room).write();
}

Program sized_merging(const Grid& grid, const Stages& stages, Hosts hosts, int rank,
                      const ListSizes& sizes) {
    return Merging(grid, stages, hosts, rank, sizes, {}).write();
}

namespace {

/// Calls body(tile, column, row) for each tile of a run.
template <class Body>
void each_tile(const Order& order, Run run, Body&& body) {
    const Grid& grid = order.grid();
    for (int t = 0; t < grid.ranks(); ++t) {
        if (run.holds(order.position(t)))
            body(t, t % grid.columns, t / grid.columns);
    }
}

/// The number of pairs of tiles that touch only at a corner, with one tile in the run and one
/// outside.
Elements corners_outside(const Order& order, Run run) {
    Elements count = 0;
    each_tile(order, run, [&](int, int column, int row) {
        for (const int dy : {-1, 1}) {
            for (const int dx : {-1, 1})
                count += order.is_outside(run, column + dx, row + dy) &&
                         !order.is_outside(run, column + dx, row) &&
                         !order.is_outside(run, column, row + dy);
        }
    });
    return count;
}

} // namespace

Elements border_length(const Order& order, Run run) {
    const auto outside = [&](int column, int row) { return order.is_outside(run, column, row); };
    Elements length = 0;
    each_tile(order, run, [&](int t, int column, int row) {
        const Tile own = tile(order.grid(), t);
        length += own.height * (outside(column - 1, row) + outside(column + 1, row));
        length += own.width * (outside(column, row - 1) + outside(column, row + 1));
    });
    return length;
}

Elements most_on_border(const Order& order, Run run) {
    const Grid& grid = order.grid();
    if (grid.width < grid.columns || grid.height < grid.rows)
        return grid.width *
               grid.height; // pixels may touch across an empty tile, so count all pixels
    return border_length(order, run) + corners_outside(order, run);
}

ListSizes sizes_by_border(std::shared_ptr<const Order> order, double entering) {
    return [=](Run run) {
        const auto length = static_cast<double>(border_length(*order, run));
        return static_cast<Elements>(std::ceil(length * entering));
    };
}

} // namespace sextant::contour
