// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/mpi_baselines.hpp"

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/comm/transport.hpp"
#include "sextant/lab/mpi_internals.hpp"

#include <climits>
#include <memory>
#include <span>
#include <vector>

namespace sextant::lab {

namespace {

bool fits(const Grid& grid) {
    return grid.width * grid.height <= INT_MAX;
}

/// True if every tile is contiguous: as wide as the image, or at most one row high.
bool in_one_piece(const Grid& grid) {
    return fits(grid) && (grid.columns == 1 || grid.height <= grid.rows);
}

bool all_alike(const Grid& grid) {
    return fits(grid) && grid.width % grid.columns == 0 && grid.height % grid.rows == 0;
}

/// True if all tiles have the same shape and are not empty: Open MPI's MPI_Scatterv sends one item
/// of an empty datatype but does not receive it.
bool alike_and_of_something(const Grid& grid) {
    return all_alike(grid) && grid.width * grid.height > 0;
}

bool alike_in_one_piece(const Grid& grid) {
    return in_one_piece(grid) && all_alike(grid);
}

/// True if each rank has one row of the image, which contains data for every rank.
bool row_each(const Grid& grid) {
    return fits(grid) && grid.height == grid.ranks();
}

bool even_row_each(const Grid& grid) {
    return row_each(grid) && grid.width % grid.ranks() == 0;
}

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

class Bcast : public MpiCollective {
  public:
    Bcast(const Communicator& communicator, const Grid& grid) : MpiCollective(communicator, grid) {
        expect(is_root() ? 0 : pixels_);
    }
    void run(std::span<const std::byte> own) override {
        // MPI_Bcast takes a non-const pointer on all ranks, but does not write to the root's
        // buffer.
        void* const buffer = is_root() ? const_cast<std::byte*>(own.data()) : received_.data();
        mpi_check(MPI_Bcast(buffer, static_cast<int>(pixels_), MPI_BYTE, 0, comm_), "MPI_Bcast");
    }
};

/// Base class of scatters. Rank 0's tile stays in its image.
class ScatterOfTiles : public MpiCollective {
  public:
    ScatterOfTiles(const Communicator& communicator, const Grid& grid)
        : MpiCollective(communicator, grid) {
        expect(is_root() ? 0 : own_);
    }

  protected:
    void* place() { return is_root() ? MPI_IN_PLACE : received_.data(); }
};

class Scatter : public ScatterOfTiles {
  public:
    using ScatterOfTiles::ScatterOfTiles;
    void run(std::span<const std::byte> own) override {
        mpi_check(
            MPI_Scatter(own.data(), count_of_any(), MPI_BYTE, place(), own_, MPI_BYTE, 0, comm_),
            "MPI_Scatter");
    }
};

class Scatterv : public ScatterOfTiles {
  public:
    using ScatterOfTiles::ScatterOfTiles;
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Scatterv(own.data(), tiles_.counts.data(), tiles_.offsets.data(), MPI_BYTE,
                               place(), own_, MPI_BYTE, 0, comm_),
                  "MPI_Scatterv");
    }
};

class ScattervOfVectors : public ScatterOfTiles {
  public:
    ScattervOfVectors(const Communicator& communicator, const Grid& grid)
        : ScatterOfTiles(communicator, grid), type_(grid), ones_(tiles_.counts.size(), 1) {}
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Scatterv(own.data(), ones_.data(), tiles_.offsets.data(), type_.get(),
                               place(), own_, MPI_BYTE, 0, comm_),
                  "MPI_Scatterv");
    }

  private:
    const TileType type_;
    const std::vector<int> ones_;
};

/// Base class of gathers. Rank 0's own tile is also copied to the gathered image.
class GatherOfTiles : public MpiCollective {
  public:
    GatherOfTiles(const Communicator& communicator, const Grid& grid)
        : MpiCollective(communicator, grid) {
        expect(is_root() ? pixels_ : 0);
    }
};

class Gather : public GatherOfTiles {
  public:
    using GatherOfTiles::GatherOfTiles;
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Gather(own.data(), own_, MPI_BYTE, received_.data(), count_of_any(), MPI_BYTE,
                             0, comm_),
                  "MPI_Gather");
    }
};

class Gatherv : public GatherOfTiles {
  public:
    using GatherOfTiles::GatherOfTiles;
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Gatherv(own.data(), own_, MPI_BYTE, received_.data(), tiles_.counts.data(),
                              tiles_.offsets.data(), MPI_BYTE, 0, comm_),
                  "MPI_Gatherv");
    }
};

