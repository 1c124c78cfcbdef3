// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/blocks.hpp"
#include "sextant/comm/mpi_call.hpp"

#include <span>
#include <utility>

#include <mpi.h>

namespace sextant {

/// What one call moves at most of a contiguous message.
inline constexpr Bytes mpi_chunk = Bytes{256} << 20;

/// Bytes that do not lie in one piece, as MPI knows them: relative to the first.
class Datatype {
  public:
    Datatype() = default;
    explicit Datatype(std::span<const Blocks> blocks);
    Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    Datatype& operator=(Datatype&& other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~Datatype() {
        if (type_ != MPI_DATATYPE_NULL && !mpi_finalized())
            MPI_Type_free(&type_);
    }
    MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

} // namespace sextant
