// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/blocks.hpp"
#include "sextant/comm/mpi_call.hpp"
#include "sextant/comm/mpi_collective.hpp"
#include "sextant/comm/mpi_datatype.hpp"

#include <memory>
#include <span>
#include <vector>

namespace sextant {

namespace {

/// Between rank 0's image and everyone's tile, each with a type of its own.
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
    /// The image is at rank 0 only, and nobody has more than its own tile beside it.
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

} // namespace sextant
#endif
