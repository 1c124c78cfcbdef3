// SPDX-License-Identifier: BSD-3-Clause
// HDF5 samples stored elsewhere, missing, or impossible to decode: references are followed only if
// allowed, and fill values are not mistaken for samples.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/format/frames.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace sextant::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

const format::SourceOptions allowed{.allow_external = true};

class Hdf5ExternalData : public testing::Test {
  protected:
    /// A file with the frames [first, last) of the pattern in its dataset "d".
    void write_frames(const std::string& to, std::int64_t first, std::int64_t last) {
        std::filesystem::create_directories(std::filesystem::path(to).parent_path());
        std::vector<std::uint8_t> values;
        for (std::int64_t frame = first; frame < last; ++frame) {
            const auto one = pattern_frame<std::uint8_t>(frame, {13, 7});
            values.insert(values.end(), one.begin(), one.end());
        }
        Hdf5File(to).dataset("/d", {static_cast<hsize_t>(last - first), 7, 13}, H5T_STD_U8LE,
                             H5T_NATIVE_UINT8, values);
    }
    /// Expects the file, or a part of it, to be refused with this text.
    void refuses(const std::string& text, const format::SourceOptions& options = {},
                 const std::string& detail = "") {
        EXPECT_THAT(opening_fails(path + detail, options),
                    testing::AllOf(StartsWith(path + ": "), HasSubstr(text)));
    }
    std::string opening_fails(const std::string& name, const format::SourceOptions& options = {}) {
        return failure([&] { format::open_frames(name, options); });
    }
    std::string reading_fails(FrameSource& source, std::int64_t frame) {
        return failure([&] { read_frame(source, frame); });
    }

    TemporaryFolder folder;
    std::string path = folder.path("a/a.h5");
    void SetUp() override { std::filesystem::create_directory(folder.path("a")); }
};

TEST_F(Hdf5ExternalData, external_storage_is_read_only_if_allowed) {
    const auto frame = pattern_frame<std::uint8_t>(0, {13, 7});
    const std::string other = folder.path("a/other.bin");
    fill_file(other, std::string(frame.begin(), frame.end()));
    Hdf5File(path).external("/x", {7, 13}, H5T_STD_U8LE, other, 91);
    refuses("has samples in another file, " + other + ": --allow-external allows this");
    EXPECT_TRUE(holds_pattern(*format::open_frames(path, allowed)));
    Hdf5File(path).external("/x", {7, 13}, H5T_STD_U8LE, "other.bin", 91);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path, allowed)))
        << "a relative path starts at the file's folder";
    fill_file(other, std::string(50, 'x'));
    refuses("has 50 bytes, expected 91 starting at byte 0", allowed);
}

TEST_F(Hdf5ExternalData, only_regular_files_are_opened) {
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Hdf5File(path).external("/x", {7, 13}, H5T_STD_U8LE, pipe, 91);
    refuses("pipe, which is not a regular file", allowed);
    Hdf5File(path).stack("/x", {pipe}, 1, 7, 13);
    refuses("pipe, which is not a regular file", allowed);
    Hdf5File(path).link("/x", pipe, "/d");
    refuses("not a regular file", allowed, "::/x");
    EXPECT_THAT(opening_fails(pipe + "::/x", allowed), HasSubstr("is not in a known frame format"));
}

TEST_F(Hdf5ExternalData, links_to_other_files_are_followed_only_if_allowed) {
    write_frames(folder.path("b.h5"), 0, 200); // larger than the file with the link
    Hdf5File(path).link("/x", "../b.h5", "/d");
    refuses("/x refers to another file, ../b.h5: --allow-external allows this", {}, "::/x");
    refuses("but links to other files, such as /x; use --allow-external to follow them");
    EXPECT_TRUE(holds_pattern(*format::open_frames(path + "::/x", allowed)));
    EXPECT_EQ(format::open_frames(path, allowed)->header().frames, 200);
    Hdf5File(folder.path("a/b.h5")).link("/x", "a.h5", "/x");
    Hdf5File(path).link("/x", "b.h5", "/x");
    refuses("through too many links", allowed, "::/x");
}

