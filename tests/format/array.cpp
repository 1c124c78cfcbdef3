// SPDX-License-Identifier: BSD-3-Clause
// Arrays of several axes: names of axes, blocks in any order, and planes of series.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sextant::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Bytes some_cache = Bytes{1} << 20;

std::vector<std::uint16_t> numbers_of(Elements count) {
    std::vector<std::uint16_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{1});
    return numbers;
}

std::vector<std::uint16_t> read_block(ArraySource& source, const ArrayBlock& block) {
    std::vector<std::uint16_t> samples(static_cast<std::size_t>(block.elements()));
    source.read(block, std::as_writable_bytes(std::span(samples)));
    return samples;
}

/// Writes the chunks of an array whose samples are 1, 2, 3 ..., those of odd index first.
void write_numbers(ArraySink& sink, const std::vector<std::int64_t>& chunk) {
    const std::vector<std::int64_t>& lengths = sink.header().lengths;
    const auto numbers = numbers_of(ArrayBlock({}, lengths).elements());
    const std::vector<Elements> steps = steps_of(lengths);
    for (const int odd : {1, 0}) {
        std::vector<std::int64_t> start(lengths.size(), 0);
        for (int index = 0;; ++index) {
            ArrayBlock block{start, chunk};
            Elements first = 0;
            for (std::size_t axis = 0; axis < start.size(); ++axis) {
                block.count[axis] = std::min(chunk[axis], lengths[axis] - start[axis]);
                first += start[axis] * steps[axis];
            }
            if (index % 2 == odd) {
                std::vector<std::uint16_t> part(static_cast<std::size_t>(block.elements()));
                copy_block(block.count, 2, reinterpret_cast<const std::byte*>(&numbers[first]),
                           steps, std::as_writable_bytes(std::span(part)).data(),
                           steps_of(block.count));
                sink.write(block, std::as_bytes(std::span(part)));
            }
            std::size_t axis = start.size();
            while (axis > 0 && (start[axis - 1] += chunk[axis - 1]) >= lengths[axis - 1])
                start[--axis] = 0;
            if (axis == 0)
                break;
        }
    }
    sink.commit();
}

void refuses(const std::string& path, const SourceOptions& options, const std::string& text) {
    EXPECT_THAT(test::message_of<Error>([&] { open_array(path, options, 0); }), HasSubstr(text));
}

void refuses_to_create(const std::string& path, const ArrayHeader& header,
                       const std::string& text) {
    EXPECT_THAT(test::message_of<Error>([&] { create_array(path, header); }), HasSubstr(text));
}

TEST(ArrayBlocks, are_cut_into_contiguous_parts_in_order) {
    const ArrayBlock block{{1, 2, 3}, {2, 3, 4}};
    std::vector<std::byte> samples(24);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<std::byte>(i);
    for (const Elements most : {1, 3, 4, 8, 11, 12, 24, 100}) {
        Elements next = 0;
        for_each_part(block, most, [&](const ArrayBlock& part, Elements offset) {
            EXPECT_EQ(offset, next);
            EXPECT_LE(part.elements(), most);
            std::vector<std::byte> copied(static_cast<std::size_t>(part.elements()));
            EXPECT_TRUE(copy_part(block, 1, samples.data(), part, copied.data()));
            for (const std::byte each : copied)
                EXPECT_EQ(std::to_integer<Elements>(each), next++);
        });
        EXPECT_EQ(next, 24) << most;
    }
    for (const ArrayBlock& outside :
         {ArrayBlock{{0, 2, 3}, {1, 1, 1}}, ArrayBlock{{1, 2, 3}, {1, 1, 5}}})
        EXPECT_FALSE(copy_part(block, 1, samples.data(), outside, samples.data()));
}

TEST(AxisNames, are_letters_or_words_separated_by_commas) {
    EXPECT_THAT(parse_axis_names("a", "TYXE"), ElementsAre("t", "y", "x", "e"));
    EXPECT_THAT(parse_axis_names("a", "time,Row,column,kx,detector_y"),
                ElementsAre("t", "y", "x", "kx", "detector_y"));
    for (const char* wrong : {"TTYX", "t,y,", "t,y,x,1", "T Y", "t,time", "é"})
        EXPECT_THROW(parse_axis_names("a.npy", wrong), Error) << wrong;
    EXPECT_TRUE(are_plane_axes("tCzYx"));
    EXPECT_FALSE(are_plane_axes("TYXE"));
}

