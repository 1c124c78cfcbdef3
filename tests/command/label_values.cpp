// SPDX-License-Identifier: BSD-3-Clause
// Labels by value distinguish all stored samples, of every type, in tiles and in strips.
#include "sextant/command/commands.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/png.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;
using Options = std::map<std::string, std::vector<std::string>>;

constexpr ImageShape shape{24, 18};

class LabelValues : public testing::Test {
  protected:
    template <class T>
    void write(Sample sample, const std::vector<T>& values, ImageShape of = shape) const {
        FrameHeader header;
        header.frames = 1;
        header.shape = of;
        header.sample = sample;
        const auto sink = format::create_frames(image, header);
        sink->write_samples(std::as_bytes(std::span(values)));
        sink->commit();
    }

    /// An image of vertical stripes, 4 pixels wide, with these values in turn.
    template <class T>
    static std::vector<T> columns(const std::vector<T>& values, ImageShape of = shape) {
        std::vector<T> pixels;
        for (std::int64_t i = 0; i < of.elements(); ++i)
            pixels.push_back(values[static_cast<std::size_t>(i % of.width / 4) % values.size()]);
        return pixels;
    }

    /// Labels the image; returns the largest label.
    std::uint32_t label(Options options = {{"by_value", {"true"}}}, ImageShape of = shape) const {
        options["image"] = {image};
        options["output"] = {labels};
        run_command(label_operation(), options);
        std::vector<std::uint32_t> found(static_cast<std::size_t>(of.elements()));
        format::open_frames(labels)->read_samples(0, {0, of.height},
                                                  std::as_writable_bytes(std::span(found)));
        return *std::max_element(found.begin(), found.end());
    }

    template <class T>
    void expect_columns(Sample sample, const std::vector<T>& values, std::uint32_t components) {
        write(sample, columns(values));
        for (const char* grid : {"1x1", "2x3", "5x1"})
            EXPECT_EQ(label({{"by_value", {"true"}}, {"grid", {grid}}}), components)
                << name(sample) << " " << grid;
        constexpr ImageShape large{600, 300};
        write(sample, columns(values, large), large);
        const std::uint32_t whole = label({{"by_value", {"true"}}, {"ranks", {"1"}}}, large);
        EXPECT_EQ(whole, components * 25) << name(sample);
        EXPECT_EQ(label({{"by_value", {"true"}}, {"memory", {"1"}}, {"ranks", {"2"}}}, large),
                  whole)
            << name(sample) << " in strips";
    }

    test::TemporaryFolder folder;
    std::string image = folder.path("image.npy"), labels = folder.path("labels.npy");
};

TEST_F(LabelValues, are_distinguished_however_close_they_are) {
    expect_columns<std::uint32_t>(Sample::u32, {16777216, 16777217, 4294967295, 4294967294}, 6);
    expect_columns<std::int32_t>(Sample::i32, {-16777216, -16777217, 2147483647, 2147483646}, 6);
    constexpr std::uint64_t beyond = std::uint64_t{1} << 53;
    expect_columns<std::uint64_t>(Sample::u64, {beyond, beyond + 1, ~0ULL, ~0ULL - 1}, 6);
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    expect_columns<std::int64_t>(Sample::i64, {least, least + 1, -1, 1}, 6);
    expect_columns<double>(Sample::f64, {1, 1 + 1e-12, 1e-60, 2e-60}, 6);
    expect_columns<double>(Sample::f64, {1e300, 2e300, -1e300, 1e-320}, 6);
    expect_columns<std::int8_t>(Sample::i8, {-128, 127, -1, 1}, 6);
    expect_columns<std::int16_t>(Sample::i16, {-32768, 32767, -1, 1}, 6);
    expect_columns<Half>(Sample::f16, {to_half(1), to_half(1.001F), to_half(6e-8F), to_half(-1)},
                         6);
}

TEST_F(LabelValues, treat_zero_of_either_sign_and_NaN_as_background) {
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    write(Sample::f64, columns<double>({0, -0., 5, 0, -0., 5}));
    EXPECT_EQ(label(), 2);
    for (const char* grid : {"1x1", "3x2"}) {
        write(Sample::f64,
              std::vector<double>(static_cast<std::size_t>(shape.elements()), no_number));
        EXPECT_EQ(label({{"by_value", {"true"}}, {"grid", {grid}}}), 0) << grid;
    }
}

TEST_F(LabelValues, keep_doubles_too_small_for_floats_in_the_foreground) {
    write(Sample::f64, columns<double>({0, 1e-60, 1e-200, 0, 0, 1}));
    EXPECT_EQ(label({}), 2);
}

TEST_F(LabelValues, distinguish_colours_of_equal_luminance) {
    // Both colours have the same luminance, 2126 r + 7152 g + 722 b.
    constexpr RgbaF32 green{0, 10 / 255.F, 0, 1}, purple{17 / 255.F, 0, 49 / 255.F, 1};
    Image colours(shape, rgba_f32);
    const auto pixels = columns<RgbaF32>({green, purple, {0, 0, 0, 1}});
    std::copy(pixels.begin(), pixels.end(), colours.pixels<RgbaF32>().begin());
    image = folder.path("colours.png");
    std::ofstream(image, std::ios::binary) << format::encode_png(colours);
    EXPECT_EQ(label(), 4);
    EXPECT_EQ(label({}), 2);
}

TEST_F(LabelValues, are_reported_with_the_stored_sample_type) {
    write(Sample::i64, columns<std::int64_t>({1, 2}));
    const std::string json = folder.path("run.json");
    label({{"by_value", {"true"}}, {"json", {json}}});
    std::ifstream file(json);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
                HasSubstr("\"element\": \"gray i64\""));
}

} // namespace
} // namespace sextant::command
