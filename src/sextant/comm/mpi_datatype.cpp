// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_datatype.hpp"

#include "sextant/comm/mpi_call.hpp"

#include <climits>
#include <vector>

namespace sextant {

namespace {

/// `length` contiguous bytes; more than an int can count as whole chunks and a rest.
MPI_Datatype contiguous_type(Bytes length) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (length <= INT_MAX) {
        mpi_check(MPI_Type_contiguous(static_cast<int>(length), MPI_BYTE, &type),
                  "MPI_Type_contiguous");
        return type;
    }
    const int whole = static_cast<int>(length / mpi_chunk),
              rest = static_cast<int>(length % mpi_chunk);
    MPI_Datatype one = MPI_DATATYPE_NULL;
    mpi_check(MPI_Type_contiguous(static_cast<int>(mpi_chunk), MPI_BYTE, &one),
              "MPI_Type_contiguous");
    int counts[] = {whole, rest};
    MPI_Aint places[] = {0, static_cast<MPI_Aint>(whole) * static_cast<MPI_Aint>(mpi_chunk)};
    MPI_Datatype types[] = {one, MPI_BYTE};
    mpi_check(MPI_Type_create_struct(2, counts, places, types, &type), "MPI_Type_create_struct");
    MPI_Type_free(&one);
    return type;
}

} // namespace

Datatype::Datatype(std::span<const Blocks> blocks) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> places;
    const std::vector<int> counts(blocks.size(), 1);
    for (const Blocks& b : blocks) {
        MPI_Datatype run = contiguous_type(b.contiguous() ? b.bytes() : b.length), strided = run;
        if (!b.contiguous()) {
            mpi_check(
                MPI_Type_create_hvector(static_cast<int>(b.count), 1, b.stride, run, &strided),
                "MPI_Type_create_hvector");
            MPI_Type_free(&run);
        }
        types.push_back(strided);
        places.push_back(b.base - blocks[0].base);
    }
    mpi_check(MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), places.data(),
                                     types.data(), &type_),
              "MPI_Type_create_struct");
    for (MPI_Datatype& type : types)
        MPI_Type_free(&type);
    mpi_check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

} // namespace sextant
#endif
