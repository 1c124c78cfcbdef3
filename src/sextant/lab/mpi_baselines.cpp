// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/mpi_baselines.hpp"

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/region.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <mpi.h>

namespace sextant::lab {

namespace {

/// The blocks of an image, one per rank, as counts and offsets for MPI.
struct Pieces {
    std::vector<int> counts, offsets;
    Elements own = 0;

    Pieces(Elements elements, int ranks, int rank) {
        for (int i = 0; i < ranks; ++i) {
            const Region piece = part(block(0, 0, elements), i, ranks);
            counts.push_back(static_cast<int>(piece.length));
            offsets.push_back(static_cast<int>(piece.offset));
        }
        own = counts[static_cast<std::size_t>(rank)];
    }
};

/// Base class of the reductions, with communicator, operator, and memory for the result.
class MpiReduction : public PreparedCall {
  public:
    MpiReduction(const Communicator& communicator, const Operator& op, Elements elements, int root)
        : comm_(to_mpi(communicator)),
          rank_(communicator.rank()),
          ranks_(communicator.size()),
          root_(root),
          elements_(elements),
          operator_(op),
          user_(op),
          pieces_(elements, ranks_, rank_),
          piece_(pieces_.own * op.element.size) {
        if (rank_ == root_)
            whole_ = Memory(elements * op.element.size);
    }

    std::span<const std::byte> result() const override {
        if (root_ < 0)
            return piece_.bytes();
        return whole_.bytes();
    }

  protected:
    /// Gathers the blocks of the result at the root, if there is one.
    void collect() {
        if (root_ < 0)
            return;
        mpi_check(MPI_Gatherv(piece_.data(), static_cast<int>(pieces_.own), user_.element(),
                              whole_.data(), pieces_.counts.data(), pieces_.offsets.data(),
                              user_.element(), root_, comm_),
                  "MPI_Gatherv");
    }

    const MPI_Comm comm_;
    const int rank_, ranks_, root_;
    const Elements elements_;
    const Operator operator_;
    const MpiOperator user_;
    const Pieces pieces_;
    Memory piece_, whole_;
};

class Reduce : public MpiReduction {
  public:
    using MpiReduction::MpiReduction;
    void run(std::span<const std::byte> image) override {
        mpi_check(MPI_Reduce(image.data(), whole_.data(), static_cast<int>(elements_),
                             user_.element(), user_.op(), std::max(root_, 0), comm_),
                  "MPI_Reduce");
    }
};

class Allreduce : public MpiReduction {
  public:
    Allreduce(const Communicator& communicator, const Operator& op, Elements elements, int root)
        : MpiReduction(communicator, op, elements, root) {
        whole_ = Memory(elements * op.element.size);
    }
    void run(std::span<const std::byte> image) override {
        mpi_check(MPI_Allreduce(image.data(), whole_.data(), static_cast<int>(elements_),
                                user_.element(), user_.op(), comm_),
                  "MPI_Allreduce");
    }
    std::span<const std::byte> result() const override {
        if (root_ >= 0)
            return rank_ == root_ ? whole_.bytes() : std::span<const std::byte>();
        const auto size = static_cast<std::size_t>(operator_.element.size);
        const auto first =
            static_cast<std::size_t>(pieces_.offsets[static_cast<std::size_t>(rank_)]);
        return whole_.bytes().subspan(first * size, static_cast<std::size_t>(pieces_.own) * size);
    }
};

class ReduceScatter : public MpiReduction {
  public:
    using MpiReduction::MpiReduction;
    void run(std::span<const std::byte> image) override {
        mpi_check(MPI_Reduce_scatter(image.data(), piece_.data(), pieces_.counts.data(),
                                     user_.element(), user_.op(), comm_),
                  "MPI_Reduce_scatter");
        collect();
    }
};

/// Direct send: every rank sends block i of its image to rank i, which folds the blocks in one
/// pass.
class DirectSend : public MpiReduction {
  public:
    DirectSend(const Communicator& communicator, const Operator& op, Elements elements, int root)
        : MpiReduction(communicator, op, elements, root),
          incoming_(pieces_.own * op.element.size * ranks_) {
        for (int i = 0; i < ranks_; ++i)
            operands_.push_back(slot(i));
    }

  protected:
    std::byte* slot(int rank) {
        return incoming_.data() + rank * pieces_.own * operator_.element.size;
    }
    void fold() {
        if (pieces_.own > 0)
            operator_.fold(operands_, piece_.data(), pieces_.own);
        collect();
    }

    Memory incoming_;
    std::vector<const std::byte*> operands_;
};

class AlltoallvDirectSend : public DirectSend {
  public:
    AlltoallvDirectSend(const Communicator& communicator, const Operator& op, Elements elements,
                        int root)
        : DirectSend(communicator, op, elements, root) {
        for (int i = 0; i < ranks_; ++i) {
            counts_.push_back(static_cast<int>(pieces_.own));
            offsets_.push_back(static_cast<int>(pieces_.own) * i);
        }
    }
    void run(std::span<const std::byte> image) override {
        mpi_check(MPI_Alltoallv(image.data(), pieces_.counts.data(), pieces_.offsets.data(),
                                user_.element(), incoming_.data(), counts_.data(), offsets_.data(),
                                user_.element(), comm_),
                  "MPI_Alltoallv");
        fold();
    }

