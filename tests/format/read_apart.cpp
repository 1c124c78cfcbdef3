// SPDX-License-Identifier: BSD-3-Clause
// What a child reads: all that is good, and of what ends it a clear word.
#include "sextant/format/read_apart.hpp"

#include <csignal>
#include <cstdlib>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::test {
namespace {

using format::Opening;
using format::read_apart;
using testing::HasSubstr;
using testing::StartsWith;

enum Trouble : std::int64_t { none = 0, refuses, crashes, loops, leaves, throws };

/// Has a frame for each trouble.
class TroubledSource : public FrameSource {
  public:
    TroubledSource()
        : FrameSource("some.h5", {6, {13, 7}, Sample::f32, 1, {.5, .25, "µm"}, {"odd", ""}}) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
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
        const auto values = pattern_frame<float>(frame, {13, 7});
        std::memcpy(to.data(), values.data() + rows.first * 13, to.size());
    }
};

std::unique_ptr<FrameSource> troubled() {
    return read_apart(
        "some.h5", [] { return std::make_unique<TroubledSource>(); }, .05);
}

std::string failure_of_frame(FrameSource& source, std::int64_t frame) {
    return failure([&] { read_frame(source, frame); });
}

TEST(ReadApart, GivesWhatTheSourceGives) {
    const auto source = troubled();
    const FrameHeader& header = source->header();
    EXPECT_EQ(header.frames, 6);
    EXPECT_EQ(header.shape, (ImageShape{13, 7}));
    EXPECT_EQ(header.pixel, (PixelSize{.5, .25, "µm"}));
    EXPECT_EQ(header.remarks, (std::vector<std::string>{"odd", ""}));
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
    const auto rows = read_rows(*source, 0, {2, 5});
    EXPECT_EQ(rows.front(), pattern(0, 0, 2));
}

TEST(ReadApart, WhatTheSourceRefusesIsRefusedInItsWords) {
    const auto source = troubled();
    EXPECT_EQ(failure_of_frame(*source, refuses), "some.h5: frame 1 is torn");
    EXPECT_EQ(failure_of_frame(*source, throws), "some.h5: something else");
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
}

TEST(ReadApart, ACrashIsAnErrorOfTheFrameAndTheNextIsRead) {
    const auto source = troubled();
    EXPECT_EQ(failure_of_frame(*source, crashes),
              "some.h5: damaged: reading frame 2 ended with signal 11 (Segmentation fault)");
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, {13, 7}));
    EXPECT_EQ(failure_of_frame(*source, loops),
              "some.h5: damaged: reading frame 3 took more than 0.05 s");
    EXPECT_EQ(failure_of_frame(*source, leaves), "some.h5: damaged: reading frame 4 ended early");
    EXPECT_THAT(failure_of_frame(*source, 0), HasSubstr("as reading ended 3 times before"));
}

TEST(ReadApart, OpeningMayCrashLoopOrRefuse) {
    const auto open = [](const Opening& opening) {
        return failure([&] { read_apart("a.h5", opening, .05); });
    };
    EXPECT_EQ(open([]() -> std::unique_ptr<FrameSource> { throw InvalidFile("a.h5", "is none"); }),
              "a.h5: is none");
    EXPECT_THAT(open([]() -> std::unique_ptr<FrameSource> { std::abort(); }),
                StartsWith("a.h5: damaged: opening it ended with signal 6"));
    EXPECT_EQ(open([]() -> std::unique_ptr<FrameSource> {
                  volatile bool forever = true;
                  while (forever) {
                  }
                  return nullptr;
              }),
              "a.h5: damaged: opening it took more than 0.05 s");
}

TEST(ReadApart, LeavesNoProcessBehind) {
    { const auto source = troubled(); }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1); // there are no children
    EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace sextant::test
