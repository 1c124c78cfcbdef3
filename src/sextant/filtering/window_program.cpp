// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filtering/window_program.hpp"

#include "sextant/core/error.hpp"
#include "sextant/halo/redistribution.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::filtering {

namespace {

Tiles tiles_of(const halo::Grid& grid) {
    return {grid.columns, grid.rows, grid.layers};
}

/// True if a filter uses the same tiles as the previous filter.
bool stay(const halo::Grid& before, const halo::Grid& tiles) {
    return tiles.above == 0 && tiles.below == 0 && tiles.before == 0 && tiles.after == 0 &&
           tiles_of(tiles) == tiles_of(before);
}

/// The length of the axis along which windows follow one another, as a text in rows or planes.
std::string length_of(Elements height, Elements depth) {
    return depth == 1 ? fmt::format("{} rows", height)
                      : fmt::format("{} rows of {} planes", height, depth);
}

void check(const WindowTask& task, const Configuration& configuration) {
    check_tiles(configuration, static_cast<int>(task.filters.size()));
    check_role(configuration.distribute, {CollectiveKind::scatter, CollectiveKind::broadcast},
               "distribute");
    check_role(configuration.collect, {CollectiveKind::gather}, "collect");
    if (task.filters.empty())
        throw InvalidTask("no filters given: expected at least one");
    for (std::size_t k = 0; k < task.filters.size(); ++k) {
        const halo::Stencil& filter = task.filters[k];
        const Tiles tiles = configuration.tiles_of(static_cast<int>(k));
        const Tile reads = filter.grid.at_hand();
        if (tiles_of(filter.grid) != tiles)
            throw InvalidTask(fmt::format("filter {} on {} tiles, expected {}", k,
                                          tiles_of(filter.grid).text(), tiles.text()));
        if (reads.depth > 1 && reads.height != filter.grid.height)
            throw InvalidTask(fmt::format("filter {} reads {} rows of each plane, expected {}", k,
                                          reads.height, filter.grid.height));
        if (k + 1 < task.filters.size() && filter.planes != 1)
            throw InvalidTask(fmt::format(
                "filter {} produces {} planes, expected 1 because another filter follows", k,
                filter.planes));
        if (k == 0)
            continue;
        const halo::Grid& made = task.filters[k - 1].grid;
        if (reads.height != made.height || reads.depth != made.depth || reads.width != made.width)
            throw InvalidTask(fmt::format("filter {} reads {}, but the previous filter produces {}",
                                          k, length_of(reads.height, reads.depth),
                                          length_of(made.height, made.depth)));
    }
}

/// Returns the task's filters, set up for this configuration.
std::vector<halo::Stencil> filters_of(const WindowTask& task, const Configuration& configuration) {
    std::vector<halo::Stencil> filters = task.filters;
    for (std::size_t k = 0; k < filters.size(); ++k) {
        filters[k].kernel = static_cast<int>(k);
        filters[k].exchanges =
            k == 0 ? !configuration.broadcasts() : stay(filters[k - 1].grid, filters[k].grid);
        filters[k].collects = false;
    }
    filters.back().collects = task.collect && !configuration.collect;
    return filters;
}

/// A partition of the pixels of an image or volume, packed tile after tile, so that a collective
/// can move them in blocks. Tiles of whole planes are contiguous already.
collective::Partition packed_tiles(const halo::Grid& grid) {
    std::vector<Elements> lengths;
    for (int rank = 0; rank < grid.ranks(); ++rank)
        lengths.push_back(tile(grid, rank).elements());
    return collective::Partition::blocks(std::move(lengths));
}

/// The partition of a window that a collective scatters or gathers.
collective::Partition partition_of(const halo::Grid& grid) {
    return grid.at_hand().depth == 1 && grid.layers == 1 ? collective::Partition(grid)
                                                         : packed_tiles(grid);
}

/// True if a tile is not contiguous in the volume and must be packed.
bool must_pack(const halo::Grid& grid) {
    return (grid.at_hand().depth > 1 || grid.layers > 1) && grid.columns * grid.rows > 1;
}

Tile whole_of(const halo::Grid& grid) {
    return {0, 0, grid.width, grid.height, 0, grid.depth};
}

class WindowWriter {
  public:
    WindowWriter(const WindowTask& task, const Configuration& configuration, int rank)
        : task_(task),
          configuration_(configuration),
          rank_(rank),
          filters_(filters_of(task, configuration)) {}

