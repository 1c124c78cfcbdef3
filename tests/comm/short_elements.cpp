// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "tests/support/short_runs.hpp"

namespace sextant::test {
namespace {

TEST(ShortElements, are_sent_without_padding) {
    for (const int ranks : {2, 3, 7})
        run_threads(ranks, short_elements_are_sent_without_padding);
}

} // namespace
} // namespace sextant::test