TEST_F(Hdf5ExternalData, data_that_are_missing_are_not_replaced_by_other_datasets) {
    const std::string field = "/entry/instrument/detector/detectorSpecific/flatfield";
    const auto master = [&](const std::string& target) {
        Hdf5File file(path);
        file.dataset(field, {7, 13}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>(91, 1));
        file.link("/entry/data/data_000001", target, "/d");
    };
    const std::string advice = "; to read another dataset, append its name, such as " + path +
                               "::" + field,
                      elsewhere = "may have its data elsewhere: /entry/data/data_000001 ";
    master("series_data_000001.h5");
    refuses(elsewhere +
            "refers to another file, series_data_000001.h5: --allow-external allows this" + advice);
    refuses(elsewhere + "refers to another file, series_data_000001.h5, which is missing" + advice,
            allowed);
    EXPECT_EQ(format::open_frames(path + "::" + field)->header().shape, (ImageShape{13, 7}));
    write_frames(folder.path("a/series_data_000001.h5"), 0, 4);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path, allowed)));
    {
        Hdf5File file(path);
        for (const int part : {1, 2, 3})
            file.link(fmt::format("/entry/data/data_{:06}", part),
                      fmt::format("series_data_{:06}.h5", part), "/d");
        file.text("/entry/data", "NX_class", "NXdata");
    }
    write_frames(folder.path("a/series_data_000002.h5"), 0, 3);
    EXPECT_THAT(format::open_frames(path, allowed)->header().remarks,
                IsSupersetOf({HasSubstr("only 4 of 7 frames are read: "),
                              HasSubstr("frames are missing: /entry/data/data_000003 refers to "
                                        "another file, series_data_000003.h5, which is missing")}));
    std::filesystem::remove(folder.path("a/series_data_000002.h5"));
    master("series_data_000002.h5");
    Hdf5File(folder.path("a/series_data_000002.h5")).group("/d"); // another object of this name
    refuses(elsewhere, allowed);
    {
        Hdf5File file(path);
        file.dataset(field, {7, 13}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>(91, 1));
        file.soft_link("/entry/data", "/entry/nothing");
    }
    refuses("may have its data elsewhere: /entry/data is a link to an object that is missing" +
            advice);
    {
        Hdf5File file(path);
        file.dataset("/mask", {7, 13}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, std::vector<float>(91, 1));
        file.group("/entry");
        file.text("/entry", "NX_class", "NXdata");
        file.text("/entry", "signal", "counts");
        file.link("/entry/counts", "gone.h5", "/d");
    }
    refuses("/entry/counts refers to another file, gone.h5, which is missing", allowed);
}

TEST_F(Hdf5ExternalData, virtual_sources_below_the_folder_of_the_file_are_read) {
    write_frames(folder.path("a/0.h5"), 0, 2);
    write_frames(folder.path("a/parts/1.h5"), 2, 4);
    Hdf5File(path).stack("/x", {"0.h5", "parts/1.h5"}, 2, 7, 13);
    EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
    Hdf5File(path).stack("/x", {"/nowhere/0.h5", "/nowhere/parts/1.h5"}, 2, 7, 13);
    EXPECT_EQ(read_frame(*format::open_frames(path), 1), pattern_frame<float>(1, {13, 7}))
        << "a moved source is found by its name";
}

TEST_F(Hdf5ExternalData, virtual_sources_in_other_folders_are_read_only_if_allowed) {
    const std::string other = folder.path("b/0.h5");
    write_frames(other, 0, 2);
    for (const std::string& named : {other, std::string("../b/0.h5")}) {
        Hdf5File(path).stack("/x", {named}, 2, 7, 13);
        refuses("has samples in another file, " + other + ": --allow-external allows this");
        EXPECT_TRUE(holds_pattern(*format::open_frames(path, allowed)));
    }
    std::filesystem::create_symlink(other, folder.path("a/linked.h5"));
    Hdf5File(path).stack("/x", {"linked.h5"}, 2, 7, 13);
    refuses("linked.h5: --allow-external allows this");
}

