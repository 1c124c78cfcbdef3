// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/mpi_baselines.hpp"

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/core/memory.hpp"

#include <climits>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

namespace sextant::lab {

namespace {

bool fits(const Grid& grid) {
    return grid.width * grid.height <= INT_MAX;
}

/// Returns true if every tile is contiguous: as wide as the image, or at most one row high.
bool in_one_piece(const Grid& grid) {
    return fits(grid) && (grid.columns == 1 || grid.height <= grid.rows);
}

bool all_alike(const Grid& grid) {
    return fits(grid) && grid.width % grid.columns == 0 && grid.height % grid.rows == 0;
}

/// Returns true if all tiles have the same shape and are not empty. Empty tiles are excluded
/// because Open MPI's MPI_Scatterv sends, but does not receive, one item of an empty datatype.
bool alike_and_of_something(const Grid& grid) {
    return all_alike(grid) && grid.width * grid.height > 0;
}

bool alike_in_one_piece(const Grid& grid) {
    return in_one_piece(grid) && all_alike(grid);
}

/// Returns true if each rank has one row of the image, which contains data for every rank.
bool row_each(const Grid& grid) {
    return fits(grid) && grid.height == grid.ranks();
}

bool even_row_each(const Grid& grid) {
    return row_each(grid) && grid.width % grid.ranks() == 0;
}

/// The sizes and offsets of an image's tiles, in elements, as MPI's collectives need them.
struct TileList {
    std::vector<int> counts, offsets;

    explicit TileList(const Grid& grid) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Tile each = tile(grid, rank);
            counts.push_back(static_cast<int>(each.elements()));
            offsets.push_back(each.elements() > 0 ? static_cast<int>(each.y * grid.width + each.x)
                                                  : 0);
        }
    }
};

