// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
/// Cost  n band² / 2 multiply-adds to factor, as many again twice to invert; nothing is allocated
///       once it is made.
/// Source  the inverse: Takahashi, Fagan, Chen, 8th PICA Conference, 1973
class BandedCholesky {
  public:
    BandedCholesky() = default;
    BandedCholesky(std::size_t size, std::size_t band);

    /// False where A is not positive definite.
    bool factorise(double a, const BandedMatrix& g, double b, const BandedMatrix& k);
    /// x ← A⁻¹ x.
    void solve(std::span<double> x) const;
    /// The entries of A⁻¹ within the band, which are all that tr(A⁻¹K) takes.
    const BandedMatrix& inverse();

  private:
    BandedMatrix factor_, inverse_;
    std::vector<double> column_;
};

} // namespace sextant::registration