  private:
    std::vector<int> counts_, offsets_;
};

class NonBlockingDirectSend : public DirectSend {
  public:
    using DirectSend::DirectSend;
    void run(std::span<const std::byte> image) override {
        requests_.clear();
        operands_[static_cast<std::size_t>(rank_)] = piece_of(image, rank_);
        for (int shift = 1; shift < ranks_; ++shift) {
            const int from = (rank_ - shift + ranks_) % ranks_;
            mpi_check(MPI_Irecv(slot(from), static_cast<int>(pieces_.own), user_.element(), from, 0,
                                comm_, &requests_.emplace_back()),
                      "MPI_Irecv");
        }
        for (int shift = 1; shift < ranks_; ++shift) {
            const int to = (rank_ + shift) % ranks_;
            mpi_check(MPI_Isend(piece_of(image, to), pieces_.counts[static_cast<std::size_t>(to)],
                                user_.element(), to, 0, comm_, &requests_.emplace_back()),
                      "MPI_Isend");
        }
        mpi_check(
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
        fold();
    }

  private:
    const std::byte* piece_of(std::span<const std::byte> image, int rank) const {
        return image.data() +
               pieces_.offsets[static_cast<std::size_t>(rank)] * operator_.element.size;
    }
    std::vector<MPI_Request> requests_;
};

template <class Configuration>
std::unique_ptr<PreparedCall> prepare(const Communicator& communicator, const Operator& op,
                                      Elements elements, int root) {
    return std::make_unique<Configuration>(communicator, op, elements, root);
}

constexpr Baseline baselines[] = {
    {"alltoallv", prepare<AlltoallvDirectSend>},
    {"isend-irecv", prepare<NonBlockingDirectSend>},
    {"mpi-reduce", prepare<Reduce>},
    {"mpi-allreduce", prepare<Allreduce>},
    {"mpi-reduce-scatter", prepare<ReduceScatter>},
};

} // namespace

std::span<const Baseline> mpi_baselines(const Communicator& communicator) {
    if (to_mpi(communicator) == MPI_COMM_NULL)
        return {};
    return baselines;
}

namespace {

/// A scan by MPI_Scan or MPI_Exscan, or by MPI_Iscan or MPI_Iexscan, which have an additional
/// argument.
template <auto call, bool exclusive>
class MpiScan : public PreparedCall {
  public:
    MpiScan(const Communicator& communicator, const Operator& op, Elements elements)
        : comm_(to_mpi(communicator)),
          count_(static_cast<int>(elements)),
          operator_(op),
          user_(op),
          has_result_(!exclusive || communicator.rank() > 0),
          result_(elements * op.element.size) {}

    void run(std::span<const std::byte> elements) override {
        const auto scan = [&](auto... more) {
            mpi_check(call(elements.data(), result_.data(), count_, user_.element(), user_.op(),
                           comm_, more...),
                      exclusive ? "MPI_Exscan" : "MPI_Scan");
        };
        if constexpr (requires { call(nullptr, nullptr, 0, MPI_BYTE, MPI_SUM, comm_); }) {
            scan();
        } else {
            MPI_Request request = MPI_REQUEST_NULL;
            scan(&request);
            mpi_finish(request, exclusive ? "MPI_Iexscan" : "MPI_Iscan");
        }
    }
    std::span<const std::byte> result() const override {
        return has_result_ ? result_.bytes() : std::span<const std::byte>();
    }

  private:
    const MPI_Comm comm_;
    const int count_;
    const Operator operator_;
    const MpiOperator user_;
    const bool has_result_;
    Memory result_;
};

template <auto call, bool exclusive>
std::unique_ptr<PreparedCall> prepare(const Communicator& communicator, const Operator& op,
                                      Elements elements) {
    return std::make_unique<MpiScan<call, exclusive>>(communicator, op, elements);
}

constexpr ScanBaseline scan_baselines[] = {
    {"mpi-scan", false, prepare<MPI_Scan, false>},
    {"mpi-exscan", true, prepare<MPI_Exscan, true>},
    {"mpi-iscan", false, prepare<MPI_Iscan, false>},
    {"mpi-iexscan", true, prepare<MPI_Iexscan, true>},
};

} // namespace

std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator) {
    if (to_mpi(communicator) == MPI_COMM_NULL)
        return {};
    return scan_baselines;
}

} // namespace sextant::lab

#else

namespace sextant::lab {

std::span<const Baseline> mpi_baselines(const Communicator&) {
    return {};
}

std::span<const ScanBaseline> mpi_scan_baselines(const Communicator&) {
    return {};
}

} // namespace sextant::lab

#endif
