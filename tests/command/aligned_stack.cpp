// SPDX-License-Identifier: BSD-3-Clause
// The stack of aligned frames: its sample type, gaps, area and labels.
#include "sextant/command/series/aligned_stack.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> converted(Sample sample, double offset, double gap, std::vector<float> from) {
    std::vector<T> to(from.size());
    to_stack_samples(sample, offset, gap, from, std::as_writable_bytes(std::span(to)));
    return to;
}

FrameHeader series(Sample sample, std::int64_t frames = 3) {
    return {frames, {40, 30}, sample};
}

TEST(AlignedStack, rounds_and_clamps_integers_and_fills_gaps) {
    EXPECT_THAT(converted<std::uint8_t>(Sample::u8, 0, 7, {-3, .5, 1.5, 254.4F, 300, nan}),
                ElementsAre(0, 0, 2, 254, 255, 7));
    EXPECT_THAT(converted<std::int16_t>(Sample::i16, 0, -1, {-40000, -2.5, -.4F, 40000, nan}),
                ElementsAre(-32768, -2, 0, 32767, -1));
    EXPECT_THAT(converted<std::uint32_t>(Sample::u32, 0, 0, {5e9F, -1, 16777216.F, nan}),
                ElementsAre(4294967295U, 0, 16777216U, 0));
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_THAT(converted<std::uint16_t>(Sample::u16, 0, 0, {infinity, -infinity}),
                ElementsAre(65535, 0));
}

TEST(AlignedStack, adds_the_offset_to_integers_and_doubles_exactly) {
    EXPECT_THAT(converted<std::uint32_t>(Sample::u32, 4294967000., 3, {-7, 290, 300, nan}),
                ElementsAre(4294966993U, 4294967290U, 4294967295U, 3));
    constexpr double large = 0x1p62;
    EXPECT_THAT(converted<std::int64_t>(Sample::i64, large, 0, {1, -1, nan}),
                ElementsAre((std::int64_t{1} << 62) + 1, (std::int64_t{1} << 62) - 1, 0));
    EXPECT_THAT(converted<double>(Sample::f64, 1e9, -5, {.25F, nan}), ElementsAre(1e9 + .25, -5));
}

TEST(AlignedStack, keeps_floats_and_replaces_only_missing_ones) {
    const auto kept = converted<float>(Sample::f32, 0, std::nan(""), {1.5, nan});
    EXPECT_EQ(kept[0], 1.5);
    EXPECT_TRUE(std::isnan(kept[1]));
    EXPECT_THAT(converted<float>(Sample::f32, 0, -1, {1.5, nan}), ElementsAre(1.5, -1));
}

TEST(AlignedStack, has_the_type_of_the_series_or_the_smallest_that_holds_it) {
    const auto type = [](const char* path, Sample sample) {
        return plan_aligned({}, path, series(sample)).sample;
    };
    for (const Sample sample :
         {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32, Sample::f32})
        EXPECT_EQ(type("a.tif", sample), sample) << name(sample);
    EXPECT_EQ(type("a.mrc", Sample::u8), Sample::u16);
    EXPECT_EQ(type("a.mrc", Sample::i8), Sample::i8);
    EXPECT_EQ(type("a.mrc", Sample::i32), Sample::f32);
    EXPECT_EQ(type("a.tif", Sample::f64), Sample::f32);
    EXPECT_EQ(type("a.npy", Sample::f64), Sample::f64);
    EXPECT_EQ(type("a.npy", Sample::u64), Sample::u64);
}

TEST(AlignedStack, is_planned_with_gaps_that_the_type_holds) {
    EXPECT_EQ(plan_aligned({}, "a.tif", series(Sample::u8)).gap, 0);
    EXPECT_TRUE(std::isnan(plan_aligned({}, "a.tif", series(Sample::f32)).gap));
    EXPECT_EQ(plan_aligned({"on", 255}, "a.tif", series(Sample::u8)).gap, 255);
    for (const double gap : {256., -1., .5})
        EXPECT_THAT(
            [&] {
                plan_aligned({"on", gap}, "a.tif", series(Sample::u8));
            },
            ThrowsMessage<InvalidTask>(HasSubstr("expected a whole number from 0 to 255")));
    EXPECT_THROW(plan_aligned({"on", 0x1p64}, "a.npy", series(Sample::u64)), InvalidTask);
    EXPECT_EQ(plan_aligned({"on", -.5}, "a.tif", series(Sample::f32)).gap, -.5);
}

