// SPDX-License-Identifier: BSD-3-Clause
// Reading in a child process: complete data is passed on, and a fatal error becomes a clear
// message.
#include "sextant/format/hdf5/read_apart.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::test {
namespace {

using format::OpenedFrames;
using format::Opening;
using format::Pace;
using format::read_apart;
using testing::HasSubstr;
using testing::StartsWith;

enum Trouble : std::int64_t { none = 0, refuses, crashes, loops, leaves, throws, lasts };

/// A source whose frames each cause one kind of error.
class TroubledSource : public FrameSource {
  public:
    explicit TroubledSource(Pace pace)
        : FrameSource("some.h5",
                      {7, {13, 7}, Sample::f32, 1, {.5, .25, "µm"}, {"odd", ""}, 0, {}, 0, 2},
                      {[this](auto... part) { load(part...); }}),
          pace_(std::move(pace)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        volatile bool forever = true;
        if (frame == refuses)
            throw InvalidFile("some.h5", "frame 1 is torn");
        if (frame == crashes)
            std::raise(SIGSEGV);
        while (frame == loops && forever) {
        }
        if (frame == leaves)
            _exit(3);
        if (frame == throws)
            throw std::runtime_error("something else");
        for (int piece = 0; frame == lasts && piece < 8; ++piece) {
            pace_(1);
            compute(.02);
        }
        const auto values = pattern_frame<float>(frame, {13, 7});
        std::memcpy(to.data(), values.data() + rows.first * 13, to.size());
    }
    static void compute(Seconds seconds) {
        const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
        while (std::clock() < end) {
        }
    }

    Pace pace_;
};

/// `patience` is CPU time; only the tests of the time limit wait for it to pass.
std::unique_ptr<FrameSource> troubled(Seconds patience = 10) {
    auto [source, stored, referred] = read_apart(
        "some.h5",
        [](const Pace& pace) {
            return OpenedFrames{std::make_unique<TroubledSource>(pace), {}, {"b.h5"}};
        },
        patience);
    EXPECT_EQ(source->array().header().chunk, (std::vector<std::int64_t>{2, 1, 1}));
    EXPECT_EQ(referred, std::vector<std::string>{"b.h5"});
    return std::move(source);
}

std::string failure_of_frame(FrameSource& source, std::int64_t frame) {
    return failure([&] { read_frame(source, frame); });
}

TEST(IsolatedReading, returns_the_data_of_the_source) {
    const auto source = troubled();
    const FrameHeader& header = source->header();
    EXPECT_EQ(header.frames, 7);
    EXPECT_EQ(header.shape, (ImageShape{13, 7}));
    EXPECT_EQ(header.pixel, (PixelSize{.5, .25, "µm"}));
    EXPECT_EQ(header.remarks, (std::vector<std::string>{"odd", ""}));
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
    const auto rows = read_rows(*source, 0, {2, 5});
    EXPECT_EQ(rows.front(), pattern(0, 0, 2));
}

TEST(IsolatedReading, keeps_the_error_messages_of_the_source) {
    const auto source = troubled();
    EXPECT_EQ(failure_of_frame(*source, refuses), "some.h5: frame 1 is torn");
    EXPECT_EQ(failure_of_frame(*source, throws), "some.h5: something else");
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
}

TEST(IsolatedReading, reports_a_crash_for_one_frame_and_reads_the_next) {
    const auto source = troubled(.5);
    EXPECT_EQ(failure_of_frame(*source, crashes),
              "some.h5: damaged: reading frame 2 ended with signal 11 (Segmentation fault)");
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
    EXPECT_EQ(failure_of_frame(*source, loops),
              "some.h5: damaged: reading frame 3 made no progress in 0.5 s");
    EXPECT_EQ(failure_of_frame(*source, leaves), "some.h5: damaged: reading frame 4 ended early");
    EXPECT_THAT(failure_of_frame(*source, 0), HasSubstr("because reading has failed 3 times"));
}

TEST(IsolatedReading, reports_crashes_timeouts_and_errors_while_opening) {
    const auto open = [](const Opening& opening) {
        return failure([&] { read_apart("a.h5", opening, .5); });
    };
    EXPECT_EQ(open([](const Pace&) -> OpenedFrames { throw InvalidFile("a.h5", "is none"); }),
              "a.h5: is none");
    EXPECT_THAT(open([](const Pace&) -> OpenedFrames { std::abort(); }),
                StartsWith("a.h5: damaged: opening the file ended with signal 6"));
    EXPECT_EQ(open([](const Pace&) -> OpenedFrames {
                  volatile bool forever = true;
                  while (forever) {
                  }
                  return {};
              }),
              "a.h5: damaged: opening the file made no progress in 0.5 s");
}

TEST(IsolatedReading, has_no_time_limit_while_it_makes_progress) {
    const auto source = troubled(.1);
    EXPECT_EQ(read_frame(*source, lasts), pattern_frame<float>(lasts, {13, 7}));
}

/// A source of small frames, one of which ends the process that reads it.
class FatalFrame : public FrameSource {
  public:
    static constexpr std::int64_t frames = 8, fatal = 5;

