// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/halo/stencil.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::halo {

namespace {

/// The parts of a tile: first the inner part, which depends on no other tile; then the planes
/// before and after it, and the parts above, below, left and right.
std::vector<Tile> parts_of(const Grid& grid, const Tile& own) {
    const Elements end_x = own.x + own.width, end_y = own.y + own.height, end_z = own.z + own.depth;
    const Elements left = own.x > 0 ? grid.margin.x : 0;
    const Elements right = end_x < grid.width ? grid.margin.x : 0;
    const Elements top = own.y > 0 ? grid.margin.y : 0;
    const Elements bottom = end_y < grid.height ? grid.margin.y : 0;
    const Elements front = own.z > 0 ? grid.margin.z : 0;
    const Elements back = end_z < grid.depth ? grid.margin.z : 0;
    const Tile inner = {own.x + left,
                        own.y + top,
                        own.width - left - right,
                        own.height - top - bottom,
                        own.z + front,
                        own.depth - front - back};
    const Elements z = inner.z, depth = inner.depth;
    if (inner.width <= 0 || inner.height <= 0 || depth <= 0)
        return {own};
    return {inner,
            {own.x, own.y, own.width, own.height, own.z, front},
            {own.x, own.y, own.width, own.height, end_z - back, back},
            {own.x, own.y, own.width, top, z, depth},
            {own.x, end_y - bottom, own.width, bottom, z, depth},
            {own.x, inner.y, left, inner.height, z, depth},
            {end_x - right, inner.y, right, inner.height, z, depth}};
}

class StencilProgram {
  public:
    StencilProgram(const Stencil& stencil, int rank)
        : stencil_(stencil),
          rank_(rank),
          own_(tile(stencil.grid, rank)),
          held_(clipped_tile(stencil.grid, rank)),
          image_(builder_.in_out(held_.elements(), stencil.sample)),
          kept_(kept_tile(stencil, rank)),
          planes_(builder_.output(stencil.planes * kept_.elements())) {}

    Program make() {
        if (stencil_.exchanges)
            add_exchange(builder_, stencil_.grid, rank_, image_, clipped_tile);
        if (stencil_.exchanges && stencil_.overlaps) {
            for (const Tile& part : parts_of(stencil_.grid, own_))
                compute(part);
        } else {
            compute(own_);
        }
        if (!stencil_.collects)
            return builder_.finish(planes_);
        collect();
        return builder_.finish(rank_ == 0 ? planes_ : Region{});
    }

  private:
    void compute(const Tile& part) {
        if (part.elements() == 0)
            return;
        const auto read = rows_in(held_, part_read(stencil_, part), image_.buffer);
        std::vector<Region> made;
        for (int plane = 0; plane < stencil_.planes; ++plane) {
            const auto rows = in_plane(plane, rows_in(kept_, part, planes_.buffer));
            made.insert(made.end(), rows.begin(), rows.end());
        }
        builder_.compute(stencil_.kernel, read, made);
    }

    /// Collects planes on rank 0 with one message per plane. A message is contiguous on both sides
    /// if tiles are strips of rows, or whole planes of a volume.
    void collect() {
        for (int plane = 0; plane < stencil_.planes; ++plane) {
            if (rank_ > 0)
                builder_.send(0, block(planes_.buffer, plane * own_.elements(), own_.elements()));
            for (int peer = 1; rank_ == 0 && peer < stencil_.grid.ranks(); ++peer)
                builder_.receive(peer, in_plane(plane, rows_in(kept_, tile(stencil_.grid, peer),
                                                               planes_.buffer)));
        }
    }

    /// Moves regions of the first plane to the same place in another plane.
    std::vector<Region> in_plane(int plane, std::vector<Region> regions) const {
        for (Region& region : regions)
            region.offset += plane * kept_.elements();
        return regions;
    }

    const Stencil& stencil_;
    const int rank_;
    const Tile own_, held_;
    ProgramBuilder builder_;
    const Region image_;
    const Tile kept_;
    const Region planes_;
};

/// The number of an operand (an image), and the tile of all its pixels.
struct Operand {
    int number;
    Tile whole;

