// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/compositor.hpp"

#include "tests/support/sparse_layers.hpp"

// Sparse frames of a Compositor, on any communicator.
namespace sextant::test {

struct SparseFrame {
    std::vector<std::byte> bytes;
    planner::CompositingPlan plan;
    Sent sent;
};

inline SparseFrame composite_drawing(const Communicator& communicator, std::string algorithm,
                                     planner::Sparse sparse, double density) {
    constexpr ImageShape shape{61, 601};
    CompositeOptions options;
    options.algorithm = std::move(algorithm);
    options.sparse = sparse;
    options.density = density;
    Compositor compositor(communicator, shape, 1, options);
    const auto image = draw<RgbaF32>(drawings[6], kernel::find("over"), shape.elements(),
                                     communicator.rank(), communicator.size());
    const Frame frame = compositor.composite(std::span<const RgbaF32>(image));
    return {{frame.bytes.begin(), frame.bytes.end()}, compositor.plan(), compositor.sent()};
}

/// With a named algorithm, sparse and dense frames have the same bits; messages are encoded only if
/// requested or beneficial.
inline void frames_are_the_same_sparse_and_dense(const Communicator& communicator) {
    using planner::Sparse;
    const auto frame = [&](Sparse sparse, double density) {
        return composite_drawing(communicator, "direct-send", sparse, density);
    };
    const SparseFrame dense = frame(Sparse::off, .1), sparse = frame(Sparse::on, 1);
    EXPECT_FALSE(dense.plan.configuration.sparse);
    EXPECT_TRUE(sparse.plan.configuration.sparse);
    EXPECT_TRUE(dense.bytes == sparse.bytes);
    EXPECT_EQ(dense.sent.bytes, dense.sent.elements);
    EXPECT_LE(sparse.sent.bytes, sparse.sent.elements / 10);
    EXPECT_EQ(frame(Sparse::automatic, .1).plan.configuration.sparse,
              !communicator.shares_memory());
    EXPECT_FALSE(frame(Sparse::automatic, 1).plan.configuration.sparse);
    const SparseFrame chosen = composite_drawing(communicator, "auto", Sparse::on, .1);
    EXPECT_TRUE(chosen.plan.configuration.sparse);
    EXPECT_EQ(chosen.bytes.size(), dense.bytes.size());
}

} // namespace sextant::test
