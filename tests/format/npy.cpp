// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/npy.hpp"

#include "sextant/core/error.hpp"

#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

#include "tests/format/temporary_folder.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::format {
namespace {

using testing::HasSubstr;

std::string npy(const std::string& dictionary, std::size_t bytes, char version = 1) {
    std::string header = dictionary + "\n";
    std::string file = std::string("\x93NUMPY") + version + '\0';
    const auto size = static_cast<char>(header.size());
    file += version == 1 ? std::string{size, '\0'} : std::string{size, '\0', '\0', '\0'};
    file += header;
    for (std::size_t i = 0; i < bytes; ++i)
        file += static_cast<char>(i);
    return file;
}

class Npy : public testing::Test {
  protected:
    std::unique_ptr<RowSource> opened(const std::string& content) {
        test::fill_file(path, content);
        return open_npy(path);
    }
    std::string refusal(const std::string& content) {
        try {
            opened(content);
        } catch (const InvalidFile& error) {
            return error.what();
        }
        return "accepted";
    }
    test::TemporaryFolder folder;
    std::string path = folder.path("image.npy");
};

TEST_F(Npy, rows_are_read_in_any_order_of_every_sample_that_filters_take) {
    const auto source =
        opened(npy("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4)}", 24));
    EXPECT_EQ(source->shape(), (ImageShape{4, 3}));
    EXPECT_EQ(source->element(), gray_u16);
    std::vector<std::byte> row(8), two(16);
    source->read(2, 1, row);
    EXPECT_EQ(row[0], std::byte{16});
    source->read(0, 2, two);
    EXPECT_EQ(two[0], std::byte{0});
    EXPECT_EQ(two[15], std::byte{15});
    EXPECT_EQ(
        opened(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), }", 1))->element(),
        gray_u8);
    EXPECT_EQ(
        opened(npy("{\"descr\":\"<f4\",\"shape\":(2,1),\"fortran_order\":False}", 8, 2))->element(),
        gray_f32);
    EXPECT_THROW(source->read(2, 2, two), std::logic_error);
}

TEST_F(Npy, what_is_no_gray_image_of_such_samples_is_refused) {
    const auto of = [](const char* type, const char* shape) {
        return npy(
            fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({})}}", type, shape),
            8);
    };
    EXPECT_THAT(refusal(of(">u2", "2, 2")), HasSubstr("samples of type '>u2'"));
    EXPECT_THAT(refusal(of("<f8", "1, 1")), HasSubstr("samples of type '<f8'"));
    EXPECT_THAT(refusal(of("|u1", "8,")), HasSubstr("shape (8,), expected two dimensions"));
    EXPECT_THAT(refusal(of("|u1", "2, 2, 2")), HasSubstr("expected two dimensions"));
    EXPECT_THAT(refusal(of("|u1", "0, 8")), HasSubstr("0"));
    EXPECT_THAT(refusal(of("|u1", "999999999999999999, 999999999999999999")),
                testing::Not("accepted"));
    EXPECT_THAT(refusal(of("|u1", "3, 3")), HasSubstr("expected"));
    EXPECT_THAT(refusal(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 4)}", 8)),
                HasSubstr("column by column"));
    EXPECT_THAT(refusal(npy("{'descr': '|u1', 'fortran_order': False}", 8)), HasSubstr("no shape"));
    EXPECT_THAT(refusal("\x93NUMPY\x09 and more than ten bytes"), HasSubstr("version 9"));
    EXPECT_THAT(refusal("P5 4 4 255 and so on"), HasSubstr("no NumPy file"));
    EXPECT_THAT(refusal(""), HasSubstr("no NumPy file"));
}

TEST_F(Npy, of_any_length_shorter_than_the_whole_is_refused) {
    const std::string whole = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4)}", 8);
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length;
}

TEST_F(Npy, that_shrinks_while_it_is_read_is_an_error_that_names_the_row) {
    const auto source =
        opened(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (5000, 100)}", 500000));
    std::vector<std::byte> row(100);
    source->read(0, 1, row);
    std::filesystem::resize_file(path, 300000);
    try {
        source->read(4000, 1, row);
        FAIL() << "read what is not there";
    } catch (const InvalidFile& error) {
        EXPECT_THAT(error.what(), HasSubstr("ends in row 4000, expected 5000 rows"));
    }
}

TEST_F(Npy, planes_are_written_in_any_order_and_appear_when_they_are_whole) {
    std::vector<float> values(2 * 3 * 4);
    std::iota(values.begin(), values.end(), 0.F);
    const std::span<const float> all(values);
    {
        const auto sink = create_npy(path, 2, {4, 3});
        for (const int row : {2, 0, 1}) {
            for (const int plane : {1, 0})
                sink->write(plane, row,
                            all.subspan(static_cast<std::size_t>(12 * plane + 4 * row), 4));
        }
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_THROW(sink->write(2, 0, all.first(4)), std::logic_error);
        EXPECT_THROW(sink->write(0, 3, all.first(4)), std::logic_error);
        sink->commit();
    }
    const auto size = std::filesystem::file_size(path);
    EXPECT_EQ((size - 2 * 3 * 4 * 4) % 64, 0u);
    { // one plane has two dimensions, and is read again
        const auto sink = create_npy(path, 1, {4, 6});
        sink->write(0, 0, all);
        sink->commit();
    }
    const auto source = open_npy(path);
    EXPECT_EQ(source->shape(), (ImageShape{4, 6}));
    std::vector<float> again(24);
    source->read(0, 6, std::as_writable_bytes(std::span(again)));
    EXPECT_EQ(again, values);
}

TEST_F(Npy, that_was_not_finished_leaves_nothing) {
    create_npy(path, 1, {4, 6});
    EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
} // namespace sextant::format