class GathervOfVectors : public GatherOfTiles {
  public:
    GathervOfVectors(const Communicator& communicator, const Grid& grid)
        : GatherOfTiles(communicator, grid), type_(grid), ones_(tiles_.counts.size(), 1) {}
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Gatherv(own.data(), own_, MPI_BYTE, received_.data(), ones_.data(),
                              tiles_.offsets.data(), type_.get(), 0, comm_),
                  "MPI_Gatherv");
    }

  private:
    const TileType type_;
    const std::vector<int> ones_;
};

class Allgather : public MpiCollective {
  public:
    Allgather(const Communicator& communicator, const Grid& grid)
        : MpiCollective(communicator, grid) {
        expect(pixels_);
    }
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Allgather(own.data(), own_, MPI_BYTE, received_.data(), count_of_any(),
                                MPI_BYTE, comm_),
                  "MPI_Allgather");
    }
};

class Allgatherv : public Allgather {
  public:
    using Allgather::Allgather;
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Allgatherv(own.data(), own_, MPI_BYTE, received_.data(), tiles_.counts.data(),
                                 tiles_.offsets.data(), MPI_BYTE, comm_),
                  "MPI_Allgatherv");
    }
};

/// Each rank starts with one row of the image and ends with a strip of columns of all rows.
class Alltoall : public MpiCollective {
  public:
    Alltoall(const Communicator& communicator, const Grid& grid)
        : MpiCollective(communicator, grid),
          columns_({grid.width, 1, grid.ranks(), 1}),
          mine_(columns_.counts[static_cast<std::size_t>(rank_)]) {
        expect(mine_ * grid.ranks());
    }
    void run(std::span<const std::byte> own) override {
        mpi_check(
            MPI_Alltoall(own.data(), mine_, MPI_BYTE, received_.data(), mine_, MPI_BYTE, comm_),
            "MPI_Alltoall");
    }

  protected:
    const TileList columns_; ///< the parts of a row, one per destination rank
    const int mine_;         ///< the width of this rank's strip
};

class Alltoallv : public Alltoall {
  public:
    Alltoallv(const Communicator& communicator, const Grid& grid) : Alltoall(communicator, grid) {
        for (int from = 0; from < grid.ranks(); ++from) {
            counts_.push_back(mine_);
            offsets_.push_back(from * mine_);
        }
    }
    void run(std::span<const std::byte> own) override {
        mpi_check(MPI_Alltoallv(own.data(), columns_.counts.data(), columns_.offsets.data(),
                                MPI_BYTE, received_.data(), counts_.data(), offsets_.data(),
                                MPI_BYTE, comm_),
                  "MPI_Alltoallv");
    }

  private:
    std::vector<int> counts_, offsets_;
};

template <class Configuration>
std::unique_ptr<PreparedCollective> prepare(const Communicator& communicator, const Grid& grid) {
    return std::make_unique<Configuration>(communicator, grid);
}

constexpr CollectiveBaseline baselines[] = {
    {"mpi-bcast", "MPI_Bcast", CollectiveKind::broadcast, fits, prepare<Bcast>},
    {"mpi-scatterv", "MPI_Scatterv", CollectiveKind::scatter, in_one_piece, prepare<Scatterv>},
    {"mpi-scatter", "MPI_Scatter", CollectiveKind::scatter, alike_in_one_piece, prepare<Scatter>},
    {"mpi-scatterv-vector", "MPI_Scatterv with one datatype: a tile in its image",
     CollectiveKind::scatter, alike_and_of_something, prepare<ScattervOfVectors>},
    {"mpi-scatter-alltoallw", "MPI_Alltoallw from rank 0 with one datatype per tile",
     CollectiveKind::scatter, fits, scatter_by_alltoallw},
    {"mpi-gatherv", "MPI_Gatherv", CollectiveKind::gather, in_one_piece, prepare<Gatherv>},
    {"mpi-gather", "MPI_Gather", CollectiveKind::gather, alike_in_one_piece, prepare<Gather>},
    {"mpi-gatherv-vector", "MPI_Gatherv with one datatype: a tile in its image",
     CollectiveKind::gather, alike_and_of_something, prepare<GathervOfVectors>},
    {"mpi-gather-alltoallw", "MPI_Alltoallw to rank 0 with one datatype per tile",
     CollectiveKind::gather, fits, gather_by_alltoallw},
    {"mpi-allgatherv", "MPI_Allgatherv", CollectiveKind::all_gather, in_one_piece,
     prepare<Allgatherv>},
    {"mpi-allgather", "MPI_Allgather", CollectiveKind::all_gather, alike_in_one_piece,
     prepare<Allgather>},
    {"mpi-alltoallv", "MPI_Alltoallv", CollectiveKind::all_to_all, row_each, prepare<Alltoallv>},
    {"mpi-alltoall", "MPI_Alltoall", CollectiveKind::all_to_all, even_row_each, prepare<Alltoall>},
};

} // namespace

