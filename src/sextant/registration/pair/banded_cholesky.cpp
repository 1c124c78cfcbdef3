// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/banded_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::registration {

namespace {

/// Computes to += f · x.
void add(double* to, double f, const double* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        to[i] += f * x[i];
}

/// Returns the dot product. Four independent partial sums hide the latency of the additions.
double dot(const double* a, const double* b, std::size_t count) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (std::size_t k = 0; k < 4; ++k)
            sums[k] += a[i + k] * b[i + k];
    }
    for (; i < count; ++i)
        sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/// Returns the number of stored entries of column j below the diagonal.
std::size_t below(const BandedMatrix& matrix, std::size_t j) {
    return std::min(matrix.band(), matrix.size() - 1 - j);
}

/// Eliminates columns [first, last) and updates the columns after them with the Schur complement.
/// Returns false if a pivot is not positive.
bool eliminate(BandedMatrix& factor, std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
        double* const column = factor.column(j);
        if (!(column[0] > 0))
            return false;
        column[0] = std::sqrt(column[0]);
        const std::size_t count = below(factor, j);
        for (std::size_t i = 1; i <= count; ++i)
            column[i] /= column[0];
        for (std::size_t i = 1; i <= count; ++i)
            add(factor.column(j + i), -column[i], column + i, count - i + 1);
    }
    return true;
}

void substitute_down(const BandedMatrix& factor, std::size_t first, std::size_t last, double* x) {
    for (std::size_t j = first; j < last; ++j) {
        const double* const column = factor.column(j);
        x[j] /= column[0];
        add(x + j + 1, -x[j], column + 1, below(factor, j));
    }
}

void substitute_up(const BandedMatrix& factor, std::size_t last, double* x) {
    for (std::size_t j = last; j-- > 0;) {
        const double* const column = factor.column(j);
        x[j] = (x[j] - dot(column + 1, x + j + 1, below(factor, j))) / column[0];
    }
}

/// Computes columns [first, last) of the inverse from the columns to their right. Let A = LLᵀ, Z =
/// A⁻¹, and l be column j of L below the diagonal. Column j of Z below the diagonal is then
/// −Z_below l / L_jj, where Z_below is the part of Z in the columns to the right.
void invert(const BandedMatrix& factor, std::size_t first, std::size_t last, double* z,
            BandedMatrix& inverse) {
    for (std::size_t j = last; j-- > first;) {
        const double* const l = factor.column(j);
        const std::size_t count = below(factor, j);
        std::fill(z, z + count, 0);
        for (std::size_t k = 0; k < count; ++k) {
            const double* const right = inverse.column(j + 1 + k);
            z[k] += right[0] * l[1 + k] + dot(right + 1, l + 2 + k, count - k - 1);
            add(z + k + 1, l[1 + k], right + 1, count - k - 1);
        }
        double* const to = inverse.column(j);
        for (std::size_t k = 0; k < count; ++k)
            to[1 + k] = -z[k] / l[0];
        to[0] = (1 / l[0] - dot(l + 1, to + 1, count)) / l[0];
    }
}

} // namespace

void BandedMatrix::clear() {
    std::fill(values_.begin(), values_.end(), 0);
}

double BandedMatrix::trace() const {
    double sum = 0;
    for (std::size_t j = 0; j < size_; ++j)
        sum += column(j)[0];
    return sum;
}

void BandedMatrix::multiply(std::span<const double> x, std::span<double> to) const {
    std::fill(to.begin(), to.end(), 0);
    for (std::size_t j = 0; j < size_; ++j) {
        const std::size_t count = below(*this, j);
        to[j] += column(j)[0] * x[j] + dot(column(j) + 1, x.data() + j + 1, count);
        add(to.data() + j + 1, x[j], column(j) + 1, count);
    }
}

double trace_of_product(const BandedMatrix& a, const BandedMatrix& b) {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
        sum += 2 * dot(a.column(j), b.column(j), below(a, j) + 1) - a.column(j)[0] * b.column(j)[0];
    return sum;
}

