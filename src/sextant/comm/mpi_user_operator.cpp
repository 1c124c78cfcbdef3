// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_user_operator.hpp"

#include "sextant/comm/mpi_call.hpp"

#include <array>

namespace sextant {

namespace {

/// Under which an element's datatype keeps its operator.
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

/// second[i] = first[i] ⊕ second[i], as MPI wants it.
void combine(void* first, void* second, int* count, MPI_Datatype* type) {
    void* kept = nullptr;
    int found = 0;
    MPI_Type_get_attr(*type, operator_key(), &kept, &found);
    const std::array<const std::byte*, 2> operands = {static_cast<const std::byte*>(first),
                                                      static_cast<const std::byte*>(second)};
    static_cast<const Operator*>(kept)->fold(operands, static_cast<std::byte*>(second), *count);
}

} // namespace

MpiUserOperator::MpiUserOperator(const Operator& op) {
    mpi_check(MPI_Type_contiguous(static_cast<int>(op.element.size), MPI_BYTE, &element_),
              "MPI_Type_contiguous");
    mpi_check(MPI_Type_commit(&element_), "MPI_Type_commit");
    mpi_check(MPI_Type_set_attr(element_, operator_key(), const_cast<Operator*>(&op)),
              "MPI_Type_set_attr");
    mpi_check(MPI_Op_create(combine, op.commutative ? 1 : 0, &op_), "MPI_Op_create");
}

MpiUserOperator::~MpiUserOperator() {
    if (mpi_finalized())
        return;
    MPI_Op_free(&op_);
    MPI_Type_free(&element_);
}

} // namespace sextant
#endif
