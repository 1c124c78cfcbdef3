// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/banded_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::registration {

namespace {

/// to += f · x.
void add(double* to, double f, const double* x, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        to[i] += f * x[i];
}

/// Four sums side by side, since an addition waits for the one before.
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

/// How many entries of a column lie below the diagonal.
std::size_t below(const BandedMatrix& matrix, std::size_t j) {
    return std::min(matrix.band(), matrix.size() - 1 - j);
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

BandedCholesky::BandedCholesky(std::size_t size, std::size_t band)
    : factor_(size, band), inverse_(size, band), column_(band + 1) {}

bool BandedCholesky::factorise(double a, const BandedMatrix& g, double b, const BandedMatrix& k) {
    const std::size_t size = factor_.size(), band = factor_.band();
    for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t i = 0; i <= band; ++i)
            factor_.column(j)[i] = a * g.column(j)[i] + b * k.column(j)[i];
    }
    for (std::size_t j = 0; j < size; ++j) {
        double* const column = factor_.column(j);
        if (!(column[0] > 0))
            return false;
        column[0] = std::sqrt(column[0]);
        const std::size_t count = below(factor_, j);
        for (std::size_t i = 1; i <= count; ++i)
            column[i] /= column[0];
        for (std::size_t i = 1; i <= count; ++i)
            add(factor_.column(j + i), -column[i], column + i, count - i + 1);
    }
    return true;
}

void BandedCholesky::solve(std::span<double> x) const {
    for (std::size_t j = 0; j < factor_.size(); ++j) {
        const double* const column = factor_.column(j);
        x[j] /= column[0];
        add(x.data() + j + 1, -x[j], column + 1, below(factor_, j));
    }
    for (std::size_t j = factor_.size(); j-- > 0;) {
        const double* const column = factor_.column(j);
        x[j] = (x[j] - dot(column + 1, x.data() + j + 1, below(factor_, j))) / column[0];
    }
}

const BandedMatrix& BandedCholesky::inverse() {
    // With A = LLᵀ, Z = A⁻¹ and l the column of L below its diagonal: Z's column below the
    // diagonal is −Z_below l / L_jj, where Z_below is known from the columns to the right.
    for (std::size_t j = factor_.size(); j-- > 0;) {
        const double* const l = factor_.column(j);
        const std::size_t count = below(factor_, j);
        double* const z = column_.data();
        std::fill(z, z + count, 0);
        for (std::size_t k = 0; k < count; ++k) {
            const double* const right = inverse_.column(j + 1 + k);
            z[k] += right[0] * l[1 + k] + dot(right + 1, l + 2 + k, count - k - 1);
            add(z + k + 1, l[1 + k], right + 1, count - k - 1);
        }
        double* const to = inverse_.column(j);
        for (std::size_t k = 0; k < count; ++k)
            to[1 + k] = -z[k] / l[0];
        to[0] = (1 / l[0] - dot(l + 1, to + 1, count)) / l[0];
    }
    return inverse_;
}

} // namespace sextant::registration
