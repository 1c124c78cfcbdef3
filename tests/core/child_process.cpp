// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;

std::string failure_of(const std::string& command, Seconds patience = 60) {
    return test::message_of<Error>([&] { run_process(command, patience); });
}

TEST(ChildProcess, reports_how_a_failed_command_ended) {
    EXPECT_EQ(failure_of("true"), "");
    EXPECT_EQ(failure_of("false"), "false: exit code 1");
    EXPECT_EQ(failure_of("sh -c 'kill -9 $$'"), "sh -c 'kill -9 $$': killed by signal 9");
    EXPECT_THAT(failure_of("/no/such/program 2>/dev/null"), HasSubstr("exit code 127"));
}

TEST(ChildProcess, ends_a_command_that_exceeds_its_time_limit) {
    EXPECT_EQ(failure_of("sleep 600", .05), "sleep 600: did not exit within 0 s");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, quotes_any_text_as_one_shell_word) {
    const std::string text = "it's $HOME; \"two\"  words";
    EXPECT_EQ(failure_of("test " + shell_quoted(text) + " = \"it's \"'$HOME; \"two\"  words'"), "");
}

TEST(ChildProcess, ends_after_an_exception_without_continuing_the_parents_code) {
    ChildProcess child(SIGKILL, [] { throw std::runtime_error("in the child"); });
    child.wait();
    EXPECT_EQ(WEXITSTATUS(child.status()), 127);
}

TEST(ChildProcess, is_killed_when_its_object_is_destroyed) {
    ChannelEnds channel = connected_channel();
    {
        const ChildProcess child(0, [&] {
            channel.ours.close();
            channel.theirs.put(1);
            pause();
        });
        channel.theirs.close();
        EXPECT_EQ(channel.ours.get<int>(), 1);
    }
    EXPECT_THROW(channel.ours.get<int>(), ChannelClosed);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace sextant