std::span<const CollectiveBaseline> mpi_collectives(const Communicator& communicator) {
    if (to_mpi(communicator) == MPI_COMM_NULL)
        return {};
    return baselines;
}

namespace {

/// Moves tiles between rank 0's image and all ranks, with one datatype per tile.
class TilesOfAnyShape : public MpiCollective {
  public:
    TilesOfAnyShape(const Communicator& communicator, const Grid& grid)
        : MpiCollective(communicator, grid),
          none_(static_cast<std::size_t>(grid.ranks()), 0),
          one_side_(static_cast<std::size_t>(grid.ranks()), 0),
          bytes_(static_cast<std::size_t>(grid.ranks()), MPI_BYTE),
          in_image_(bytes_) {
        one_side_[0] = static_cast<int>(own_);
        for (int rank = 0; is_root() && rank < grid.ranks(); ++rank)
            add(tile(grid, rank));
    }

  protected:
    void exchange(const std::byte* from, bool from_image, std::byte* to) {
        const bool to_image = !from_image;
        mpi_check(MPI_Alltoallw(from, counts(from_image), at(from_image), types(from_image), to,
                                counts(to_image), at(to_image), types(to_image), comm_),
                  "MPI_Alltoallw");
    }

  private:
    void add(const Tile& each) {
        const auto rank = places_.size();
        const bool empty = each.elements() == 0;
        places_.push_back(empty ? 0 : static_cast<int>((each.y * grid_.width + each.x)));
        at_root_.push_back(empty ? 0 : 1);
        if (empty)
            return;
        const Blocks rows{nullptr, each.width, grid_.width, each.height};
        shapes_.emplace_back(std::span(&rows, 1));
        in_image_[rank] = shapes_.back().get();
    }
    /// The counts for the image, which only rank 0 has, or for the tiles.
    const int* counts(bool of_image) const {
        return !of_image ? one_side_.data() : is_root() ? at_root_.data() : none_.data();
    }
    const int* at(bool of_image) const {
        return of_image && is_root() ? places_.data() : none_.data();
    }
    const MPI_Datatype* types(bool of_image) const {
        return of_image && is_root() ? in_image_.data() : bytes_.data();
    }

    const std::vector<int> none_;
    std::vector<int> one_side_, at_root_, places_;
    const std::vector<MPI_Datatype> bytes_;
    std::vector<MPI_Datatype> in_image_;
    std::vector<Datatype> shapes_;
};

class ScatterByAlltoallw : public TilesOfAnyShape {
  public:
    ScatterByAlltoallw(const Communicator& communicator, const Grid& grid)
        : TilesOfAnyShape(communicator, grid) {
        expect(own_);
    }
    void run(std::span<const std::byte> own) override {
        exchange(own.data(), true, received_.data());
    }
    std::span<const std::byte> result() const override {
        return is_root() ? std::span<const std::byte>() : received_.bytes();
    }
};

class GatherByAlltoallw : public TilesOfAnyShape {
  public:
    GatherByAlltoallw(const Communicator& communicator, const Grid& grid)
        : TilesOfAnyShape(communicator, grid) {
        expect(is_root() ? pixels_ : 0);
    }
    void run(std::span<const std::byte> own) override {
        exchange(own.data(), false, received_.data());
    }
};

} // namespace

std::unique_ptr<PreparedCollective> scatter_by_alltoallw(const Communicator& communicator,
                                                         const Grid& grid) {
    return std::make_unique<ScatterByAlltoallw>(communicator, grid);
}

std::unique_ptr<PreparedCollective> gather_by_alltoallw(const Communicator& communicator,
                                                        const Grid& grid) {
    return std::make_unique<GatherByAlltoallw>(communicator, grid);
}

} // namespace sextant::lab

#else

namespace sextant::lab {

std::span<const CollectiveBaseline> mpi_collectives(const Communicator&) {
    return {};
}

} // namespace sextant::lab

#endif