TEST(AlignedStack, is_written_by_default_up_to_two_gibibytes) {
    FrameHeader header = series(Sample::u16, 2048);
    header.shape = {1024, 512};
    EXPECT_EQ(plan_aligned({}, "a.tif", header).path, "a.tif");
    ++header.frames;
    const AlignedStack omitted = plan_aligned({}, "a.tif", header);
    EXPECT_EQ(omitted.path, "");
    EXPECT_THAT(omitted.omitted, HasSubstr("2.15 GB is not written: --aligned=on"));
    EXPECT_EQ(plan_aligned({"on"}, "a.tif", header).path, "a.tif");
    EXPECT_EQ(plan_aligned({"b/stack.mrc"}, "a.tif", header).path, "b/stack.mrc");
    EXPECT_EQ(plan_aligned({"off"}, "a.tif", header).path, "");
    // A canvas larger than a frame counts.
    for (const char* when : {"auto", "on"}) {
        FrameHeader small = header;
        small.shape = {512, 512};
        AlignedStack stack = plan_aligned({when}, "a.tif", small);
        EXPECT_EQ(stack.path, "a.tif");
        settle_aligned(stack, {when}, {0, 0, {1 << 12, 1 << 15}}, header.frames);
        EXPECT_EQ(stack.path, std::string(when) == "auto" ? "" : "a.tif");
        EXPECT_EQ(stack.omitted.empty(), std::string(when) == "on");
    }
}

TEST(AlignedStack, is_named_by_a_word_or_a_file_that_holds_series) {
    AlignedChoice choice;
    const Record record = record_of(choice);
    for (const char* valid : {"auto", "on", "off", "x.tif", "x/y.mrc", "x.npy"}) {
        record.find("aligned")->set(valid);
        EXPECT_EQ(choice.when, valid);
    }
    for (const char* invalid : {"yes", "movie", "a.png", "a.ser", ""})
        EXPECT_THROW(record.find("aligned")->set(invalid), InvalidTask) << invalid;
}

TEST(AlignedStack, labels_frames_and_states_the_times_of_uneven_ones) {
    FrameHeader header = series(Sample::u8, 20);
    header.frame_interval = .25;
    EXPECT_THAT(labels_of(header, std::vector<std::int64_t>{0, 2, 4}),
                ElementsAre("frame 0", "frame 2", "frame 4"));
    EXPECT_THAT(labels_of(header, std::vector<std::int64_t>{0, 1, 3}),
                ElementsAre("frame 0, 0 s", "frame 1, 0.25 s", "frame 3, 0.75 s"));
    header.frame_interval = 0;
    EXPECT_THAT(labels_of(header, std::vector<std::int64_t>{0, 1, 3}),
                ElementsAre("frame 0", "frame 1", "frame 3"));
}

TEST(AlignedStack, writes_the_area_of_each_frame) {
    const test::TemporaryFolder folder;
    const FrameHeader header{5, {4, 3}, Sample::u16, 1, {.5, .5, "nm"}, {}, 2};
    AlignedStack stack = plan_aligned({"on", 9}, folder.path("a.tif"), header);
    stack.area = {1, 1, {2, 2}};
    const std::vector<std::int64_t> frames{0, 2};
    AlignedWriter writer(stack, header, frames, 0);
    writer.write(std::vector<float>{5.6F, 6, nan, 10});
    writer.write(std::vector<float>(4, 70000));
    EXPECT_THROW(writer.write(std::vector<float>(12)), std::logic_error);
    writer.finish()->commit();
    const auto source = format::open_frames(stack.path);
    EXPECT_EQ(source->header().sample, Sample::u16);
    EXPECT_EQ(source->header().shape, (ImageShape{2, 2}));
    EXPECT_EQ(source->header().frame_interval, 4);
    EXPECT_EQ(source->header().pixel.unit, "nm");
    std::vector<float> samples(4);
    source->read_frame(0, samples);
    EXPECT_THAT(samples, ElementsAre(6, 6, 9, 10));
    source->read_frame(1, samples);
    EXPECT_THAT(samples, ElementsAre(65535, 65535, 65535, 65535));
}

} // namespace
} // namespace sextant::command