TEST(Arrays, are_written_and_read_in_blocks_in_any_order) {
    const test::TemporaryFolder folder;
    const std::vector<std::int64_t> lengths{3, 2, 5, 7, 4}, chunk{1, 2, 2, 3, 3};
    const auto numbers = numbers_of(ArrayBlock({}, lengths).elements());
    for (const char* extension : {".npy", ".h5", ".zarr"}) {
        const std::string path = folder.path(std::string("array") + extension);
        ArrayHeader header{lengths, {"t", "c", "y", "x", "e"}, Sample::u16, chunk};
        write_numbers(*create_array(path, header), chunk);
        for (const Bytes cache : {Bytes{0}, some_cache}) {
            const auto source = open_array(path, {.axes = "TCYXE"}, cache);
            EXPECT_EQ(source->header().lengths, lengths);
            EXPECT_EQ(source->header().sample, Sample::u16);
            const ArrayBlock whole{{0, 0, 0, 0, 0}, lengths};
            EXPECT_EQ(read_block(*source, whole), numbers) << extension;
            const ArrayBlock block{{1, 0, 1, 2, 1}, {2, 2, 3, 4, 2}};
            const auto part = read_block(*source, block);
            std::vector<std::uint16_t> wanted(part.size());
            const Elements first = ((1 * 2 + 0) * 5 + 1) * 28 + 2 * 4 + 1;
            copy_block(block.count, 2, reinterpret_cast<const std::byte*>(&numbers[first]),
                       steps_of(lengths), std::as_writable_bytes(std::span(wanted)).data(),
                       steps_of(block.count));
            EXPECT_EQ(part, wanted) << extension;
        }
    }
}

TEST(Arrays, have_the_fill_value_where_nothing_is_written) {
    const test::TemporaryFolder folder;
    const std::vector<std::int64_t> lengths{4, 3, 3, 2};
    for (const char* extension : {".npy", ".h5", ".zarr"}) {
        const std::string path = folder.path(std::string("array") + extension);
        ArrayHeader header{lengths, {"t", "y", "x", "e"}, Sample::u16, {1, 3, 3, 2}};
        const bool zarr = std::string_view(extension) == ".zarr";
        if (zarr)
            header.fill = {std::byte{7}, std::byte{0}};
        const auto sink = create_array(path, header);
        const std::vector<std::uint16_t> ones(18, 1), filled(18, 7);
        sink->write({{1, 0, 0, 0}, {1, 3, 3, 2}}, std::as_bytes(std::span(ones)));
        if (zarr) // chunks of the fill value are not stored
            sink->write({{2, 0, 0, 0}, {1, 3, 3, 2}}, std::as_bytes(std::span(filled)));
        sink->commit();
        const auto source = open_array(path, {}, some_cache);
        EXPECT_THAT(read_block(*source, {{1, 0, 0, 0}, {1, 3, 3, 2}}), testing::Each(1));
        EXPECT_THAT(read_block(*source, {{3, 0, 0, 0}, {1, 3, 3, 2}}), testing::Each(zarr ? 7 : 0));
        EXPECT_EQ(source->is_fill({{2, 0, 0, 0}, {2, 3, 3, 2}}), zarr);
        EXPECT_FALSE(source->is_fill({{1, 0, 0, 0}, {2, 3, 3, 2}}));
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path("array.zarr/0/c/2/0/0/0")));
    EXPECT_TRUE(std::filesystem::exists(folder.path("array.zarr/0/c/1/0/0/0")));
}

/// A sample that deflate cannot make smaller.
std::uint16_t noise(Elements number) {
    auto x = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9U;
    return static_cast<std::uint16_t>(x >> 40);
}

TEST(Arrays, of_hdf5_have_the_same_bytes_in_any_order_of_blocks) {
    const test::TemporaryFolder folder;
    // Chunks of 4 MiB: more than wait in memory when they are written from the last to the first.
    const std::vector<std::int64_t> lengths{11, 1024, 2048}, chunk{1, 1024, 2048};
    const Elements plane = chunk[1] * chunk[2];
    for (const bool backwards : {false, true}) {
        const auto sink = create_array(folder.path(backwards ? "last.h5" : "first.h5"),
                                       {lengths, {"t", "y", "x"}, Sample::u16, chunk});
        std::vector<std::uint16_t> samples(static_cast<std::size_t>(plane));
        for (std::int64_t i = 0; i < lengths[0]; ++i) {
            const std::int64_t frame = backwards ? lengths[0] - 1 - i : i;
            if (frame == 7)
                continue; // a chunk that is not stored
            for (Elements j = 0; j < plane; ++j)
                samples[static_cast<std::size_t>(j)] = noise(frame * plane + j);
            sink->write({{frame, 0, 0}, chunk}, std::as_bytes(std::span(samples)));
        }
        sink->commit();
    }
    EXPECT_TRUE(test::content(folder.path("first.h5")) == test::content(folder.path("last.h5")));
    const auto source = open_array(folder.path("last.h5"), {}, 0);
    EXPECT_THAT(source->header().remarks, testing::Contains(HasSubstr("1 of 11 chunks")));
    for (const std::int64_t frame : {0, 6, 7, 8, 10}) {
        const auto read = read_block(*source, {{frame, 500, 300}, {1, 1, 2}});
        const Elements first = (frame * 1024 + 500) * 2048 + 300;
        EXPECT_EQ(read[0], frame == 7 ? 0 : noise(first)) << frame;
        EXPECT_EQ(read[1], frame == 7 ? 0 : noise(first + 1)) << frame;
    }
}