/// The datatype of a tile within its image, with an extent of one byte so that MPI's offsets are in
/// bytes.
class TileType {
  public:
    explicit TileType(const Grid& grid) {
        const Tile each = tile(grid, 0);
        MPI_Datatype rows = MPI_DATATYPE_NULL;
        mpi_check(MPI_Type_vector(static_cast<int>(each.height), static_cast<int>(each.width),
                                  static_cast<int>(grid.width), MPI_BYTE, &rows),
                  "MPI_Type_vector");
        mpi_check(MPI_Type_create_resized(rows, 0, 1, &type_), "MPI_Type_create_resized");
        MPI_Type_free(&rows);
        mpi_check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    TileType(const TileType&) = delete;
    TileType& operator=(const TileType&) = delete;
    ~TileType() {
        if (!mpi_finalized())
            MPI_Type_free(&type_);
    }
    MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A collective operation on tiles, with the data that MPI calls need.
struct MpiCollective : PreparedCall {
    MpiCollective(const Communicator& communicator, const Grid& tiled)
        : comm(to_mpi(communicator)),
          rank(communicator.rank()),
          grid(tiled),
          pixels(grid.width * grid.height),
          tiles(grid),
          columns({grid.width, 1, grid.ranks(), 1}),
          own(tiles.counts[static_cast<std::size_t>(rank)]),
          mine(columns.counts[static_cast<std::size_t>(rank)]) {}

    std::span<const std::byte> result() const override { return received.bytes(); }
    bool is_root() const { return rank == 0; }
    /// Returns the size of a tile; requires that all tiles have the same size.
    int any() const { return tiles.counts[0]; }
    /// Returns the receive buffer of a scatter; on rank 0, the tile stays in the image.
    void* place() { return is_root() ? MPI_IN_PLACE : received.data(); }

    const MPI_Comm comm;
    const int rank;
    const Grid grid;
    const Elements pixels;
    const TileList tiles, columns; ///< columns: the parts of a row, one per rank
    const int own, mine;           ///< sizes of this rank's tile and of its part of a row
    Memory received;
};

/// An operation that needs one MPI call: `call` with this object and this rank's data.
template <auto call, auto bytes_received>
struct OneCall : MpiCollective {
    OneCall(const Communicator& communicator, const Grid& tiled)
        : MpiCollective(communicator, tiled) {
        received = Memory(bytes_received(*this));
    }
    void run(std::span<const std::byte> sent) override { call(*this, sent.data()); }
};

Bytes all_but_root(const MpiCollective& of) {
    return of.is_root() ? 0 : of.pixels;
}
Bytes tile_but_root(const MpiCollective& of) {
    return of.is_root() ? 0 : of.own;
}
Bytes own_tile(const MpiCollective& of) {
    return of.own;
}
Bytes all_at_root(const MpiCollective& of) {
    return of.is_root() ? of.pixels : 0;
}
Bytes all(const MpiCollective& of) {
    return of.pixels;
}
/// Returns the size of the result of an all-to-all: each rank starts with one row of the image and
/// ends with a strip of columns of all rows.
Bytes strip(const MpiCollective& of) {
    return Bytes{of.mine} * of.grid.ranks();
}

void bcast(MpiCollective& of, const std::byte* sent) {
    // MPI_Bcast takes a non-const pointer on all ranks, but does not write to the root's buffer.
    void* const buffer = of.is_root() ? const_cast<std::byte*>(sent) : of.received.data();
    mpi_check(MPI_Bcast(buffer, static_cast<int>(of.pixels), MPI_BYTE, 0, of.comm), "MPI_Bcast");
}

void scatter(MpiCollective& of, const std::byte* sent) {
    mpi_check(MPI_Scatter(sent, of.any(), MPI_BYTE, of.place(), of.own, MPI_BYTE, 0, of.comm),
              "MPI_Scatter");
}

void scatterv(MpiCollective& of, const std::byte* sent) {
    mpi_check(MPI_Scatterv(sent, of.tiles.counts.data(), of.tiles.offsets.data(), MPI_BYTE,
                           of.place(), of.own, MPI_BYTE, 0, of.comm),
              "MPI_Scatterv");
}

void gather(MpiCollective& of, const std::byte* sent) {
    mpi_check(
        MPI_Gather(sent, of.own, MPI_BYTE, of.received.data(), of.any(), MPI_BYTE, 0, of.comm),
        "MPI_Gather");
}

void gatherv(MpiCollective& of, const std::byte* sent) {
    mpi_check(MPI_Gatherv(sent, of.own, MPI_BYTE, of.received.data(), of.tiles.counts.data(),
                          of.tiles.offsets.data(), MPI_BYTE, 0, of.comm),
              "MPI_Gatherv");
}

void all_gather(MpiCollective& of, const std::byte* sent) {
    mpi_check(
        MPI_Allgather(sent, of.own, MPI_BYTE, of.received.data(), of.any(), MPI_BYTE, of.comm),
        "MPI_Allgather");
}

void all_gatherv(MpiCollective& of, const std::byte* sent) {
    mpi_check(MPI_Allgatherv(sent, of.own, MPI_BYTE, of.received.data(), of.tiles.counts.data(),
                             of.tiles.offsets.data(), MPI_BYTE, of.comm),
              "MPI_Allgatherv");
}

void all_to_all(MpiCollective& of, const std::byte* sent) {
    mpi_check(MPI_Alltoall(sent, of.mine, MPI_BYTE, of.received.data(), of.mine, MPI_BYTE, of.comm),
              "MPI_Alltoall");
}

/// MPI_Scatterv and MPI_Gatherv with one derived datatype: a tile within its image.
struct Vectors : MpiCollective {
    Vectors(const Communicator& communicator, const Grid& tiled)
        : MpiCollective(communicator, tiled), type(grid), ones(tiles.counts.size(), 1) {}

    const TileType type;
    const std::vector<int> ones;
};

struct ScatterOfVectors : Vectors {
    ScatterOfVectors(const Communicator& communicator, const Grid& tiled)
        : Vectors(communicator, tiled) {
        received = Memory(tile_but_root(*this));
    }
    void run(std::span<const std::byte> sent) override {
        mpi_check(MPI_Scatterv(sent.data(), ones.data(), tiles.offsets.data(), type.get(), place(),
                               own, MPI_BYTE, 0, comm),
                  "MPI_Scatterv");
    }
};

struct GatherOfVectors : Vectors {
    GatherOfVectors(const Communicator& communicator, const Grid& tiled)
        : Vectors(communicator, tiled) {
        received = Memory(all_at_root(*this));
    }
    void run(std::span<const std::byte> sent) override {
        mpi_check(MPI_Gatherv(sent.data(), own, MPI_BYTE, received.data(), ones.data(),
                              tiles.offsets.data(), type.get(), 0, comm),
                  "MPI_Gatherv");
    }
};

struct Alltoallv : MpiCollective {
    Alltoallv(const Communicator& communicator, const Grid& tiled)
        : MpiCollective(communicator, tiled), counts(static_cast<std::size_t>(grid.ranks()), mine) {
        received = Memory(strip(*this));
        for (int from = 0; from < grid.ranks(); ++from)
            offsets.push_back(from * mine);
    }
    void run(std::span<const std::byte> sent) override {
        mpi_check(MPI_Alltoallv(sent.data(), columns.counts.data(), columns.offsets.data(),
                                MPI_BYTE, received.data(), counts.data(), offsets.data(), MPI_BYTE,
                                comm),
                  "MPI_Alltoallv");
    }

    std::vector<int> counts, offsets;
};

/// Moves tiles between rank 0's image and all ranks by MPI_Alltoallw with one datatype per tile.
/// This is the only MPI collective that supports tiles of different shapes.
template <bool scatters>
struct Alltoallw : MpiCollective {
    Alltoallw(const Communicator& communicator, const Grid& tiled)
        : MpiCollective(communicator, tiled),
          none(tiles.counts.size(), 0),
          one_side(none),
          bytes(none.size(), MPI_BYTE),
          in_image(bytes) {
        received = Memory(scatters ? own_tile(*this) : all_at_root(*this));
        one_side[0] = own;
        for (int to = 0; is_root() && to < grid.ranks(); ++to)
            add(tile(grid, to));
    }
    void run(std::span<const std::byte> sent) override {
        mpi_check(MPI_Alltoallw(sent.data(), counts(scatters), at(scatters), types(scatters),
                                received.data(), counts(!scatters), at(!scatters), types(!scatters),
                                comm),
                  "MPI_Alltoallw");
    }
    std::span<const std::byte> result() const override {
        return scatters && is_root() ? std::span<const std::byte>() : received.bytes();
    }

    void add(const Tile& each) {
        const auto to = places.size();
        const bool empty = each.elements() == 0;
        places.push_back(empty ? 0 : static_cast<int>(each.y * grid.width + each.x));
        at_root.push_back(empty ? 0 : 1);
        if (empty)
            return;
        const Blocks rows{nullptr, each.width, grid.width, each.height};
        shapes.emplace_back(std::span(&rows, 1));
        in_image[to] = shapes.back().get();
    }
    /// Returns the counts for the image, which only rank 0 has, or for the tiles.
    const int* counts(bool of_image) const {
        return !of_image ? one_side.data() : is_root() ? at_root.data() : none.data();
    }
    const int* at(bool of_image) const {
        return of_image && is_root() ? places.data() : none.data();
    }
    const MPI_Datatype* types(bool of_image) const {
        return of_image && is_root() ? in_image.data() : bytes.data();
    }

    const std::vector<int> none;
    std::vector<int> one_side, at_root, places;
    const std::vector<MPI_Datatype> bytes;
    std::vector<MPI_Datatype> in_image;
    std::vector<Datatype> shapes;
};

template <class Call>
std::unique_ptr<PreparedCall> prepare(const Communicator& communicator, const Grid& grid) {
    return std::make_unique<Call>(communicator, grid);
}

template <auto call, auto bytes_received>
std::unique_ptr<PreparedCall> prepare(const Communicator& communicator, const Grid& grid) {
    return std::make_unique<OneCall<call, bytes_received>>(communicator, grid);
}

constexpr CollectiveBaseline baselines[] = {
    {"mpi-bcast", CollectiveKind::broadcast, fits, prepare<bcast, all_but_root>},
    {"mpi-scatterv", CollectiveKind::scatter, in_one_piece, prepare<scatterv, tile_but_root>},
    {"mpi-scatter", CollectiveKind::scatter, alike_in_one_piece, prepare<scatter, tile_but_root>},
    {"mpi-scatterv-vector", CollectiveKind::scatter, alike_and_of_something,
     prepare<ScatterOfVectors>},
    {"mpi-scatter-alltoallw", CollectiveKind::scatter, fits, prepare<Alltoallw<true>>},
    {"mpi-gatherv", CollectiveKind::gather, in_one_piece, prepare<gatherv, all_at_root>},
    {"mpi-gather", CollectiveKind::gather, alike_in_one_piece, prepare<gather, all_at_root>},
    {"mpi-gatherv-vector", CollectiveKind::gather, alike_and_of_something,
     prepare<GatherOfVectors>},
    {"mpi-gather-alltoallw", CollectiveKind::gather, fits, prepare<Alltoallw<false>>},
    {"mpi-allgatherv", CollectiveKind::all_gather, in_one_piece, prepare<all_gatherv, all>},
    {"mpi-allgather", CollectiveKind::all_gather, alike_in_one_piece, prepare<all_gather, all>},
    {"mpi-alltoallv", CollectiveKind::all_to_all, row_each, prepare<Alltoallv>},
    {"mpi-alltoall", CollectiveKind::all_to_all, even_row_each, prepare<all_to_all, strip>},
};

} // namespace

std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator) {
    if (to_mpi(communicator) == MPI_COMM_NULL)
        return {};
    return baselines;
}

} // namespace sextant::lab

#else

namespace sextant::lab {

std::span<const CollectiveBaseline> mpi_collectives(const Communicator&) {
    return {};
}

} // namespace sextant::lab

#endif