    FatalFrame()
        : FrameSource("some.h5", {frames, {13, 7}}, {[this](auto... part) { load(part...); }}) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        if (frame == fatal)
            _exit(3);
        const auto values = pattern_frame<float>(frame, {13, 7});
        std::memcpy(to.data(), values.data() + rows.first * 13, to.size());
    }
};

TEST(IsolatedReading, reads_frames_at_once_and_names_the_one_that_cannot_be_read) {
    const auto opening = [](const Pace&) {
        return OpenedFrames{std::make_unique<FatalFrame>(), {}};
    };
    const auto text = "some.h5: damaged: reading frame 5 ended early";
    const auto frames_from = [](FrameSource& source, std::int64_t first, std::int64_t count) {
        std::vector<float> values(static_cast<std::size_t>(count * 13 * 7));
        source.read_frames(first, count, std::as_writable_bytes(std::span(values)));
        return values;
    };
    const auto source = read_apart("some.h5", opening).source;
    const std::vector<float> some = frames_from(*source, 1, 4);
    for (std::int64_t frame = 1; frame < 5; ++frame)
        EXPECT_TRUE(std::ranges::equal(
            pattern_frame<float>(frame, {13, 7}),
            std::span(some).subspan(static_cast<std::size_t>((frame - 1) * 13 * 7), 13 * 7)));
    EXPECT_EQ(failure([&] { frames_from(*source, 3, 4); }), text);
    EXPECT_EQ(read_frame(*source, 7), pattern_frame<float>(7, {13, 7}));

    const auto in_order = read_apart("some.h5", opening).source;
    for (std::int64_t frame = 0; frame < FatalFrame::frames; ++frame) {
        if (frame == FatalFrame::fatal)
            EXPECT_EQ(failure_of_frame(*in_order, frame), text);
        else
            EXPECT_EQ(read_frame(*in_order, frame), pattern_frame<float>(frame, {13, 7}));
    }
}

TEST(IsolatedReading, continues_after_the_opening_thread_has_ended) {
    std::unique_ptr<FrameSource> source;
    std::thread([&] { source = troubled(); }).join();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(read_frame(*source, none), pattern_frame<float>(0, {13, 7}));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/// A process is killed while its child reads for it. The test process adopts the child and detects
/// its end.
TEST(IsolatedReading, ends_if_the_parent_process_is_killed) {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const auto source = troubled(60);
        (void)!write(ends[1], "", 1);
        failure_of_frame(*source, loops);
        _exit(0);
    }
    char opened = 0;
    ASSERT_EQ(read(ends[0], &opened, 1), 1);
    // Long enough for the child to reach its loop.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ASSERT_EQ(kill(parent, SIGKILL), 0);
    ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
    pid_t ended = 0;
    for (int i = 0; i < 6000 && ended == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ended = waitpid(-1, nullptr, WNOHANG);
    }
    EXPECT_GT(ended, 0) << "the child is still running";
    close(ends[0]);
    close(ends[1]);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(IsolatedReading, leaves_no_process_behind) {
    { const auto source = troubled(); }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1); // no child processes are left
    EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace sextant::test
