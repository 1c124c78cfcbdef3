// SPDX-License-Identifier: BSD-3-Clause
// Arrays of several axes: names of axes, blocks in any order, and planes of series.
#include "sextant/core/error.hpp"
#include "sextant/format/array_catalogue.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::string refusal_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(AxisNames, AreLettersOrWordsSeparatedByCommas) {
    EXPECT_THAT(parse_axis_names("a", "TYXE"), ElementsAre("t", "y", "x", "e"));
    EXPECT_THAT(parse_axis_names("a", "time,Row,column,kx,detector_y"),
                ElementsAre("t", "y", "x", "kx", "detector_y"));
    for (const char* wrong : {"TTYX", "t,y,", "t,y,x,1", "T Y", "t,time", "é"})
        EXPECT_THAT(refusal_of([&] { parse_axis_names("a.npy", wrong); }),
                    HasSubstr("a.npy: axes \""))
            << wrong;
    EXPECT_TRUE(are_plane_axes("tCzYx"));
    EXPECT_FALSE(are_plane_axes("TYXE"));
}

TEST(Arrays, AreWrittenAndReadInBlocksInAnyOrder) {
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

TEST(Arrays, HaveTheFillValueWhereNothingIsWritten) {
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
    EXPECT_FALSE(std::filesystem::exists(folder.path("array.zarr/0/2/0/0/0")));
    EXPECT_TRUE(std::filesystem::exists(folder.path("array.zarr/0/1/0/0/0")));
}

TEST(Arrays, AppearOnlyWhenTheyAreComplete) {
    const test::TemporaryFolder folder;
    for (const char* extension : {".npy", ".h5", ".zarr", ".tif"}) {
        const std::string path = folder.path(std::string("array") + extension);
        const auto sink = create_array(path, {{2, 3, 4}, {"t", "y", "x"}, Sample::u16});
        const std::vector<std::uint16_t> row(4, 1);
        sink->write({{0, 0, 0}, {1, 1, 4}}, std::as_bytes(std::span(row)));
        EXPECT_FALSE(std::filesystem::exists(path));
    }
}

TEST(Arrays, OfPlanesAreHyperstacks) {
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
    EXPECT_THAT(refusal_of([&] {
                    create_array(folder.path("a.tif"), {lengths, {"t", "e", "c", "y", "x"}});
                }),
                HasSubstr("cannot hold an array with the axes t,e,c,y,x"));
    EXPECT_THAT(refusal_of([&] {
                    create_array(folder.path("a.mrc"), {lengths, {"t", "z", "c", "y", "x"}});
                }),
                HasSubstr("expected .npy, .h5 or .zarr, or .tif"));
}

TEST(Arrays, RefuseOtherNamesAndTruncatedFiles) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("array.npy"), zarr = folder.path("array.zarr");
    const std::vector<std::int64_t> lengths{2, 3, 4, 2};
    write_numbers(*create_array(path, {lengths, {}, Sample::u16}), lengths);
    EXPECT_THAT(refusal_of([&] { open_array(path, {.axes = "TYX"}, 0); }),
                HasSubstr("a name for each of 4 axes (2×3×4×2)"));
    write_numbers(*create_array(zarr, {lengths, {"t", "y", "x", "e"}, Sample::u16, lengths}),
                  lengths);
    EXPECT_THAT(refusal_of([&] { open_array(zarr, {.axes = "t,y,x,energy"}, 0); }),
                HasSubstr("the file names them t,y,x,e"));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_THAT(refusal_of([&] { open_array(path, {}, 0); }), HasSubstr("is truncated"));
    std::filesystem::resize_file(zarr + "/0/0/0/0/0", 9);
    const auto torn = open_array(zarr, {}, 0);
    EXPECT_THAT(refusal_of([&] {
                    read_block(*torn, {{0, 0, 0, 0}, lengths});
                }),
                HasSubstr("/0/0/0/0/0: "));
    std::ofstream(folder.path("big.npy"))
        << "\x93NUMPY\x01" << '\0' << 'v' << '\0'
        << "{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999, 99999, 99999), }"
        << std::string(33, ' ') << '\n';
    EXPECT_THAT(refusal_of([&] { open_array(folder.path("big.npy"), {}, 0); }),
                HasSubstr("big.npy: "));
}

} // namespace
} // namespace sextant::format
