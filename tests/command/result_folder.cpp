// SPDX-License-Identifier: BSD-3-Clause
// Results of an earlier run in the same folder are recognised, and only these are removed.
#include "sextant/command/register/result_folder.hpp"

#include "sextant/command/series/transforms.hpp"

#include <chrono>
#include <filesystem>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ResultFolder : public testing::Test {
  protected:
    void write_transforms(std::vector<std::string> files) {
        SeriesTransforms all;
        all.series = "movie.mrc";
        all.model = "rigid";
        all.shape = {64, 48};
        all.frames.resize(2);
        all.frames[1].frame = 1;
        all.files = std::move(files);
        std::string text;
        write_json(all, [&](std::string_view part) { text += part; });
        test::fill_file(folder.path("transforms.json"), text);
    }
    void write(const std::string& name, const std::string& text = "samples") {
        test::fill_file(folder.path(name), text);
    }
    std::vector<std::string> earlier() {
        std::vector<std::string> names;
        for (const std::string& path : results_of_earlier_run(folder.path()))
            names.push_back(std::filesystem::path(path).filename().string());
        return names;
    }

    test::TemporaryFolder folder;
};

TEST_F(ResultFolder, knows_the_files_that_the_earlier_run_listed) {
    write("average.tif");
    write("mine.tif");
    write_transforms({"average.tif", "median.tif", "transforms.json"});
    EXPECT_THAT(earlier(), UnorderedElementsAre("average.tif", "transforms.json"));
}

TEST_F(ResultFolder, knows_the_usual_names_of_a_run_that_listed_none) {
    write("average.mrc");
    write("fields.npy");
    write("mine.npy");
    write_transforms({});
    EXPECT_THAT(earlier(), UnorderedElementsAre("average.mrc", "fields.npy", "transforms.json"));
}

TEST_F(ResultFolder, holds_no_results_without_transforms_of_a_run) {
    write("average.tif");
    EXPECT_THAT(earlier(), IsEmpty());
    write("transforms.json", "{\"kind\": \"other\",\n \"frames\": []}");
    EXPECT_THAT(earlier(), IsEmpty());
    write("transforms.json", "not JSON,\n \"frames\": [");
    EXPECT_THAT(earlier(), IsEmpty());
}

TEST_F(ResultFolder, leaves_files_that_were_changed_after_the_run) {
    write("average.tif");
    write("median.tif");
    write_transforms({"average.tif", "median.tif"});
    std::filesystem::last_write_time(
        folder.path("median.tif"),
        std::filesystem::last_write_time(folder.path("transforms.json")) + std::chrono::hours(1));
    EXPECT_THAT(earlier(), ElementsAre("average.tif"));
}

TEST_F(ResultFolder, knows_pages_and_json_files_by_their_content) {
    write("page.html", "<meta name=\"generator\" content=\"Sextant\"/>");
    write("notes.html", "<p>mine</p>");
    write("run.json", "{\n  \"operation\": \"register\"}");
    write("settings.json", "{}");
    write_transforms({"page.html", "notes.html", "run.json", "settings.json"});
    EXPECT_THAT(earlier(), UnorderedElementsAre("page.html", "run.json"));
}

TEST_F(ResultFolder, ignores_listed_names_of_other_folders) {
    std::filesystem::create_directory(folder.path("inner"));
    write("inner/a.tif");
    write("a.tif");
    std::filesystem::create_symlink(folder.path("a.tif"), folder.path("link.tif"));
    write_transforms({"inner/a.tif", "../a.tif", "..", ".", "/etc/passwd", "inner", "link.tif"});
    EXPECT_THAT(earlier(), IsEmpty());
}

TEST_F(ResultFolder, loses_only_files_that_the_new_run_does_not_write) {
    for (const char* name : {"average.tif", "average.npy", "mine"})
        write(name);
    remove_stale({folder.path("average.tif"), folder.path("average.npy"), folder.path("gone")},
                 {folder.path("./average.npy")});
    EXPECT_FALSE(std::filesystem::exists(folder.path("average.tif")));
    EXPECT_TRUE(std::filesystem::exists(folder.path("average.npy")));
    EXPECT_TRUE(std::filesystem::exists(folder.path("mine")));
}

TEST_F(ResultFolder, names_the_files_in_it) {
    EXPECT_THAT(names_in(folder.path() + "/", {folder.path("a.tif"), folder.path("./b.html"), "-",
                                               folder.path("inner/c"), "/d.json"}),
                ElementsAre("a.tif", "b.html"));
}

} // namespace
} // namespace sextant::command
