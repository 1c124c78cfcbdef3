// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/waiting.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace sextant::test {
namespace {

TEST(Cores, CountsTheCoresThatWereAdded) {
    Cores cores;
    for (const int core : {0, 63, 64, 64, 1023, -1, 5000})
        cores.add(core);
    EXPECT_EQ(cores.count(), 4);
    EXPECT_TRUE(cores.has(63) && cores.has(64) && cores.has(1023));
    EXPECT_FALSE(cores.has(1) || cores.has(-1) || cores.has(5000));
}

TEST(SeparateRanks, LeavesARankThatHasItsCoreToItself) {
    LastCore own{-1};
    separate_ranks(own, [](int) { return false; });
    EXPECT_TRUE(Cores::available().has(own));
}

TEST(SeparateRanks, MovesARankOffTheCoreOfAnother) {
    const Cores before = Cores::available();
    if (before.count() < 2)
        GTEST_SKIP() << "needs two cores";
    int first = 0;
    while (!before.has(first))
        ++first;
    LastCore own{-1};
    separate_ranks(own, [&](int core) { return core != first; }); // only this core is free
    EXPECT_TRUE(own == first);
    separate_ranks(own, [&](int core) { return core == first; });
    EXPECT_TRUE(before.has(own));
    EXPECT_EQ(Cores::available().count(), before.count()) << "the thread may use all cores again";
}

TEST(SeparateRanks, StaysIfOtherRanksAreOnAllCores) {
    LastCore own{-1};
    separate_ranks(own, [](int) { return true; });
    EXPECT_TRUE(Cores::available().has(own));
}

} // namespace
} // namespace sextant::test