    Symbol pixel(Elements x, Elements y, Elements z) const {
        const Elements row = (z - whole.z) * whole.height + y - whole.y;
        return {row * whole.width + x, number, number + 1, 0};
    }
    /// Appends the pixels of a part, row by row.
    void append(const Tile& part, std::vector<Symbol>& symbols) const {
        for (Elements z = part.z; z < part.z + part.depth; ++z) {
            for (Elements y = part.y; y < part.y + part.height; ++y) {
                for (Elements x = part.x; x < part.x + part.width; ++x)
                    symbols.push_back(pixel(x, y, z));
            }
        }
    }
};

Tile all_of(const Grid& grid) {
    return {0, 0, grid.width, grid.height, 0, grid.depth};
}

Operand read_by(const Stencil& stencil, int operand) {
    return {operand, stencil.grid.at_hand()};
}

Operand made_by(const Stencil& stencil, int operand, int plane) {
    return {operand + 1 + plane, all_of(stencil.grid)};
}

/// The symbols that a compute step produces. Throws if the step does not read exactly the pixels
/// that its kernel needs.
std::vector<Symbol> computed(const Stencil& stencil, int operand, int rank, const Program& program,
                             const Step& step, const std::vector<Symbol>& read) {
    const Tile part = part_made(stencil, rank, program.made_by(step));
    std::vector<Symbol> needed, made;
    read_by(stencil, operand).append(part_read(stencil, part), needed);
    const auto same = [](const Symbol& a, const Symbol& b) { return a.same_value(b); };
    if (!std::equal(read.begin(), read.end(), needed.begin(), needed.end(), same)) {
        throw std::logic_error(
            fmt::format("computes {}x{}x{} pixels at ({}, {}, {}) from the wrong input pixels",
                        part.width, part.height, part.depth, part.x, part.y, part.z));
    }
    for (int plane = 0; plane < stencil.planes; ++plane)
        made_by(stencil, operand, plane).append(part, made);
    return made;
}

/// Checks a rank's planes; returns a description of the error, or "".
std::string judge(const Stencil& stencil, int operand, int rank,
                  const std::vector<Symbol>& result) {
    std::vector<Symbol> wanted;
    const bool nothing = stencil.collects && rank > 0;
    for (int plane = 0; plane < stencil.planes && !nothing; ++plane)
        made_by(stencil, operand, plane).append(kept_tile(stencil, rank), wanted);
    if (result.size() != wanted.size())
        return fmt::format("{} elements, expected {}", result.size(), wanted.size());
    for (std::size_t e = 0; e < result.size(); ++e) {
        if (!result[e].same_value(wanted[e]))
            return fmt::format("element {} is pixel {} of operand {}, expected {} of {}", e,
                               result[e].element, result[e].first, wanted[e].element,
                               wanted[e].first);
    }
    return "";
}

} // namespace

bool is_given(const Stencil& stencil, int rank, Elements x, Elements y, Elements z) {
    const Tile pixel{x, y, 1, 1, z};
    return !stencil.exchanges || common(all_of(stencil.grid), pixel).elements() == 0 ||
           common(tile(stencil.grid, rank), pixel).elements() == 1;
}

Tile kept_tile(const Stencil& stencil, int rank) {
    return stencil.collects && rank == 0 ? all_of(stencil.grid) : tile(stencil.grid, rank);
}

Tile part_made(const Stencil& stencil, int rank, std::span<const Region> made) {
    return part_in(kept_tile(stencil, rank), made[0],
                   made.size() / static_cast<std::size_t>(stencil.planes));
}

Tile part_read(const Stencil& stencil, const Tile& made) {
    const auto [x, y, z] = stencil.grid.margin;
    return common({made.x - x, made.y - y, made.width + 2 * x, made.height + 2 * y, made.z - z,
                   made.depth + 2 * z},
                  stencil.grid.at_hand());
}

Program stencil(const Stencil& stencil, int rank) {
    return StencilProgram(stencil, rank).make();
}

Claim claim(const Stencil& stencil, int operand) {
    Claim claim;
    claim.given = [=](int rank, int, Elements e) {
        const Tile held = clipped_tile(stencil.grid, rank);
        const Elements x = held.x + e % held.width, row = e / held.width;
        const Elements y = held.y + row % held.height, z = held.z + row / held.height;
        return is_given(stencil, rank, x, y, z) ? read_by(stencil, operand).pixel(x, y, z)
                                                : Symbol{};
    };
    claim.computed = [=](int rank, const Program& program, const Step& step,
                         const std::vector<Symbol>& read) {
        return computed(stencil, operand, rank, program, step, read);
    };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return judge(stencil, operand, rank, result);
    };
    return claim;
}

} // namespace sextant::halo
