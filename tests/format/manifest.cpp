// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/manifest.hpp"

#include <string>

#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Manifest : public testing::Test {
  protected:
    Manifest() {
        for (const char* name : {"partial_0.rgba32f.zst", "partial_1.rgba32f.zst",
                                 "partial_0.rgbaz32f.zst", "b.exr"}) {
            fill_file(folder.path(name), "");
        }
    }
    format::Partials read(const std::string& json) const {
        fill_file(path, json);
        return format::read_manifest(path);
    }
    /// The error message without the path at its start.
    std::string fails(const std::string& json) const {
        const std::string message = failure([&] { read(json); });
        EXPECT_THAT(message, StartsWith(path + ": "));
        return message.substr(std::min(message.size(), path.size() + 2));
    }
    /// The error message for a manifest with these values of size, order and bricks.
    std::string fails(const std::string& its_size, const std::string& its_order,
                      const std::string& its_bricks) const {
        return fails("{\"size\": " + its_size + ", \"order_front_to_back\": " + its_order +
                     ", \"bricks\": " + its_bricks + "}");
    }
    void refuses(const std::string& json, const std::string& text) const {
        EXPECT_THAT(fails(json), StartsWith(text));
    }
    void refuses(const std::string& its_size, const std::string& its_order,
                 const std::string& its_bricks, const std::string& text) const {
        EXPECT_THAT(fails(its_size, its_order, its_bricks), StartsWith(text));
    }

    TemporaryFolder folder;
    std::string path = folder.path("scene.json");
    std::string size = "[7, 5]", order = "[1, 0]", bricks = R"([{"id": 0}, {"id": 1}])";
};

TEST_F(Manifest, requires_only_size_order_and_bricks) {
    const auto partials = read(R"({"size": [7, 5], "order_front_to_back": [1, 0],
                                   "bricks": [{"id": 1}, {"id": 0}]})");
    EXPECT_EQ(partials.shape, (ImageShape{7, 5}));
    EXPECT_EQ(partials.element, rgba_f32);
    EXPECT_THAT(partials.order, ElementsAre(1, 0));
    EXPECT_THAT(partials.paths, ElementsAre(folder.path("partial_0.rgba32f.zst"),
                                            folder.path("partial_1.rgba32f.zst")));
}

TEST_F(Manifest, accepts_other_file_names_and_ignores_unknown_fields) {
    const auto partials = read(R"({"version": 1, "camera": {"up": [0, 1, 0]}, "size": [7, 5],
        "format": "floats", "order_front_to_back": [0, 1],
        "bricks": [{"id": 0, "file": "b.exr", "dist": 7.5}, {"id": 1}]})");
    EXPECT_EQ(partials.paths[0], folder.path("b.exr"));
}

TEST_F(Manifest, of_images_with_depth_needs_no_order) {
    const auto partials = read(R"({"size": [7, 5], "element": "rgba+depth f32",
                                   "bricks": [{"id": 0}, {"id": 1, "file": "b.exr"}]})");
    EXPECT_EQ(partials.element, rgba_depth_f32);
    EXPECT_THAT(partials.order, ElementsAre(0, 1));
    EXPECT_EQ(partials.paths[0], folder.path("partial_0.rgbaz32f.zst"));
}

TEST_F(Manifest, is_read_back_as_written) {
    format::Partials partials{{7, 5},
                              rgba_depth_f32,
                              {folder.path("b.exr"), folder.path("partial_0.rgbaz32f.zst")},
                              {1, 0}};
    format::write_manifest(path, partials);
    EXPECT_THAT(content(path), HasSubstr(R"("file": "b.exr")"));
    const auto read = format::read_manifest(path);
    EXPECT_EQ(read.header(), partials.header());
    EXPECT_EQ(read.paths, partials.paths);
    EXPECT_EQ(read.order, partials.order);
}

TEST_F(Manifest, is_not_written_if_it_could_not_be_read) {
    const format::Partials partials{{7, 5}, rgba_f32, {folder.path("b.exr")}, {1}};
    EXPECT_THAT(failure([&] { format::write_manifest(path, partials); }),
                HasSubstr("order_front_to_back[0] is 1, expected the id of a brick from 0 to 0"));
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Manifest, is_recognised_by_its_extension) {
    EXPECT_TRUE(format::is_manifest("a/scene.json"));
    EXPECT_TRUE(format::is_manifest("SCENE.JSON"));
    EXPECT_FALSE(format::is_manifest("scene.exr"));
}