TEST_F(Hdf5ExternalData, virtual_sources_may_not_refer_to_further_files_unless_allowed) {
    fill_file(folder.path("secret"), std::string(182, 's'));
    Hdf5File(folder.path("a/0.h5"))
        .external("/d", {2, 7, 13}, H5T_STD_U8LE, folder.path("secret"), 182);
    Hdf5File(path).stack("/x", {"0.h5"}, 2, 7, 13);
    refuses("secret: --allow-external allows this");
    EXPECT_EQ(read_frame(*format::open_frames(path, allowed), 1),
              std::vector<float>(91, float{'s'}));
    Hdf5File(path).stack("/d", {"a.h5"}, 2, 7, 13);
    refuses("virtual datasets nested more than 8 levels deep");
}

TEST_F(Hdf5ExternalData, frames_with_a_missing_source_are_reported_as_unreadable) {
    write_frames(folder.path("a/0.h5"), 0, 2);
    write_frames(folder.path("a/2.h5"), 4, 6);
    Hdf5File(path).stack("/x", {"0.h5", "1.h5", "2.h5"}, 2, 7, 13);
    const auto source = format::open_frames(path);
    EXPECT_EQ(remarks(*source), "1 of 3 sources of samples are missing: 1.h5 is missing");
    for (const std::int64_t frame : {2, 3})
        EXPECT_EQ(reading_fails(*source, frame),
                  path + ": frame " + std::to_string(frame) + " has no samples: 1.h5 is missing");
    for (const std::int64_t frame : {0, 1, 4, 5})
        EXPECT_EQ(read_frame(*source, frame), pattern_frame<float>(frame, {13, 7})) << frame;
    std::filesystem::remove(folder.path("a/0.h5"));
    std::filesystem::remove(folder.path("a/2.h5"));
    refuses("dataset /x lacks samples, because all 3 of its sources are missing: 0.h5 is missing");
}

TEST_F(Hdf5ExternalData, frames_beyond_the_end_of_their_source_are_reported_as_unreadable) {
    write_frames(folder.path("a/0.h5"), 0, 1);
    write_frames(folder.path("a/1.h5"), 2, 4);
    Hdf5File(path).stack("/x", {"0.h5", "1.h5"}, 2, 7, 13);
    const auto source = format::open_frames(path);
    EXPECT_THAT(reading_fails(*source, 1),
                EndsWith("frame 1 has no samples: dataset d of 0.h5 is too small"));
    for (const std::int64_t frame : {0, 2, 3})
        EXPECT_EQ(read_frame(*source, frame), pattern_frame<float>(frame, {13, 7})) << frame;
}

TEST_F(Hdf5ExternalData, numbered_sources_are_read_up_to_the_first_missing_one) {
    for (const int number : {0, 1, 3})
        write_frames(folder.path("a/" + std::to_string(number) + ".h5"), 2 * number,
                     2 * number + 2);
    Hdf5File(path).growing_stack("/x", "%b.h5", 2, 7, 13);
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().frames, 4);
    EXPECT_TRUE(holds_pattern(*source));
    EXPECT_EQ(remarks(*source), "a source is missing: 4 of 8 positions along axis 0 are read");
    std::filesystem::remove(folder.path("a/3.h5"));
    EXPECT_EQ(remarks(*format::open_frames(path)), "");
    std::filesystem::remove(folder.path("a/0.h5"));
    std::filesystem::remove(folder.path("a/1.h5"));
    refuses("0.h5 is missing");
}