    WindowProgram write() {
        Region image = first_image();
        for (std::size_t k = 0; k + 1 < filters_.size(); ++k) {
            const Region made = builder_.scratch(tile(filters_[k].grid, rank_).elements());
            run(halo::stencil(filters_[k], rank_), {image, made});
            image = image_of(k + 1, made);
        }
        const Region result = last_filter(image);
        made_.program = builder_.finish(result);
        if (configuration_.packs)
            made_.program = with_packed_messages(made_.program);
        return std::move(made_);
    }

  private:
    const halo::Grid& first_grid() const { return filters_.front().grid; }
    Bytes sample() const { return filters_.front().sample; }

    /// Appends a part of the program. The rounds of the part come after all previous rounds.
    Region run(const Program& part, const std::vector<Region>& places) {
        builder_.round(parts_++ * (2 * configuration_.ranks() + 4));
        return builder_.run(part, places);
    }

    // Distribution of the image.

    Region first_image() {
        const Tile held = halo::clipped_tile(first_grid(), rank_);
        if (!configuration_.distribute) {
            const Region image = builder_.in_out(held.elements(), sample());
            made_.image = image.buffer;
            return image;
        }
        Region whole;
        if (rank_ == 0) {
            whole = builder_.input(first_grid().at_hand().elements(), sample());
            made_.image = whole.buffer;
        }
        const Region image = builder_.scratch(held.elements(), sample());
        if (rank_ >= first_grid().ranks()) // this rank takes part only in later filters
            ++parts_;
        else if (configuration_.broadcasts())
            broadcast(whole, image, held);
        else
            scatter(whole, image, held);
        return image;
    }

    /// Appends the collective that distributes tiles. Its input is the region `whole`; its other
    /// buffers are new.
    Region distribute(const collective::Partition& data, const Region& whole) {
        const Program part =
            with_elements_of(configuration_.distribute->program(data, rank_), sample());
        std::vector<Region> places;
        for (const BufferSpec& buffer : part.buffers) {
            if (buffer.role == Role::input)
                places.push_back(whole);
            else if (buffer.role == Role::output)
                places.push_back(builder_.scratch(buffer.size, sample()));
        }
        return run(part, places);
    }

    void broadcast(const Region& whole, const Region& image, const Tile& held) {
        const Tile at_hand = first_grid().at_hand();
        const halo::Grid& grid = first_grid();
        const Region given = distribute(Grid{at_hand.width, at_hand.height * at_hand.depth,
                                             grid.columns, grid.rows * grid.layers},
                                        whole);
        halo::add_copy(builder_, held, held, image, at_hand, given);
    }

    /// Scatters the tiles, then sends the pixels around the window to the ranks that need them.
    void scatter(const Region& whole, const Region& image, const Tile& held) {
        const halo::Grid& grid = first_grid();
        const Region given = distribute(partition_of(grid), packed(window_in(whole)));
        const Tile own = tile(grid, rank_);
        const std::vector<Region> places = halo::places_in(held, own, image.buffer);
        if (places.size() == 1)
            builder_.copy(places[0], given); // in an image, `given` may be strided
        else
            halo::add_copy(builder_, own, held, image, own, given);
        for (int to = 1; rank_ == 0 && to < grid.ranks(); ++to) {
            for (const Tile& part : beyond(grid, to))
                builder_.send(to, halo::places_in(grid.at_hand(), part, whole.buffer));
        }
        for (const Tile& part : beyond(grid, rank_)) {
            if (rank_ == 0)
                halo::add_copy(builder_, part, held, image, grid.at_hand(), whole);
            else
                builder_.receive(0, halo::places_in(held, part, image.buffer));
        }
    }

    /// The pixels of the window, which are contiguous; empty on ranks other than 0.
    Region window_in(const Region& whole) const {
        const halo::Grid& grid = first_grid();
        const Elements first =
            (grid.before * grid.height + grid.above) * grid.width; // one of both terms is 0
        return rank_ == 0 ? block(whole.buffer, first, grid.elements()) : Region{};
    }