TEST_F(Manifest, with_an_invalid_size_is_rejected) {
    refuses("{}", "size is missing");
    refuses("7", order, bricks, "size is 7");
    refuses("[7]", order, bricks, "size is an array of 1, expected [width, height] in pixels");
    const std::string range = ", expected a width in pixels from 1 to 17179869184";
    refuses("[-7, 5]", order, bricks, "size[0] is -7" + range);
    refuses("[0, 5]", order, bricks, "size[0] is 0" + range);
    refuses("[7.5, 5]", order, bricks, "size[0] is 7.5" + range);
    refuses("[\"7\", 5]", order, bricks, "size[0] is \"7\"" + range);
    refuses("[18446744073709551615, 5]", order, bricks, "size[0] is 18446744073709551615" + range);
    refuses("[7, null]", order, bricks,
            "size[1] is null, expected a height in pixels from 1 to 17179869184");
}

TEST_F(Manifest, of_an_impossibly_large_size_is_rejected) {
    refuses("[17179869184, 17179869184]", order, bricks,
            "size is 17179869184×17179869184, expected at most 17179869184 pixels");
    refuses("[131072, 131073]", order, bricks,
            "size is 131072×131073, expected at most 17179869184 pixels");
}

TEST_F(Manifest, with_an_unknown_element_is_rejected) {
    refuses(R"({"size": [7, 5], "element": "rgb8"})",
            R"(element is "rgb8", expected "rgba f32" or "rgba+depth f32")");
    refuses(R"({"size": [7, 5], "format": 3})", "format is 3");
}

TEST_F(Manifest, with_an_order_that_is_not_a_permutation_is_rejected) {
    refuses("{\"size\": [7, 5], \"bricks\": " + bricks + "}", "order_front_to_back is missing");
    refuses(size, "3", bricks, "order_front_to_back is 3");
    refuses(size, "[0]", bricks, "order_front_to_back has 1 numbers, expected 2, one per brick");
    refuses(size, "[1, 1]", bricks,
            "order_front_to_back[1] is 1, the same as order_front_to_back[0]");
    refuses(size, "[0, 2]", bricks,
            "order_front_to_back[1] is 2, expected the id of a brick from 0 to 1");
    refuses(size, "[0, \"1\"]", bricks,
            "order_front_to_back[1] is \"1\", expected the id of a brick from 0 to 1");
}

TEST_F(Manifest, with_invalid_bricks_is_rejected) {
    refuses(R"({"size": [7, 5]})", "bricks is missing");
    refuses(size, order, "{}", "bricks is an object of 0");
    refuses(size, order, "[]", "bricks is empty, expected one or more partial images");
    refuses(size, order, "[0, 1]", "bricks[0] is 0");
    refuses(size, order, R"([{"id": 0}, {"name": 1}])", "bricks[1].id is missing");
    refuses(size, order, R"([{"id": 0}, {"id": 0}])",
            "bricks[1].id is 0, the same as bricks[0].id");
    refuses(size, order, R"([{"id": 0}, {"id": 7}])",
            "bricks[1].id is 7, expected the number of a partial image from 0 to 1");
}

TEST_F(Manifest, with_invalid_file_names_is_rejected) {
    refuses(size, order, R"([{"id": 0}, {"id": 1, "file": 5}])",
            "bricks[1].file is 5, expected the name of an image file");
    EXPECT_THAT(
        fails(size, order, R"([{"id": 0}, {"id": 1, "file": "a.jpg"}])"),
        testing::AllOf(StartsWith("bricks[1].file: "), HasSubstr("a.jpg"), HasSubstr(".exr")));
    refuses(size, order, R"([{"id": 0}, {"id": 1, "file": "c.exr"}])",
            "partial image 1 is " + folder.path("c.exr") + ", which does not exist");
    std::filesystem::create_directory(folder.path("d.exr"));
    refuses(size, order, R"([{"id": 0}, {"id": 1, "file": "d.exr"}])",
            "partial image 1 is " + folder.path("d.exr") + ", which is not a file");
}

TEST_F(Manifest, that_is_missing_or_a_folder_is_rejected) {
    EXPECT_EQ(failure([&] { format::read_manifest(path); }), path + ": no such file");
    EXPECT_EQ(failure([&] { format::read_manifest(folder.path()); }),
              folder.path() + ": is a folder, expected a file");
}

} // namespace
} // namespace sextant::test
