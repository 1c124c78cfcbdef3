// SPDX-License-Identifier: BSD-3-Clause
// Banded matrices compared with dense ones.
#include "sextant/registration/pair/banded_cholesky.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/random.hpp"
#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::BandedCholesky;
using registration::BandedMatrix;

/// A random positive definite matrix: the diagonal outweighs the rest of each row.
BandedMatrix random_matrix(std::size_t size, std::size_t band, unsigned seed) {
    Random random(seed);
    BandedMatrix made(size, band);
    for (std::size_t j = 0; j < size; ++j) {
        made.at(j, j) = 2. * static_cast<double>(band) + 1;
        for (std::size_t i = j + 1; i < std::min(j + band + 1, size); ++i)
            made.at(i, j) = random.number(-1000, 1000) / 1000.;
    }
    return made;
}

Eigen::MatrixXd dense(const BandedMatrix& matrix) {
    const auto size = static_cast<Eigen::Index>(matrix.size());
    Eigen::MatrixXd made = Eigen::MatrixXd::Zero(size, size);
    for (std::size_t j = 0; j < matrix.size(); ++j) {
        for (std::size_t i = j; i < std::min(j + matrix.band() + 1, matrix.size()); ++i)
            made(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
                made(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = matrix.at(i, j);
    }
    return made;
}

struct Sizes {
    std::size_t size, band;
};
const std::vector<Sizes> cases = {{1, 0}, {1, 3}, {2, 1}, {7, 2}, {30, 5}, {41, 40}, {60, 13}};

TEST(BandedCholesky, gives_the_same_solution_as_a_dense_factorisation) {
    for (const auto& [size, band] : cases) {
        const BandedMatrix g = random_matrix(size, band, 1), k = random_matrix(size, band, 2);
        BandedCholesky cholesky(size, band);
        ASSERT_TRUE(cholesky.factorise(.5, g, 2, k));
        const Eigen::MatrixXd a = .5 * dense(g) + 2 * dense(k);
        Eigen::VectorXd right = Eigen::VectorXd::LinSpaced(static_cast<Eigen::Index>(size), -1, 2);
        std::vector<double> x(right.begin(), right.end());
        cholesky.solve(x);
        const Eigen::VectorXd expected = a.llt().solve(right);
        for (std::size_t i = 0; i < size; ++i)
            ASSERT_NEAR(x[i], expected(static_cast<Eigen::Index>(i)), 1e-12)
                << size << ", " << band;
    }
}

TEST(BandedCholesky, computes_the_inverse_within_the_band) {
    for (const auto& [size, band] : cases) {
        const BandedMatrix g = random_matrix(size, band, 3), zero(size, band);
        BandedCholesky cholesky(size, band);
        ASSERT_TRUE(cholesky.factorise(1, g, 0, zero));
        const BandedMatrix& inverse = cholesky.inverse();
        const Eigen::MatrixXd expected = dense(g).inverse();
        for (std::size_t j = 0; j < size; ++j) {
            for (std::size_t i = j; i < std::min(j + band + 1, size); ++i)
                ASSERT_NEAR(inverse.at(i, j),
                            expected(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
                            1e-13);
        }
        EXPECT_NEAR(trace_of_product(inverse, g), static_cast<double>(size), 1e-11);
    }
}

TEST(BandedCholesky, gives_the_same_bits_for_any_number_of_threads) {
    for (const auto& [size, band] : cases) {
        const BandedMatrix g = random_matrix(size, band, 7), k = random_matrix(size, band, 8);
        BandedCholesky alone(size, band);
        ASSERT_TRUE(alone.factorise(.5, g, 2, k));
        std::vector<double> expected(size, 1.);
        alone.solve(expected);
        for (const int threads : {2, 3}) {
            Team team(threads);
            BandedCholesky shared(size, band, &team);
            ASSERT_TRUE(shared.factorise(.5, g, 2, k));
            std::vector<double> x(size, 1.);
            shared.solve(x);
            EXPECT_EQ(x, expected);
            EXPECT_EQ(trace_of_product(shared.inverse(), k), trace_of_product(alone.inverse(), k));
        }
    }
}

TEST(BandedCholesky, rejects_matrices_that_are_not_positive_definite) {
    const BandedMatrix zero(9, 2);
    for (const std::size_t at : {0, 3, 4, 6, 8}) { // at both ends and in between
        BandedMatrix g = random_matrix(9, 2, 4);
        g.at(at, at) = -1;
        EXPECT_FALSE(BandedCholesky(9, 2).factorise(1, g, 0, zero)) << at;
    }
    EXPECT_FALSE(BandedCholesky(9, 2).factorise(1, zero, 1, zero));
}

TEST(BandedMatrix, has_the_same_products_and_traces_as_a_dense_matrix) {
    for (const auto& [size, band] : cases) {
        const BandedMatrix a = random_matrix(size, band, 5), b = random_matrix(size, band, 6);
        Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(static_cast<Eigen::Index>(size), -3, 1);
        std::vector<double> product(size);
        a.multiply({x.data(), size}, product);
        const Eigen::VectorXd expected = dense(a) * x;
        for (std::size_t i = 0; i < size; ++i)
            ASSERT_NEAR(product[i], expected(static_cast<Eigen::Index>(i)), 1e-11);
        EXPECT_NEAR(a.trace(), dense(a).trace(), 1e-11);
        EXPECT_NEAR(trace_of_product(a, b), (dense(a) * dense(b)).trace(), 1e-8);
    }
}

} // namespace
} // namespace sextant::test
