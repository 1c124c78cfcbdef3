// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files written by Sextant, read by libhdf5.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <hdf5.h>

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

TEST_F(Hdf5Sink, WritesEverySampleTypeAndShape) {
    for (const Sample sample :
         {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32, Sample::u64,
          Sample::i64, Sample::f16, Sample::f32, Sample::f64}) {
        const auto source = written({3, {37, 21}, sample});
        EXPECT_EQ(source->header().sample, sample);
        EXPECT_EQ(source->header().axes, (ArrayAxes{{3, 21, 37}, ""}));
        EXPECT_EQ(remarks(*source), "");
        EXPECT_TRUE(holds_pattern(*source)) << name(sample);
    }
    for (const FrameHeader& header : std::vector<FrameHeader>{
             {1, {1, 1}, Sample::u8}, {1, {300, 70}, Sample::f16}, {70, {1, 5000}, Sample::f64}}) {
        const auto source = written(header);
        EXPECT_EQ(source->header().frames, header.frames);
        EXPECT_TRUE(holds_pattern(*source)) << header.frames;
    }
    EXPECT_EQ(folder.entries(), 1);
}

TEST_F(Hdf5Sink, WritesStandardTypesThatLibhdf5Writes) {
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

TEST_F(Hdf5Sink, KeepsAllBitsOfSamples) {
    const std::vector<std::uint64_t> values{0, 1, ~std::uint64_t{0}, (std::uint64_t{1} << 53) + 1};
    const auto sink = format::create_frames(path, {1, {4, 1}, Sample::u64});
    sink->write_samples(std::as_bytes(std::span(values)));
    sink->commit();
    std::vector<std::uint64_t> found(4);
    format::open_frames(path)->read_samples(0, {0, 1}, std::as_writable_bytes(std::span(found)));
    EXPECT_EQ(found, values);
}

/// libhdf5 can add to the file: its groups and free space are consistent.
TEST_F(Hdf5Sink, WritesFilesToWhichDatasetsCanBeAdded) {
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

TEST_F(Hdf5Sink, IsForTheExtensionsOfPlainHdf5) {
    EXPECT_THAT(failure([&] {
                    write_pattern(folder.path("a.emd"), {1, {2, 2}, Sample::u8});
                }),
                HasSubstr("EMD, HyperSpy files can only be read"));
}

} // namespace
} // namespace sextant::test
