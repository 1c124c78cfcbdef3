// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// A symmetric matrix whose entries are 0 where |i − j| > band. Its lower half is stored, column
/// after column.
class BandedMatrix {
  public:
    BandedMatrix() = default;
    BandedMatrix(std::size_t size, std::size_t band)
        : size_(size), band_(band), values_(size * (band + 1)) {}

    std::size_t size() const { return size_; }
    std::size_t band() const { return band_; }
    /// Entry (i, j), either way round.
    double& at(std::size_t i, std::size_t j) { return i < j ? column(i)[j - i] : column(j)[i - j]; }
    double at(std::size_t i, std::size_t j) const {
        return i < j ? column(i)[j - i] : column(j)[i - j];
    }
    /// From the diagonal downward, band + 1 entries; those beyond the last row are 0.
    double* column(std::size_t j) { return values_.data() + j * (band_ + 1); }
    const double* column(std::size_t j) const { return values_.data() + j * (band_ + 1); }
    void clear();
    double trace() const;
    /// to = this · x.
    void multiply(std::span<const double> x, std::span<double> to) const;

  private:
    std::size_t size_ = 0, band_ = 0;
    std::vector<double> values_;
};

/// tr(A B).
double trace_of_product(const BandedMatrix& a, const BandedMatrix& b);

/// A = a G + b K of two banded matrices, factored, solved, and inverted within the band.
///
/// It is eliminated from its first column downward and from its last one upward, which do not know
/// of each other until they meet in the middle, as wide as the band: two threads of a team each
/// take an end. The same two ends are gone through without a team.
///
/// Cost  n band² / 2 multiply-adds to factor, as many again twice to invert, of which n - band
///       columns are shared; nothing is allocated once it is made.
/// Deterministic  the same bits for any number of threads.
/// Source  the inverse: Takahashi, Fagan, Chen, 8th PICA Conference, 1973; both ends:
///         van der Vorst, Parallel Computing 5, 1987
class BandedCholesky {
  public:
    BandedCholesky() = default;
    /// A team stays.
    BandedCholesky(std::size_t size, std::size_t band, Team* team = nullptr);

    /// False where A is not positive definite.
    bool factorise(double a, const BandedMatrix& g, double b, const BandedMatrix& k);
    /// x ← A⁻¹ x.
    void solve(std::span<double> x);
    /// The entries of A⁻¹ within the band, which are all that tr(A⁻¹K) takes.
    const BandedMatrix& inverse();

  private:
    /// The columns from one end of A on, from the last one in reverse order of rows and columns:
    /// those that this end eliminates, and those of the middle.
    struct End {
        std::size_t own = 0;
        BandedMatrix factor, inverse;
        std::vector<double> column; ///< of one of the inverse
    };

    /// A row or column of A at the end of that number, and the other way round.
    std::size_t turned(std::size_t at) const { return inverse_.size() - 1 - at; }
    void fill_first(double a, const BandedMatrix& g, double b, const BandedMatrix& k);
    void fill_last(double a, const BandedMatrix& g, double b, const BandedMatrix& k);
    void give_middle_inverse();
    void collect_first();
    void collect_last();

    Team* team_ = nullptr;
    std::array<End, 2> ends_;
    std::vector<double> x_of_last_;
    BandedMatrix inverse_;
};

} // namespace sextant::registration