BandedCholesky::BandedCholesky(std::size_t size, std::size_t band, Team* team)
    : team_(team), inverse_(size, band) {
    const std::size_t middle = std::min(band, size), first = (size - middle) / 2;
    ends_[0].own = first;
    ends_[1].own = size - middle - first;
    ends_[1].is_last = true;
    for (End& end : ends_) {
        end.factor = end.inverse = BandedMatrix(end.own + middle, band);
        end.column.resize(band + 1);
    }
    x_of_last_.resize(ends_[1].own + middle);
}

/// Calls visit(j, i, column) for the entries of an end: entry i of its column j is entry i of a
/// column of A. The middle block belongs to the first end.
template <class Visit>
void BandedCholesky::for_each_entry(const End& end, const Visit& visit) const {
    const std::size_t columns = end.is_last ? end.own : end.factor.size();
    for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i <= below(end.factor, j); ++i)
            visit(j, i, end.is_last ? reversed(j + i) : j);
    }
}

bool BandedCholesky::factorise(double a, const BandedMatrix& g, double b, const BandedMatrix& k) {
    std::array<bool, 2> definite{};
    run_parts(team_, 2, [&](int number, int) {
        End& end = ends_[static_cast<std::size_t>(number)];
        // In the last end, the middle block accumulates only the Schur complement of this end.
        end.factor.clear();
        for_each_entry(end, [&](std::size_t j, std::size_t i, std::size_t column) {
            end.factor.column(j)[i] = a * g.column(column)[i] + b * k.column(column)[i];
        });
        definite[static_cast<std::size_t>(number)] = eliminate(end.factor, 0, end.own);
    });
    if (!definite[0] || !definite[1])
        return false;
    auto& [first, last] = ends_;
    for (std::size_t j = last.own; j < last.factor.size(); ++j) {
        for (std::size_t i = 0; i <= below(last.factor, j); ++i)
            first.factor.column(reversed(j + i))[i] += last.factor.column(j)[i];
    }
    return eliminate(first.factor, first.own, first.factor.size());
}

void BandedCholesky::solve(std::span<double> x) {
    auto& [first, last] = ends_;
    std::fill(x_of_last_.begin(), x_of_last_.end(), 0);
    for (std::size_t j = 0; j < last.own; ++j)
        x_of_last_[j] = x[reversed(j)];
    substitute_down(first.factor, 0, first.own, x.data());
    substitute_down(last.factor, 0, last.own, x_of_last_.data());
    for (std::size_t j = last.own; j < x_of_last_.size(); ++j)
        x[reversed(j)] += x_of_last_[j];
    substitute_down(first.factor, first.own, first.factor.size(), x.data());
    substitute_up(first.factor, first.factor.size(), x.data());
    for (std::size_t j = last.own; j < x_of_last_.size(); ++j)
        x_of_last_[j] = x[reversed(j)];
    substitute_up(last.factor, last.own, x_of_last_.data());
    for (std::size_t j = 0; j < last.own; ++j)
        x[reversed(j)] = x_of_last_[j];
}

/// Copies the inverse of the middle block from the first end to the last.
void BandedCholesky::give_middle_inverse() {
    auto& [first, last] = ends_;
    for (std::size_t j = last.own; j < last.inverse.size(); ++j) {
        for (std::size_t i = 0; i <= below(last.inverse, j); ++i)
            last.inverse.column(j)[i] = first.inverse.column(reversed(j + i))[i];
    }
}

const BandedMatrix& BandedCholesky::inverse() {
    End& first = ends_[0];
    invert(first.factor, first.own, first.factor.size(), first.column.data(), first.inverse);
    give_middle_inverse();
    run_parts(team_, 2, [&](int number, int) {
        End& end = ends_[static_cast<std::size_t>(number)];
        invert(end.factor, 0, end.own, end.column.data(), end.inverse);
        for_each_entry(end, [&](std::size_t j, std::size_t i, std::size_t column) {
            inverse_.column(column)[i] = end.inverse.column(j)[i];
        });
    });
    return inverse_;
}

} // namespace sextant::registration
