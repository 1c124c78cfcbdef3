// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <mpi.h>

namespace sextant {

/// An operator of ours as MPI's reductions take it: an MPI_Op, and the datatype of an element,
/// which carries the operator.
class MpiUserOperator {
  public:
    explicit MpiUserOperator(const Operator& op);
    MpiUserOperator(const MpiUserOperator&) = delete;
    MpiUserOperator& operator=(const MpiUserOperator&) = delete;
    ~MpiUserOperator();

    MPI_Op op() const { return op_; }
    MPI_Datatype element() const { return element_; }

  private:
    MPI_Op op_ = MPI_OP_NULL;
    MPI_Datatype element_ = MPI_DATATYPE_NULL;
};

} // namespace sextant
