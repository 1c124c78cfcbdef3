// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/row_source.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

/// A source of two frames of 3x2 pixels; the samples are 0, 1, 2, ...
template <class T>
class Counting final : public FrameSource {
  public:
    explicit Counting(Sample sample, int channels = 1)
        : FrameSource("counting",
                      {.frames = 2, .shape = {3, 2}, .sample = sample, .channels = channels},
                      {[this](auto... part) { load(part...); }}) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const std::int64_t row = 3 * header().channels;
        std::vector<T> values(to.size() / sizeof(T));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                static_cast<T>((2 * frame + rows.first) * row + static_cast<std::int64_t>(i));
        std::memcpy(to.data(), values.data(), to.size());
    }
};

/// The second row of the second frame.
template <class T>
std::vector<T> last_row(RowSource& source) {
    std::vector<T> row(3);
    source.read(1, 1, std::as_writable_bytes(std::span(row)));
    return row;
}

template <class Stored>
RowSource source_of(Sample sample, int channels = 1) {
    return {std::make_unique<Counting<Stored>>(sample, channels), 1};
}

TEST(RowSource, returns_filterable_sample_types_as_stored) {
    auto bytes = source_of<std::uint8_t>(Sample::u8);
    EXPECT_EQ(bytes.element(), gray_u8);
    EXPECT_EQ(last_row<std::uint8_t>(bytes), (std::vector<std::uint8_t>{9, 10, 11}));
    auto words = source_of<std::uint16_t>(Sample::u16);
    EXPECT_EQ(words.element(), gray_u16);
    EXPECT_EQ(last_row<std::uint16_t>(words), (std::vector<std::uint16_t>{9, 10, 11}));
    auto floats = source_of<float>(Sample::f32);
    EXPECT_EQ(floats.element(), gray_f32);
    EXPECT_EQ(last_row<float>(floats), (std::vector<float>{9, 10, 11}));
}

TEST(RowSource, of_all_frames_reads_the_planes_of_a_volume) {
    const std::vector<std::int16_t> samples = {1, 2, 3, 4, 5, 6, 7, -8};
    RowSource volume(std::make_unique<MemoryFrames>(
        FrameHeader{.frames = 4, .shape = {1, 2}, .sample = Sample::i16},
        std::as_bytes(std::span(samples))));
    EXPECT_EQ(volume.planes(), 4);
    EXPECT_EQ(volume.element(), gray_f32);
    float last = 0;
    volume.read(1, 1, std::as_writable_bytes(std::span(&last, 1)), 3);
    EXPECT_EQ(last, -8);
    std::array<float, 2> first{};
    volume.read(0, 2, std::as_writable_bytes(std::span(first)), 1);
    EXPECT_EQ(first, (std::array{3.F, 4.F}));
}

TEST(RowSource, returns_other_sample_types_as_floats_and_colours_as_luminance) {
    auto longs = source_of<std::int64_t>(Sample::i64);
    EXPECT_EQ(longs.element(), gray_f32);
    EXPECT_EQ(last_row<float>(longs), (std::vector<float>{9, 10, 11}));
    auto colours = source_of<std::uint8_t>(Sample::u8, 3);
    EXPECT_EQ(colours.element(), gray_f32);
    EXPECT_EQ(
        last_row<float>(colours),
        (std::vector<float>{luminance(27, 28, 29), luminance(30, 31, 32), luminance(33, 34, 35)}));
    auto with_alpha = source_of<float>(Sample::f32, 2);
    EXPECT_EQ(last_row<float>(with_alpha), (std::vector<float>{18, 20, 22}));
}

template <class Stored>
RowSource values_of(Sample sample, int channels = 1) {
    return {std::make_unique<Counting<Stored>>(sample, channels), 1, ReadAs::values};
}

TEST(RowSource, returns_every_sample_type_as_stored_for_comparison) {
    auto bytes = values_of<std::int8_t>(Sample::i8);
    EXPECT_EQ(bytes.element(), gray_u8);
    EXPECT_EQ(last_row<std::uint8_t>(bytes), (std::vector<std::uint8_t>{9, 10, 11}));
    auto words = values_of<std::int16_t>(Sample::i16);
    EXPECT_EQ(words.element(), gray_u16);
    EXPECT_EQ(last_row<std::uint16_t>(words), (std::vector<std::uint16_t>{9, 10, 11}));
    auto longs = values_of<std::int32_t>(Sample::i32);
    EXPECT_EQ(longs.element(), value_u32);
    EXPECT_EQ(last_row<std::uint32_t>(longs), (std::vector<std::uint32_t>{9, 10, 11}));
    auto longer = values_of<std::uint64_t>(Sample::u64);
    EXPECT_EQ(longer.element(), value_u64);
    EXPECT_EQ(last_row<std::uint64_t>(longer), (std::vector<std::uint64_t>{9, 10, 11}));
    auto floats = values_of<float>(Sample::f32);
    EXPECT_EQ(floats.element(), gray_f32);
    auto doubles = values_of<double>(Sample::f64);
    EXPECT_EQ(doubles.element(), value_f64);
    EXPECT_EQ(last_row<double>(doubles), (std::vector<double>{9, 10, 11}));
    auto halves = values_of<Half>(Sample::f16);
    EXPECT_EQ(halves.element(), gray_f32);
}

TEST(RowSource, returns_colours_as_one_number_without_alpha_for_comparison) {
    auto colours = values_of<std::uint8_t>(Sample::u8, 4);
    EXPECT_EQ(colours.element(), value_u32);
    EXPECT_EQ(last_row<std::uint32_t>(colours),
              (std::vector<std::uint32_t>{0x262524, 0x2a2928, 0x2e2d2c}));
    auto wide = values_of<std::uint16_t>(Sample::u16, 3);
    EXPECT_EQ(wide.element(), value_u64);
    EXPECT_EQ(last_row<std::uint64_t>(wide),
              (std::vector<std::uint64_t>{0x1d001c001b, 0x20001f001e, 0x2300220021}));
    auto with_alpha = values_of<double>(Sample::f64, 2);
    EXPECT_EQ(with_alpha.element(), value_f64);
    EXPECT_EQ(last_row<double>(with_alpha), (std::vector<double>{18, 20, 22}));
    EXPECT_EQ(values_of<float>(Sample::f32, 3).element(), gray_f32);
}

TEST(RowSource, refuses_frames_that_do_not_exist) {
    for (const int frame : {-1, 2}) {
        EXPECT_THROW(RowSource(std::make_unique<Counting<float>>(Sample::f32), frame), InvalidTask);
    }
}

TEST(MemoryFrames, returns_rows_of_each_frame) {
    const std::array<std::uint8_t, 12> samples{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    MemoryFrames frames({.frames = 2, .shape = {2, 3}, .sample = Sample::u8},
                        std::as_bytes(std::span(samples)));
    std::array<std::uint8_t, 4> rows{};
    frames.read_samples(1, {1, 3}, std::as_writable_bytes(std::span(rows)));
    EXPECT_THAT(rows, testing::ElementsAre(8, 9, 10, 11));
    EXPECT_THROW(MemoryFrames({.frames = 2, .shape = {2, 3}, .sample = Sample::u16},
                              std::as_bytes(std::span(samples))),
                 InvalidTask);
}

} // namespace
} // namespace sextant