TEST(Arrays, of_hdf5_have_a_fill_value_and_pixel_sizes) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("array.h5");
    const std::vector<std::int64_t> lengths{3, 2, 4, 5, 6};
    ArrayHeader header{lengths, {"t", "c", "z", "y", "x"}, Sample::f32, {1, 1, 2, 5, 4}};
    const float seven = 7;
    header.fill.resize(sizeof seven);
    std::memcpy(header.fill.data(), &seven, sizeof seven);
    header.pixel = {2, 3, "nm"};
    header.slice_distance = 5;
    const auto read = [&](const ArrayBlock& block) {
        const auto source = open_array(path, {.axes = "TCZYX"}, some_cache);
        EXPECT_EQ(source->header().chunk, header.chunk);
        EXPECT_NEAR(source->header().pixel.x, .002, 1e-12);
        EXPECT_NEAR(source->header().pixel.y, .003, 1e-12);
        std::vector<float> samples(static_cast<std::size_t>(block.elements()));
        source->read(block, std::as_writable_bytes(std::span(samples)));
        return samples;
    };
    create_array(path, header)->commit();
    EXPECT_THAT(read({{0, 0, 0, 0, 0}, lengths}), testing::Each(seven)) << "nothing was written";
    const auto sink = create_array(path, header);
    const std::vector<float> ones(40, 1);
    sink->write({{2, 1, 2, 0, 0}, {1, 1, 2, 5, 4}}, std::as_bytes(std::span(ones)));
    sink->commit();
    EXPECT_THAT(read({{2, 1, 2, 0, 0}, {1, 1, 2, 5, 4}}), testing::Each(1));
    EXPECT_THAT(read({{2, 1, 2, 0, 4}, {1, 1, 2, 5, 2}}), testing::Each(seven));
    refuses_to_create(path, {{9, 40000, 40000}, {}, Sample::f32, {9, 40000, 40000}},
                      "chunks of 9×40000×40000 samples of f32 exceed 4 GiB");
}

/// The number of bytes that the processes started by this one have read.
Bytes bytes_read_by_children() {
    Bytes all = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream status(entry.path() / "stat");
        std::string number, name, state;
        pid_t parent = 0;
        status >> number >> name >> state >> parent;
        if (!status || parent != getpid())
            continue;
        std::ifstream io(entry.path() / "io");
        std::string key;
        Bytes bytes = 0;
        if (io >> key >> bytes)
            all += bytes;
    }
    return all;
}

TEST(Arrays, of_hdf5_have_no_place_for_the_distance_of_slices_that_are_not_the_third_last_axis) {
    ArrayHeader header{.lengths = {4, 2, 5, 6}, .names = {"z", "c", "y", "x"}};
    header.pixel = {.5, .5, "nm"};
    EXPECT_EQ(remark_on_lost_pixel("a.h5", header), "");
    header.slice_distance = 3;
    EXPECT_THAT(remark_on_lost_pixel("a.h5", header),
                HasSubstr("a.h5: the slice distance, 3 nm, is not stored"));
    header.names = {"c", "z", "y", "x"};
    EXPECT_EQ(remark_on_lost_pixel("a.h5", header), "");
}

