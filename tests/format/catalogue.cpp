// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/catalogue.hpp"

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace sextant::test {
namespace {

TEST(FormatCatalogue, finds_a_format_by_its_extension_in_any_case) {
    EXPECT_EQ(format::format_of("a.exr").name, "OpenEXR");
    EXPECT_EQ(format::format_of("folder.png/A.EXR").name, "OpenEXR");
    EXPECT_EQ(format::format_of("a.exr.PNG").name, "PNG");
    EXPECT_EQ(format::format_of("a.rgba32f").name, "raw RGBA");
    EXPECT_EQ(format::format_of("a.rgba32f.zst").name, "zstd");
}

TEST(FormatCatalogue, lists_known_formats_in_the_error_for_an_unknown_format) {
    const std::string known = "expected one of .exr, .png, .rgba32f, .rgbaz32f, .zst";
    EXPECT_EQ(failure([] { format::format_of("a.jpg"); }),
              "a.jpg: is not in a known image format: its extension is \".jpg\", " + known);
    EXPECT_EQ(failure([] { format::format_of("exr"); }),
              "exr: is not in a known image format: its extension is \"\", " + known);
    EXPECT_EQ(failure([] { format::write_image("", Image()); }),
              ": is not in a known image format: its extension is \"\", " + known);
}

TEST(FormatCatalogue, has_complete_rows) {
    for (const format::Format& format : format::catalogue()) {
        EXPECT_FALSE(format.name.empty() || format.summary.empty()) << format.extension;
        EXPECT_TRUE(format.extension.starts_with('.')) << format.name;
        EXPECT_TRUE(format.read_header && format.read_pixels) << format.name;
    }
}

TEST(FormatCatalogue, refuses_paths_that_are_not_files) {
    const TemporaryFolder folder;
    for (const std::string extension : {".exr", ".png", ".rgba32f", ".zst"}) {
        const std::string path = folder.path("a" + extension);
        const auto reading_fails = [&] { return failure([&] { format::read_image(path); }); };
        EXPECT_EQ(reading_fails(), path + ": no such file");
        std::filesystem::create_directory(path);
        EXPECT_EQ(reading_fails(), path + ": is a folder, expected a file");
        std::filesystem::remove(path);
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
        EXPECT_EQ(reading_fails(), path + ": is not a regular file")
            << "reading must not wait for a pipe";
        std::filesystem::remove(path);
    }
}

TEST(FormatCatalogue, reads_pixels_only_into_memory_of_their_exact_size) {
    const TemporaryFolder folder;
    for (const std::string extension : {".exr", ".png", ".rgba32f", ".rgba32f.zst"}) {
        const std::string path = folder.path("a" + extension);
        fill_file(folder.path("manifest.json"), R"({"size": [3, 2]})");
        format::write_image(path, any_colours({3, 2}, 1));
        Image small({3, 1}, rgba_f32);
        const auto header = format::read_header(path);
        EXPECT_THROW(format::read_pixels(path, header, small.bytes()), std::logic_error) << path;
    }
}

} // namespace
} // namespace sextant::test