TEST_F(Hdf5ExternalData, virtual_data_without_sources_are_not_replaced_by_other_datasets) {
    for (const bool grows : {false, true}) {
        {
            Hdf5File file(path);
            file.dataset("/mask", {20, 30}, H5T_STD_U8LE, H5T_NATIVE_UINT8,
                         std::vector<std::uint8_t>(600));
            if (grows)
                file.growing_stack("/x", "%b.h5", 2, 7, 13);
            else
                file.stack("/x", {"0.h5"}, 2, 7, 13);
        }
        refuses("dataset /x lacks samples, because all 1 of its sources are missing: 0.h5 is "
                "missing; to read another dataset, append its name, such as " +
                path + "::/mask");
        write_frames(folder.path("a/0.h5"), 0, 2);
        EXPECT_EQ(format::open_frames(path + "::/x")->header().frames, 2);
        std::filesystem::remove(folder.path("a/0.h5"));
    }
}

TEST_F(Hdf5ExternalData, unwritten_samples_are_not_read_as_zeros) {
    Hdf5File(path).chunk("/x", {4, 7, 13}, H5T_STD_U8LE, {1, 7, 13}, {H5Z_FILTER_FLETCHER32}, "");
    refuses("dataset /x was never written");
    Hdf5File(path).chunk("/x", {4, 7, 13}, H5T_STD_U8LE, {1, 7, 13}, {H5Z_FILTER_FLETCHER32},
                         std::string(95, '\0'));
    EXPECT_EQ(remarks(*format::open_frames(path)),
              "3 of 4 chunks were never written: their samples have the fill value");
}

TEST_F(Hdf5ExternalData, a_missing_decompression_filter_is_named) {
    Hdf5File(path).chunk("/x", {7, 13}, H5T_STD_U8LE, {7, 13}, {32000}, "lzf");
    refuses("dataset /x is compressed by LZF (filter 32000), which is not installed for libhdf5");
    Hdf5File(path).chunk("/x", {7, 13}, H5T_STD_U8LE, {7, 13}, {32008}, "shuffled bits");
    refuses("bitshuffle (filter 32008)");
}

TEST_F(Hdf5ExternalData, a_chunk_larger_than_its_possible_decoded_size_is_refused) {
    const std::vector<hsize_t> sides{30000, 30000};
    Hdf5File(path).chunk("/x", sides, H5T_IEEE_F32LE, sides, {H5Z_FILTER_DEFLATE},
                         std::string(200000, 'x'));
    refuses("has chunks of 3600000000 bytes in a dataset that stores only 200000 bytes: damaged or "
            "truncated");
}

/// Number of decoded chunks, in memory shared with the reading process.
std::size_t* decoded = nullptr;
std::size_t count_and_copy(unsigned flags, std::size_t, const unsigned*, std::size_t bytes,
                           std::size_t*, void**) {
    if ((flags & H5Z_FLAG_REVERSE) != 0)
        ++*decoded;
    return bytes;
}

TEST_F(Hdf5ExternalData, a_chunk_of_many_rows_is_decoded_only_once) {
    decoded = static_cast<std::size_t*>(
        mmap(nullptr, sizeof *decoded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(decoded, MAP_FAILED);
    H5Z_class2_t filter{};
    filter.version = H5Z_CLASS_T_VERS;
    filter.id = 300;
    filter.encoder_present = filter.decoder_present = 1;
    filter.filter = count_and_copy;
    ASSERT_GE(H5Zregister(&filter), 0);
    const ImageShape shape{1500, 1100}; // 3.3 MB per frame
    const auto frame = pattern_frame<std::uint16_t>(0, shape);
    Hdf5File(path).chunk("/x", {1100, 1500}, H5T_STD_U16LE, {1100, 1500}, {filter.id},
                         {reinterpret_cast<const char*>(frame.data()), 2 * frame.size()});
    const auto source = format::open_frames(path);
    EXPECT_EQ(read_frame(*source, 0), pattern_frame<float>(0, shape));
    EXPECT_EQ(*decoded, 1U);
    EXPECT_EQ(read_rows(*source, 0, {500, 501})[3], pattern(0, 3, 500));
    EXPECT_EQ(*decoded, 1U);
    H5Zunregister(filter.id);
    munmap(decoded, sizeof *decoded);
}

} // namespace
} // namespace sextant::test
