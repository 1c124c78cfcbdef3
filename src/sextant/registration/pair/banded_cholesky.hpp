// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// A symmetric banded matrix: entries are 0 if |i − j| > band. The lower half is stored column by
/// column.
class BandedMatrix {
  public:
    BandedMatrix() = default;
    BandedMatrix(std::size_t size, std::size_t band)
        : size_(size), band_(band), values_(size * (band + 1)) {}

    std::size_t size() const { return size_; }
    std::size_t band() const { return band_; }
    /// Returns entry (i, j), in either triangle.
    double& at(std::size_t i, std::size_t j) { return i < j ? column(i)[j - i] : column(j)[i - j]; }
    double at(std::size_t i, std::size_t j) const {
        return i < j ? column(i)[j - i] : column(j)[i - j];
    }
    /// Returns the band + 1 entries of column j, from the diagonal downward; 0 beyond the last row.
    double* column(std::size_t j) { return values_.data() + j * (band_ + 1); }
    const double* column(std::size_t j) const { return values_.data() + j * (band_ + 1); }
    void clear();
    double trace() const;
    /// Computes to = A x, where A is this matrix.
    void multiply(std::span<const double> x, std::span<double> to) const;

  private:
    std::size_t size_ = 0, band_ = 0;
    std::vector<double> values_;
};

/// Returns tr(A B).
double trace_of_product(const BandedMatrix& a, const BandedMatrix& b);

/// Factors A = a G + b K for two banded matrices, solves systems with A, and computes A⁻¹ within
/// the band.
///
/// The elimination runs from the first column downward and, independently, from the last column
/// upward, until the two meet in a middle block as wide as the band. With a team, two threads
/// eliminate one end each; without a team, the two ends are eliminated one after the other.
///
/// Cost  n band² / 2 multiply-adds to factor and twice that to invert; n − band columns are split
///       between the two ends. Only the constructor allocates.
/// Deterministic  the bits do not depend on the number of threads.
/// Source  inverse: Takahashi, Fagan, Chen, 8th PICA Conference, 1973; elimination from both ends:
///         van der Vorst, Parallel Computing 5, 1987
class BandedCholesky {
  public:
    BandedCholesky() = default;
    /// The team must outlive this object.
    BandedCholesky(std::size_t size, std::size_t band, Team* team = nullptr);

    /// Returns false if A is not positive definite.
    bool factorise(double a, const BandedMatrix& g, double b, const BandedMatrix& k);
    /// Computes x ← A⁻¹ x.
    void solve(std::span<double> x);
    /// Returns the entries of A⁻¹ within the band, which suffice for tr(A⁻¹K).
    const BandedMatrix& inverse();

  private:
    /// One end of A: the columns that are eliminated from this end, followed by the columns of the
    /// middle block. In the last end, rows and columns are in reverse order.
    struct End {
        std::size_t own = 0;
        bool is_last = false;
        BandedMatrix factor, inverse;
        std::vector<double> column; ///< scratch: one column of the inverse
    };

    /// Converts a row or column number of A to the number counted from the other end.
    std::size_t reversed(std::size_t at) const { return inverse_.size() - 1 - at; }
    template <class Visit>
    void for_each_entry(const End& end, const Visit& visit) const;
    void give_middle_inverse();

    Team* team_ = nullptr;
    std::array<End, 2> ends_;
    std::vector<double> x_of_last_;
    BandedMatrix inverse_;
};

} // namespace sextant::registration
