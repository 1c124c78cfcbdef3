// SPDX-License-Identifier: BSD-3-Clause

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_exchange.hpp"

#include <array>
#include <chrono>
#include <climits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sched.h>

namespace sextant {

namespace {

/// Returns the attribute key under which an element's datatype stores its operator.
int operator_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        mpi_check(
            MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr),
            "MPI_Type_create_keyval");
        return made;
    }();
    return key;
}

/// MPI's user function: second[i] = first[i] ⊕ second[i].
void fold_pair(void* first, void* second, int* count, MPI_Datatype* type) {
    void* kept = nullptr;
    int found = 0;
    MPI_Type_get_attr(*type, operator_key(), &kept, &found);
    const std::array<const std::byte*, 2> operands = {static_cast<const std::byte*>(first),
                                                      static_cast<const std::byte*>(second)};
    static_cast<const Operator*>(kept)->fold(operands, static_cast<std::byte*>(second), *count);
}

} // namespace

MpiOperator::MpiOperator(const Operator& op) : operator_(op) {
    mpi_check(MPI_Type_contiguous(static_cast<int>(op.element.size), MPI_BYTE, &element_),
              "MPI_Type_contiguous");
    mpi_check(MPI_Type_commit(&element_), "MPI_Type_commit");
    mpi_check(MPI_Type_set_attr(element_, operator_key(), const_cast<Operator*>(&operator_)),
              "MPI_Type_set_attr");
    mpi_check(MPI_Op_create(fold_pair, op.commutative ? 1 : 0, &op_), "MPI_Op_create");
}

MpiOperator::~MpiOperator() {
    if (mpi_finalized())
        return;
    MPI_Op_free(&op_);
    MPI_Type_free(&element_);
}

namespace {

/// Counts and offsets for MPI, in elements of a datatype.
struct MpiBlocks {
    std::vector<int> counts, offsets;
    Elements sum = 0;

    void add(std::span<const Elements> elements, Bytes scale) {
        for (const Elements each : elements) {
            counts.push_back(static_cast<int>(each * scale));
            offsets.push_back(static_cast<int>(sum * scale));
            sum += each;
        }
    }
};

class MpiCollective : public LibraryOperation {
  public:
    MpiCollective(MPI_Comm comm, MpiConditions conditions, const LibraryTask& task)
        : comm_(comm), conditions_(std::move(conditions)), task_(task) {
        MPI_Comm_rank(comm, &rank_);
        const Bytes scale = combines(task.kind) ? 1 : task.op.element.size;
        blocks_.add(task.blocks, scale);
        from_.add(task.from, scale);
        if (combines(task.kind))
            op_.emplace(task.op);
        if (task.kind == CollectiveKind::exclusive_scan && rank_ == 0)
            unused_ = Memory(blocks_.sum * task.op.element.size);
    }

    void run(const std::byte* send, std::byte* receive) override {
        const char* const call = name(task_.kind).data();
        conditions_.calls->begin(MpiCalls::Kind::run);
        MPI_Request request = MPI_REQUEST_NULL;
        try {
            mpi_check(start(send, receive, &request), call);
            mpi_finish(request, call, conditions_.calls.get(), conditions_.patience());
        } catch (...) {
            *conditions_.has_strays = true;
            receive_late(request);
            throw;
        }
        conditions_.calls->end();
    }

  private:
    /// Waits a moment for messages from ranks that began the call before they knew of a failure,
    /// because MPI writes these messages into the caller's memory.
    static void receive_late(MPI_Request& request) {
        constexpr std::chrono::milliseconds most{100};
        const auto end = std::chrono::steady_clock::now() + most;
        int done = request == MPI_REQUEST_NULL ? 1 : 0;
        while (done == 0 && std::chrono::steady_clock::now() < end &&
               MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            sched_yield();
    }

    int start(const std::byte* send, std::byte* receive, MPI_Request* request);

    const MPI_Comm comm_;
    const MpiConditions conditions_;
    const LibraryTask task_;
    MpiBlocks blocks_, from_;
    std::optional<MpiOperator> op_;
    int rank_ = 0;
    Memory unused_; // rank 0 receives nothing from an exclusive scan, but MPICH wants a buffer
};

int MpiCollective::start(const std::byte* send, std::byte* receive, MPI_Request* request) {
    const MPI_Datatype type = op_ ? op_->element() : MPI_BYTE;
    const MPI_Op op = op_ ? op_->op() : MPI_OP_NULL;
    const int *const counts = blocks_.counts.data(), *const offsets = blocks_.offsets.data();
    const int first = counts[0], own = counts[blocks_.counts.size() > 1 ? rank_ : 0],
              root = task_.root;
    switch (task_.kind) {
    case CollectiveKind::broadcast: // MPI does not write to the root's buffer
        return MPI_Ibcast(rank_ == root ? const_cast<std::byte*>(send) : receive, first, type, root,
                          comm_, request);
    case CollectiveKind::scatter:
        return MPI_Iscatterv(send, counts, offsets, type, receive, own, type, root, comm_, request);
    case CollectiveKind::gather:
        return MPI_Igatherv(send, own, type, receive, counts, offsets, type, root, comm_, request);
    case CollectiveKind::all_gather:
        if (task_.equal)
            return MPI_Iallgather(send, own, type, receive, own, type, comm_, request);
        return MPI_Iallgatherv(send, own, type, receive, counts, offsets, type, comm_, request);
    case CollectiveKind::all_to_all:
        if (task_.equal)
            return MPI_Ialltoall(send, first, type, receive, first, type, comm_, request);
        return MPI_Ialltoallv(send, counts, offsets, type, receive, from_.counts.data(),
                              from_.offsets.data(), type, comm_, request);
    case CollectiveKind::reduce:
        return MPI_Ireduce(send, receive, first, type, op, root, comm_, request);
    case CollectiveKind::all_reduce:
        return MPI_Iallreduce(send, receive, first, type, op, comm_, request);
    case CollectiveKind::reduce_scatter:
        return MPI_Ireduce_scatter(send, receive, counts, type, op, comm_, request);
    case CollectiveKind::scan:
        return MPI_Iscan(send, receive, first, type, op, comm_, request);
    case CollectiveKind::exclusive_scan:
        return MPI_Iexscan(send, rank_ == 0 ? unused_.data() : receive, first, type, op, comm_,
                           request);
    }
    return MPI_ERR_ARG;
}

} // namespace

std::unique_ptr<LibraryOperation> mpi_collective(MPI_Comm comm, const MpiConditions& conditions,
                                                 const LibraryTask& task) {
    const Elements most = INT_MAX / task.op.element.size; // 0 if an element is too large
    for (const auto& list : {task.blocks, task.from}) {
        if (most == 0 || std::accumulate(list.begin(), list.end(), Elements{0}) > most)
            return nullptr;
    }
    return std::make_unique<MpiCollective>(comm, conditions, task);
}

} // namespace sextant

#endif
