// SPDX-License-Identifier: BSD-3-Clause
// Series that are read while another program writes them.
#include "sextant/format/growing_frames.hpp"

#include "sextant/core/error.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using format::GrowingFrames;
using testing::HasSubstr;

const ImageShape shape{13, 7};
constexpr std::size_t frame_size = 2 * 13 * 7;

class Growing : public testing::Test {
  protected:
    /// The bytes of an MRC file of `frames` frames.
    std::string mrc(std::int64_t frames) {
        const std::string path = folder.path("whole.mrc");
        const auto sink = format::create_frames(path, {frames, shape, Sample::u16, 1, {}, {}});
        for (std::int64_t frame = 0; frame < frames; ++frame)
            sink->write(pattern_frame<float>(frame, shape));
        sink->commit();
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void append(const std::string& name, const std::string& bytes) {
        std::ofstream(folder.path(name), std::ios::binary | std::ios::app) << bytes;
    }
    /// The number of calls in a minute. After a call of refresh() that took long on a busy machine,
    /// the next calls find nothing.
    static constexpr int many = 12'000;
    /// Calls refresh() every 5 ms until it finds more frames; false if it never does.
    static bool finds(GrowingFrames& frames, int calls = many) {
        for (int i = 0; i < calls; ++i) {
            if (frames.refresh())
                return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }
    static void expect_frame(GrowingFrames& frames, std::int64_t frame, std::int64_t expected) {
        std::vector<float> found(static_cast<std::size_t>(shape.elements()));
        frames.read_frame(frame, found);
        EXPECT_EQ(found, pattern_frame<float>(expected, shape)) << frame;
    }
    template <class Body>
    static std::string failure_of(const Body& body) {
        try {
            for (int i = 0; i < many; ++i) {
                body();
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        } catch (const InvalidFile& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder;
};

TEST_F(Growing, a_frame_is_there_when_its_last_byte_is) {
    const std::string whole = mrc(5);
    append("grows.mrc", whole.substr(0, 1024 + frame_size));
    const auto frames = GrowingFrames::open(folder.path("grows.mrc"), {});
    EXPECT_EQ(frames->whole(), 1);
    EXPECT_FALSE(frames->is_complete());
    append("grows.mrc", whole.substr(1024 + frame_size, frame_size - 1));
    EXPECT_FALSE(finds(*frames, 100));
    EXPECT_EQ(frames->whole(), 1);
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()));
    EXPECT_THROW(frames->read_frame(1, samples), InvalidFile);
    append("grows.mrc", whole.substr(1024 + 2 * frame_size - 1, frame_size + 1));
    EXPECT_TRUE(finds(*frames));
    EXPECT_EQ(frames->whole(), 3);
    for (int frame = 0; frame < 3; ++frame)
        expect_frame(*frames, frame, frame);
    append("grows.mrc", whole.substr(1024 + 3 * frame_size));
    EXPECT_TRUE(finds(*frames));
    EXPECT_TRUE(frames->is_complete()) << "the header states five frames";
}

TEST_F(Growing, a_series_that_states_each_frame_before_it_is_written_is_not_complete) {
    std::string whole = mrc(3);
    whole[8] = 2; // the number of frames
    append("grows.mrc", whole.substr(0, 1024 + frame_size));
    const auto frames = GrowingFrames::open(folder.path("grows.mrc"), {});
    append("grows.mrc", whole.substr(1024 + frame_size, frame_size));
    EXPECT_TRUE(finds(*frames));
    EXPECT_EQ(frames->whole(), 2);
    EXPECT_FALSE(frames->is_complete());
}

TEST_F(Growing, a_file_that_shrinks_or_is_replaced_or_removed_is_named) {
    const std::string whole = mrc(5), path = folder.path("grows.mrc");
    append("grows.mrc", whole.substr(0, 1024 + 3 * frame_size));
    const auto follow = [&] {
        return [frames = std::shared_ptr(GrowingFrames::open(path, {}))] { frames->refresh(); };
    };
    std::function<void()> refresh = follow();
    std::filesystem::resize_file(path, 1024 + 2 * frame_size);
    EXPECT_THAT(failure_of(refresh), HasSubstr("grows.mrc: shrank from 3 to 2 frames"));
    refresh = follow();
    std::filesystem::resize_file(path, 100);
    EXPECT_THAT(failure_of(refresh), HasSubstr("grows.mrc: shrank from 1388 to 100 bytes"));
    std::filesystem::remove(path);
    append("grows.mrc", whole);
    refresh = follow();
    append("other.mrc", whole);
    std::filesystem::rename(folder.path("other.mrc"), path);
    EXPECT_THAT(failure_of(refresh), HasSubstr("grows.mrc: was replaced while"));
    refresh = follow();
    std::filesystem::remove(path);
    EXPECT_THAT(failure_of(refresh), HasSubstr("grows.mrc: was removed while"));
}

TEST_F(Growing, files_of_single_frames_are_numbered_as_they_come) {
    const std::filesystem::path series = folder.path("series");
    std::filesystem::create_directory(series);
    const auto write = [&](const std::string& name, std::int64_t frame) {
        const auto sink =
            format::create_frames((series / name).string(), {1, shape, Sample::u16, 1, {}, {}});
        sink->write(pattern_frame<float>(frame, shape));
        sink->commit();
    };
    write("f9.png", 9);
    const auto frames = GrowingFrames::open(series.string(), {});
    write("f10.png", 10);
    EXPECT_TRUE(finds(*frames));
    EXPECT_TRUE(frames->take_remarks().empty());
    write("f2.png", 2);
    EXPECT_TRUE(finds(*frames));
    EXPECT_THAT(frames->take_remarks(),
                testing::ElementsAre(
                    testing::AllOf(HasSubstr("f2.png appeared after"), HasSubstr("f10.png"))));
    EXPECT_EQ(frames->whole(), 3);
    expect_frame(*frames, 0, 9);
    expect_frame(*frames, 1, 10);
    expect_frame(*frames, 2, 2);
    EXPECT_FALSE(frames->is_complete());
    std::filesystem::remove(series / "f9.png");
    EXPECT_THAT(failure_of([&] { frames->refresh(); }), HasSubstr("f9.png: was removed"));
}

} // namespace
} // namespace sextant::test
