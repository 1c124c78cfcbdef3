// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/mpi_scan_baselines.hpp"

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/mpi_call.hpp"
#include "sextant/comm/mpi_user_operator.hpp"
#include "sextant/core/memory.hpp"

namespace sextant {

namespace {

/// MPI_Scan or MPI_Exscan.
using BlockingScan = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
/// MPI_Iscan or MPI_Iexscan.
using NonBlockingScan = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm,
                                MPI_Request*);

/// What all baselines have: where they run, what they combine, and a place for the result.
class MpiScan : public PreparedScan {
  public:
    MpiScan(const Communicator& communicator, const Operator& op, Elements elements, bool exclusive)
        : comm_(to_mpi(communicator)),
          count_(static_cast<int>(elements)),
          operator_(op),
          user_(operator_),
          exclusive_(exclusive),
          has_result_(!exclusive || communicator.rank() > 0),
          result_(elements * op.element.size) {}

    std::span<const std::byte> result() const override {
        return has_result_ ? result_.bytes() : std::span<const std::byte>();
    }

  protected:
    const MPI_Comm comm_;
    const int count_;
    const Operator operator_;
    const MpiUserOperator user_;
    const bool exclusive_, has_result_;
    Memory result_;
};

template <BlockingScan call>
class Blocking : public MpiScan {
  public:
    using MpiScan::MpiScan;
    void run(std::span<const std::byte> elements) override {
        mpi_check(call(elements.data(), result_.data(), count_, user_.element(), user_.op(), comm_),
                  exclusive_ ? "MPI_Exscan" : "MPI_Scan");
    }
};

template <NonBlockingScan call>
class NonBlocking : public MpiScan {
  public:
    using MpiScan::MpiScan;
    void run(std::span<const std::byte> elements) override {
        MPI_Request request = MPI_REQUEST_NULL;
        const char* const name = exclusive_ ? "MPI_Iexscan" : "MPI_Iscan";
        mpi_check(call(elements.data(), result_.data(), count_, user_.element(), user_.op(), comm_,
                       &request),
                  name);
        mpi_finish(request, name);
    }
};

template <class Way, bool exclusive>
std::unique_ptr<PreparedScan> prepare(const Communicator& communicator, const Operator& op,
                                      Elements elements) {
    return std::make_unique<Way>(communicator, op, elements, exclusive);
}

constexpr ScanBaseline baselines[] = {
    {"mpi-scan", "MPI_Scan with our operator", false, prepare<Blocking<MPI_Scan>, false>},
    {"mpi-exscan", "MPI_Exscan with our operator", true, prepare<Blocking<MPI_Exscan>, true>},
    {"mpi-iscan", "MPI_Iscan with our operator", false, prepare<NonBlocking<MPI_Iscan>, false>},
    {"mpi-iexscan", "MPI_Iexscan with our operator", true, prepare<NonBlocking<MPI_Iexscan>, true>},
};

} // namespace

std::span<const ScanBaseline> mpi_scan_baselines(const Communicator& communicator) {
    if (to_mpi(communicator) == MPI_COMM_NULL)
        return {};
    return baselines;
}

} // namespace sextant
#else

namespace sextant {

std::span<const ScanBaseline> mpi_scan_baselines(const Communicator&) {
    return {};
}

} // namespace sextant
#endif
