// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filtering/filter_program.hpp"

#include "sextant/collective/tiles.hpp"
#include "sextant/halo/exchange.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sextant::filtering {

namespace {

/// Builds one rank's program part by part.
class WholeProgram {
  public:
    WholeProgram(const Task& task, const Way& way, int rank, const AddWork& add_work)
        : task_(task),
          way_(way),
          rank_(rank),
          add_work_(add_work),
          grid_(grid_of(task, way)),
          own_(tile(grid_, rank)) {
        builder_.window(1);
    }

    Program write() {
        const Region given = distribute();
        make_room();
        place(given);
        for (int filter = 0; filter < filters(); ++filter) {
            if (filter > 0 || !way_.broadcasts())
                exchange(filter);
            work(filter);
        }
        return builder_.finish(way_.collect ? collect() : results_);
    }

  private:
    int filters() const { return static_cast<int>(task_.margins.size()); }
    Elements margin(int filter) const { return task_.margins[static_cast<std::size_t>(filter)]; }
    Elements pixels() const { return task_.width * task_.height; }
    Tile image() const { return {0, 0, task_.width, task_.height}; }
    Tile held(int filter) const { return halo::clipped_tile({{grid_}, margin(filter)}, rank_); }

    /// The filters alternate between two buffers: each reads one and writes its tile to the other.
    Region source(int filter) const {
        const Region& room = rooms_[static_cast<std::size_t>(filter % 2)];
        return block(room.buffer, 0, held(filter).elements());
    }
    Region tile_within(int filter) const {
        return collective::region_of(held(filter), own_, source(filter).buffer);
    }

    /// Every part begins in a round later than all rounds before it.
    Region run(const Program& part, const std::vector<Region>& places) {
        builder_.round(parts_++ * (2 * way_.ranks() + 4));
        return builder_.run(part, places);
    }

    /// The region that this rank receives: its tile or, from a broadcast, the whole image.
    Region distribute() {
        if (!way_.distribute)
            return builder_.input(own_.elements());
        const Program part = way_.distribute->program(grid_, rank_);
        std::vector<Region> places;
        for (const BufferSpec& buffer : part.buffers) {
            if (buffer.role == Role::input)
                places.push_back(builder_.input(buffer.size));
            else if (buffer.role == Role::output) // of a broadcast that works in parts
                places.push_back(builder_.scratch(buffer.size));
        }
        return run(part, places);
    }

    void make_room() {
        std::array<Elements, 2> most{};
        for (int filter = 0; filter < filters(); ++filter) {
            Elements& room = most[static_cast<std::size_t>(filter % 2)];
            room = std::max(room, held(filter).elements());
        }
        rooms_ = {builder_.scratch(most[0]), builder_.scratch(most[1])};
        const Elements size = task_.outputs * own_.elements();
        results_ = way_.collect ? builder_.scratch(size) : builder_.output(size);
    }

    void place(const Region& given) {
        if (!way_.broadcasts())
            return builder_.copy(tile_within(0), given);
        Region wanted = collective::region_of(image(), held(0), given.buffer);
        wanted.offset += given.offset;
        builder_.copy(source(0), wanted);
    }

    void exchange(int filter) {
        run(border_exchange(grid_, margin(filter), rank_), {source(filter)});
    }

    void work(int filter) {
        std::vector<Region> made;
        if (filter + 1 < filters())
            made.push_back(tile_within(filter + 1));
        else
            made = outputs();
        if (own_.elements() > 0)
            add_work_(builder_, {filter, own_, held(filter), source(filter), made});
    }

    /// This rank's tiles of the last filter's outputs.
    std::vector<Region> outputs() const {
        std::vector<Region> tiles;
        for (int i = 0; i < task_.outputs; ++i)
            tiles.push_back(block(results_.buffer, i * own_.elements(), own_.elements()));
        return tiles;
    }

    Region collect() {
        const Region pictures = builder_.output(rank_ == 0 ? task_.outputs * pixels() : 0);
        Elements first = 0;
        for (const Region& made : outputs()) {
            std::vector<Region> places = {made};
            if (rank_ == 0)
                places.push_back(block(pictures.buffer, first, pixels()));
            run(way_.collect->program(grid_, rank_), places);
            first += pixels();
        }
        return pictures;
    }

    const Task& task_;
    const Way& way_;
    const int rank_;
    const AddWork& add_work_;
    const Grid grid_;
    const Tile own_;
    ProgramBuilder builder_;
    std::array<Region, 2> rooms_;
    Region results_; ///< tiles of all outputs
    int parts_ = 0;
};

} // namespace

void keep_tile(ProgramBuilder& builder, const Work& work) {
    for (const Region& made : work.made)
        builder.copy(made, collective::region_of(work.held, work.tile, work.source.buffer));
}

Program program(const Task& task, const Way& way, int rank, const AddWork& add_work) {
    check(task, way);
    return WholeProgram(task, way, rank, add_work).write();
}

Program border_exchange(const Grid& grid, Elements margin, int rank) {
    return halo::axis_exchange({{grid}, margin}, rank);
}

} // namespace sextant::filtering