TEST(Arrays, of_hdf5_decode_each_chunk_once_if_the_cache_holds_another_row_of_them) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("scan.h5");
    // Spectra of the pixels of two frames that share chunks; 4 × 4 × 2 chunks of 64 KiB.
    const std::vector<std::int64_t> lengths{2, 32, 32, 128}, chunk{2, 8, 8, 64};
    Bytes stored = 0;
    {
        const auto sink = create_array(path, {lengths, {"t", "y", "x", "e"}, Sample::u16, chunk});
        std::vector<std::uint16_t> samples(2 * 32 * 32 * 128);
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] = noise(static_cast<Elements>(i));
        sink->write({{0, 0, 0, 0}, lengths}, std::as_bytes(std::span(samples)));
        sink->commit();
        stored = static_cast<Bytes>(std::filesystem::file_size(path));
    }
    const auto read_of_cache = [&](Bytes cache) {
        const auto source = open_array(path, {.axes = "TYXE"}, cache);
        EXPECT_EQ(source->header().chunk, chunk);
        const Bytes before = bytes_read_by_children();
        std::vector<std::uint16_t> rows(2 * 32 * 128);
        for (std::int64_t y = 0; y + 1 < 32; ++y) { // rows as an interpolation needs them
            for (std::int64_t frame = 0; frame < 2; ++frame)
                source->read({{frame, y, 0, 0}, {1, 2, 32, 128}},
                             std::as_writable_bytes(std::span(rows)));
        }
        EXPECT_EQ(rows.back(), noise(2 * 32 * 32 * 128 - 1));
        return static_cast<double>(bytes_read_by_children() - before) / static_cast<double>(stored);
    };
    const double once = read_of_cache(Bytes{2} << 20);
    EXPECT_GT(once, .9);
    EXPECT_LT(once, 1.2);
}

TEST(Arrays, of_planes_are_hyperstacks) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("stack.tif");
    const std::vector<std::int64_t> lengths{2, 3, 4, 5, 6};
    const auto sink = create_array(path, {lengths, {"t", "z", "c", "y", "x"}, Sample::u16});
    EXPECT_TRUE(sink->in_order());
    const auto numbers = numbers_of(720);
    sink->write({{0, 0, 0, 0, 0}, lengths}, std::as_bytes(std::span(numbers)));
    sink->commit();
    const auto source = open_array(path, {}, 0);
    EXPECT_EQ(source->header().lengths, lengths);
    EXPECT_THAT(source->header().names, ElementsAre("t", "z", "c", "y", "x"));
    EXPECT_EQ(read_block(*source, {{0, 0, 0, 0, 0}, lengths}), numbers);
    EXPECT_THAT(read_block(*source, {{1, 2, 3, 4, 2}, {1, 1, 1, 1, 3}}),
                ElementsAre(717, 718, 719));
    // The same planes as frames.
    const auto frames = open_frames(path, {.channel = 1, .slice = 2});
    EXPECT_EQ(frames->header().frames, 2);
    std::vector<float> plane(30);
    frames->read_frame(1, plane);
    EXPECT_EQ(plane.front(), 1 + 30 * ((1 * 3 + 2) * 4 + 1));
    refuses_to_create(folder.path("a.tif"), {lengths, {"t", "e", "c", "y", "x"}},
                      "cannot hold an array with the axes t,e,c,y,x");
    refuses_to_create(folder.path("a.mrc"), {lengths, {"t", "z", "c", "y", "x"}},
                      "expected .npy, .h5 or .zarr, or .tif");
}

TEST(Arrays, refuse_other_names_and_truncated_files) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("array.npy"), zarr = folder.path("array.zarr");
    const std::vector<std::int64_t> lengths{2, 3, 4, 2};
    write_numbers(*create_array(path, {lengths, {}, Sample::u16}), lengths);
    refuses(path, {.axes = "TYX"}, "a name for each of 4 axes (2×3×4×2)");
    write_numbers(*create_array(zarr, {lengths, {"t", "y", "x", "e"}, Sample::u16, lengths}),
                  lengths);
    refuses(zarr, {.axes = "t,y,x,energy"}, "the file names them t,y,x,e");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    refuses(path, {}, "is truncated");
    const std::string series = folder.path("series.npy");
    write_numbers(*create_array(series, {{4, 3, 2}, {}, Sample::u16}), {4, 3, 2});
    std::filesystem::resize_file(series, std::filesystem::file_size(series) - 1);
    const auto shorter = open_array(series, {}, 0);
    EXPECT_EQ(shorter->header().lengths, (std::vector<std::int64_t>{3, 3, 2}));
    EXPECT_EQ(shorter->header().remarks,
              (std::vector<std::string>{"truncated: 3 of 4 frames are complete"}));
    std::filesystem::resize_file(zarr + "/0/c/0/0/0/0", 9);
    const auto torn = open_array(zarr, {}, 0);
    const ArrayBlock whole{{0, 0, 0, 0}, lengths};
    EXPECT_THAT(test::message_of<InvalidFile>([&] { read_block(*torn, whole); }),
                HasSubstr("/0/c/0/0/0/0: "));
    std::ofstream(folder.path("big.npy"))
        << "\x93NUMPY\x01" << '\0' << 'v' << '\0'
        << "{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999, 99999, 99999), }"
        << std::string(33, ' ') << '\n';
    refuses(folder.path("big.npy"), {}, "big.npy: ");
}

} // namespace
} // namespace sextant::format
