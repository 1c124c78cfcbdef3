// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files written by Sextant, read by libhdf5.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::test {
namespace {

using testing::HasSubstr;

class Hdf5Sink : public testing::Test {
  protected:
    std::unique_ptr<FrameSource> written(const FrameHeader& header) const {
        write_pattern(path, header);
        return format::open_frames(path);
    }
    TemporaryFolder folder;
    std::string path = folder.path("a.h5");
};

TEST_F(Hdf5Sink, writes_standard_types_that_libhdf_5_writes) {
    const std::vector<std::pair<Sample, hid_t>> types{
        {Sample::u8, H5T_STD_U8LE},   {Sample::i8, H5T_STD_I8LE},   {Sample::u16, H5T_STD_U16LE},
        {Sample::i16, H5T_STD_I16LE}, {Sample::u32, H5T_STD_U32LE}, {Sample::i32, H5T_STD_I32LE},
        {Sample::u64, H5T_STD_U64LE}, {Sample::i64, H5T_STD_I64LE}, {Sample::f32, H5T_IEEE_F32LE},
        {Sample::f64, H5T_IEEE_F64LE}};
    for (const auto& [sample, type] : types) {
        write_pattern(path, {2, {5, 4}, sample});
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t dataset = H5Dopen2(file, "/data", H5P_DEFAULT);
        const hid_t stored = H5Dget_type(dataset);
        EXPECT_GT(H5Tequal(stored, type), 0) << name(sample);
        H5G_info_t root{};
        EXPECT_GE(H5Gget_info(file, &root), 0);
        EXPECT_EQ(root.nlinks, 1U);
        H5Tclose(stored);
        H5Dclose(dataset);
        H5Fclose(file);
    }
}

/// A dataset as libhdf5 describes it.
struct Described {
    std::vector<hsize_t> chunk;
    int filters = 0;
    hsize_t chunks = 0;
    std::vector<double> element;
};

Described described(const std::string& path) {
    Described found;
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/data", H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset), created = H5Dget_create_plist(dataset);
    found.chunk.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Pget_chunk(created, static_cast<int>(found.chunk.size()), found.chunk.data());
    found.filters = H5Pget_nfilters(created);
    H5Dget_num_chunks(dataset, space, &found.chunks);
    if (H5Aexists(dataset, "element_size_um") > 0) {
        const hid_t attribute = H5Aopen(dataset, "element_size_um", H5P_DEFAULT);
        const hid_t sizes = H5Aget_space(attribute);
        found.element.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(sizes)));
        H5Aread(attribute, H5T_NATIVE_DOUBLE, found.element.data());
        H5Sclose(sizes);
        H5Aclose(attribute);
    }
    H5Pclose(created);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return found;
}

TEST_F(Hdf5Sink, compresses_chunks_of_integers) {
    const FrameHeader header{70, {300, 400}, Sample::u32};
    EXPECT_TRUE(holds_pattern(*written(header)));
    Described found = described(path);
    EXPECT_EQ(found.chunk, (std::vector<hsize_t>{64, 128, 128}));
    EXPECT_EQ(found.filters, 1);
    EXPECT_EQ(found.chunks, 2U * 4 * 3);
    EXPECT_LT(std::filesystem::file_size(path), 70U * 300 * 400 * 4 / 8);
    EXPECT_TRUE(holds_pattern(*written({2, {300, 400}, Sample::f32})));
    EXPECT_EQ(described(path).filters, 0);
}

/// 5000 chunks have a tree of three levels.
TEST_F(Hdf5Sink, finds_each_of_many_chunks) {
    constexpr std::int64_t frames = 64 * 5000 - 3;
    const auto sink = format::create_frames(path, {frames, {1, 1}, Sample::u32});
    std::vector<std::uint32_t> values(frames), found(frames);
    for (std::uint32_t i = 0; i < frames; ++i) {
        values[i] = i * 2654435761U;
        sink->write_samples(std::as_bytes(std::span(&values[i], 1)));
    }
    sink->commit();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/data", H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), 0);
    H5Dclose(dataset);
    H5Fclose(file);
    EXPECT_EQ(found, values);
    EXPECT_EQ(described(path).chunks, 5000U);
    const auto source = format::open_frames(path);
    std::uint32_t value = 0;
    for (const std::int64_t frame : {frames - 1, std::int64_t{64 * 4096}, std::int64_t{0}}) {
        source->read_samples(frame, {0, 1}, std::as_writable_bytes(std::span(&value, 1)));
        EXPECT_EQ(value, values[static_cast<std::size_t>(frame)]);
    }
}

TEST_F(Hdf5Sink, states_the_size_of_an_element) {
    FrameHeader header{3, {5, 4}, Sample::u16};
    header.pixel = {2, 4, "nm"};
    header.slice_distance = 8;
    const auto slices = [&] {
        const auto sink = format::create_frames(path, header, {.axis = format::StackAxis::slices});
        sink->write_samples(std::vector<std::byte>(40));
        sink->write_samples(std::vector<std::byte>(40));
        sink->write_samples(std::vector<std::byte>(40));
        sink->commit();
        return format::open_frames(path);
    };
    auto source = slices();
    EXPECT_EQ(source->header().axes, (ArrayAxes{{3, 4, 5}, ""}));
    EXPECT_THAT(described(path).element,
                testing::Pointwise(testing::DoubleEq(), {.008, .004, .002}));
    EXPECT_DOUBLE_EQ(source->header().pixel.x, .002);
    EXPECT_DOUBLE_EQ(source->header().pixel.y, .004);
    EXPECT_EQ(source->header().pixel.unit, "µm");
    EXPECT_DOUBLE_EQ(source->header().slice_distance, .008);
    EXPECT_EQ(source->header().frames_per_chunk, 3);
    header.slice_distance = 0; // as columns
    source = slices();
    EXPECT_THAT(described(path).element,
                testing::Pointwise(testing::DoubleEq(), {.002, .004, .002}));
    source = written(header); // times
    EXPECT_THAT(described(path).element, testing::Pointwise(testing::DoubleEq(), {.004, .002}));
    EXPECT_DOUBLE_EQ(source->header().pixel.y, .004);
    EXPECT_EQ(source->header().slice_distance, 0);
    header.pixel = {1, 1, "1/nm"}; // not a length
    source = written(header);
    EXPECT_EQ(described(path).element.size(), 0U);
    EXPECT_FALSE(source->header().pixel.known());
}

/// libhdf5 can add to the file: its groups and free space are consistent.
TEST_F(Hdf5Sink, writes_files_to_which_datasets_can_be_added) {
    write_pattern(path, {2, {5, 4}, Sample::u8});
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t side = 3;
    for (int i = 0; i < 20; ++i) { // more than a node of the group holds
        const hid_t space = H5Screate_simple(1, &side, nullptr);
        const std::string name = "more" + std::to_string(i);
        const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(dataset, 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Fclose(file);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path + "::/data")));
}

TEST_F(Hdf5Sink, is_not_for_pipes) {
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_THAT(failure([&] {
                    write_pattern(path, {1, {2, 2}, Sample::u8});
                }),
                HasSubstr("the path is a pipe, expected a file"));
    close(reader);
}

} // namespace
} // namespace sextant::test
