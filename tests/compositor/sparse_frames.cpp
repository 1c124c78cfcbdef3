// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/sparse_frames.hpp"

#include "sextant/comm/threads.hpp"

namespace sextant::test {
namespace {

TEST(SparseCompositor, frames_are_the_same_with_fewer_bytes_sent) {
    for (const int ranks : {2, 5})
        run_threads(ranks, frames_are_the_same_sparse_and_dense);
}

} // namespace
} // namespace sextant::test
