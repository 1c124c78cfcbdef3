// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/waiting.hpp"

#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::test {
namespace {

/// A process that sleeps until it is killed.
class Idler {
  public:
    Idler() : process_(fork()) {
        if (process_ < 0)
            throw std::runtime_error("no process could be made");
        while (process_ == 0)
            pause();
    }
    Idler(const Idler&) = delete;
    Idler& operator=(const Idler&) = delete;
    ~Idler() { end(); }

    int process() const { return process_; }
    void end() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
        process_ = 0;
    }

  private:
    pid_t process_;
};

bool system_tells() {
    const auto own = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    if (own >= 0)
        close(own);
    return own >= 0;
}

TEST(ProcessWatch, reports_an_ended_process) {
    if (!system_tells())
        GTEST_SKIP() << "no pidfd_open here";
    Idler first, second;
    ProcessWatch watch;
    EXPECT_EQ(watch.first_ended(), std::nullopt);
    watch.add(first.process());
    watch.add(second.process());
    EXPECT_EQ(watch.first_ended(), std::nullopt);
    second.end();
    EXPECT_EQ(watch.first_ended(), 1u);
    EXPECT_FALSE(watch.has_ended(0));
    EXPECT_TRUE(watch.has_ended(1));
    first.end();
    EXPECT_EQ(watch.first_ended(), 0u);
}

TEST(ProcessWatch, reports_an_unwatchable_process_as_running) {
    ProcessWatch watch;
    watch.add(-1);
    EXPECT_FALSE(watch.has_ended(0));
    EXPECT_EQ(watch.first_ended(), std::nullopt);
}

} // namespace
} // namespace sextant::test
