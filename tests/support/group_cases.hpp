// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {

/// A test on any communicator. Tables of these run over threads, on nodes and over MPI.
struct GroupCase {
    const char* name;
    void (*body)(const Communicator&);     ///< collective
    std::vector<int> sizes{1, 2, 3, 4, 7}; ///< numbers of ranks
};

/// A case with the name of its function, and its numbers of ranks, if given.
#define GROUP_CASE(body, ...)                                                                      \
    { #body, body __VA_OPT__(, ) __VA_ARGS__ }

/// Calls a test on a number of ranks.
using RunGroup = void(int size, const std::function<void(const Communicator&)>& body);

inline void on_threads(int size, const std::function<void(const Communicator&)>& body) {
    run_threads(size, body);
}

/// On nodes of two ranks, of which one may have a single rank; other numbers of ranks are left out.
inline void on_nodes(int size, const std::function<void(const Communicator&)>& body) {
    if (size != 3 && size != 4)
        return;
    run_threads(size, [&](const Communicator& communicator) {
        body(share_nodes(communicator, {2, Bytes{64} << 20}).communicator);
    });
}

/// Adds each case to the suite. The result allows a call at the start of the program.
inline bool add_cases(const char* suite, const std::vector<GroupCase>& cases, RunGroup* run) {
    class GroupTest : public testing::Test {
      public:
        GroupTest(const GroupCase& what, RunGroup* run) : what_(what), run_(run) {}
        void TestBody() override {
            for (const int size : what_.sizes)
                run_(size, what_.body);
        }

      private:
        GroupCase what_;
        RunGroup* run_;
    };
    for (const GroupCase& each : cases) {
        testing::RegisterTest(suite, each.name, nullptr, nullptr, __FILE__, __LINE__,
                              [=]() -> testing::Test* { return new GroupTest(each, run); });
    }
    return true;
}

} // namespace sextant::test