    /// Packs the tiles of the window for a scatter.
    Region packed(const Region& window) {
        const halo::Grid& grid = first_grid();
        if (rank_ > 0 || !must_pack(grid))
            return window;
        const Region all = builder_.scratch(window.elements(), sample());
        each_packed(grid, all, [&](const Tile& part, const Region& place) {
            halo::add_copy(builder_, part, part, place, whole_of(grid), window);
        });
        return all;
    }

    /// Visits the tile of each rank and its region in the packed tiles.
    template <class Visit>
    static void each_packed(const halo::Grid& grid, const Region& all, Visit&& visit) {
        Elements first = all.offset;
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Tile part = tile(grid, rank);
            visit(part, block(all.buffer, first, part.elements()));
            first += part.elements();
        }
    }

    // Data passed from filter to filter.

    /// Returns the region that filter k reads, filled from the plane of the previous filter.
    Region image_of(std::size_t k, const Region& made) {
        const Tile held = halo::clipped_tile(filters_[k].grid, rank_);
        const Region image = builder_.scratch(held.elements());
        if (!filters_[k].exchanges) {
            run(halo::redistribution(filters_[k - 1].grid, filters_[k].grid, rank_), {made, image});
        } else {
            const Tile own = tile(filters_[k].grid, rank_);
            halo::add_copy(builder_, own, held, image, own, made);
        }
        return image;
    }

    Region last_filter(const Region& image) {
        const halo::Stencil& last = filters_.back();
        const Elements size = last.planes * halo::kept_tile(last, rank_).elements();
        const bool gathers = task_.collect && configuration_.collect;
        const Region made = gathers ? builder_.scratch(size) : builder_.output(size);
        if (!gathers)
            made_.planes = made.buffer;
        const Region result = run(halo::stencil(last, rank_), {image, made});
        return gathers ? gather(made) : result;
    }

    Region gather(const Region& made) {
        const halo::Stencil& last = filters_.back();
        const Elements plane = last.grid.elements();
        const Elements own = tile(last.grid, rank_).elements();
        const Region planes = builder_.output(rank_ == 0 ? last.planes * plane : 0);
        made_.planes = rank_ == 0 ? planes.buffer : -1;
        for (int k = 0; k < last.planes; ++k) {
            if (rank_ >= last.grid.ranks())
                break;
            std::vector<Region> places = {block(made.buffer, k * own, own)};
            const Region to = block(planes.buffer, k * plane, plane);
            const bool unpacks = rank_ == 0 && must_pack(last.grid);
            const Region all = unpacks ? builder_.scratch(plane) : to;
            if (rank_ == 0)
                places.push_back(all);
            run(configuration_.collect->program(partition_of(last.grid), rank_), places);
            if (unpacks)
                each_packed(last.grid, all, [&](const Tile& part, const Region& place) {
                    halo::add_copy(builder_, part, whole_of(last.grid), to, part, place);
                });
        }
        return planes;
    }

    const WindowTask& task_;
    const Configuration& configuration_;
    const int rank_;
    const std::vector<halo::Stencil> filters_;
    ProgramBuilder builder_;
    WindowProgram made_;
    int parts_ = 0;
};

} // namespace

WindowProgram window_program(const WindowTask& task, const Configuration& configuration, int rank) {
    check(task, configuration);
    return WindowWriter(task, configuration, rank).write();
}

Schedule window_schedule(const WindowTask& task, const Configuration& configuration) {
    return make_schedule(configuration.ranks(), [&](int rank) {
        return window_program(task, configuration, rank).program;
    });
}

Claim claim(const WindowTask& task, const Configuration& configuration) {
    const std::vector<halo::Stencil> filters = filters_of(task, configuration);
    const auto of_filter = [=](std::size_t k) {
        return halo::claim(filters[k], static_cast<int>(k));
    };
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        // With a distribution, only rank 0 has input: all rows. Otherwise each rank has its part of
        // the first filter's input.
        return configuration.distribute ? Symbol{e, 0, 1, 0} : of_filter(0).given(rank, 0, e);
    };
    claim.computed = [=](int rank, const Program& program, const Step& step,
                         const std::vector<Symbol>& read) {
        return of_filter(static_cast<std::size_t>(step.kernel)).computed(rank, program, step, read);
    };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        halo::Stencil last = filters.back();
        last.collects = task.collect;
        return halo::claim(last, static_cast<int>(filters.size()) - 1).wanted(rank, result);
    };
    return claim;
}

} // namespace sextant::filtering
