// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/format/catalogue.hpp"

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/format/file_size_limit.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const std::vector<std::string> names{"a.exr", "a.png", "a.rgba32f", "a.rgba32f.zst"};

/// A file system of 16 KiB, if the system allows tests to create one.
class SmallDisk {
  public:
    explicit SmallDisk(const std::string& folder) : folder_(folder) {
        mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=16k") == 0;
    }
    ~SmallDisk() {
        if (mounted_)
            umount(folder_.c_str());
    }
    bool mounted() const { return mounted_; }

  private:
    std::string folder_;
    bool mounted_ = false;
};

class Writing : public testing::Test {
  protected:
    TemporaryFolder folder;
    Image image = any_colours({397, 301}, 1); // larger than any buffer, even compressed
};

TEST_F(Writing, leaves_only_the_written_files_in_the_folder) {
    for (const std::string& name : names)
        format::write_image(folder.path(name), image);
    EXPECT_EQ(folder.entries(), 4);
}

TEST_F(Writing, into_a_missing_folder_fails_naming_it) {
    for (const std::string& name : names) {
        const std::string path = folder.path("none/" + name);
        EXPECT_EQ(failure([&] { format::write_image(path, image); }),
                  path + ": cannot be written: the folder " + folder.path("none") +
                      " does not exist");
    }
}

TEST_F(Writing, over_a_folder_fails) {
    std::filesystem::create_directory(folder.path("a.exr"));
    EXPECT_THAT(failure([&] { format::write_image(folder.path("a.exr"), image); }),
                EndsWith("a.exr: cannot be written: the path is a folder"));
}

TEST_F(Writing, interrupted_leaves_only_the_old_file) {
    for (const std::string& name : names) {
        const std::string path = folder.path(name);
        fill_file(path, "precious");
        const FileSizeLimit limit(10000);
        EXPECT_EQ(failure([&] { format::write_image(path, image); }),
                  path + ": cannot be written: File too large");
        EXPECT_EQ(content(path), "precious");
    }
    EXPECT_EQ(folder.entries(), 4);
}

/// True if the file system of a folder supports unnamed files.
bool knows_nameless_files(const std::string& folder) {
    const int file = open(folder.c_str(), O_WRONLY | O_TMPFILE, 0666);
    if (file >= 0)
        close(file);
    return file >= 0;
}

TEST_F(Writing, leaves_no_file_if_the_process_is_killed) {
    if (!knows_nameless_files(folder.path()))
        GTEST_SKIP() << "needs files without a name";
    AtomicFile file(folder.path("a.txt"));
    file.write(std::string(1 << 20, 'x'));
    EXPECT_EQ(folder.entries(), 0);
    file.commit();
    EXPECT_EQ(folder.entries(), 1);
    EXPECT_EQ(content(folder.path("a.txt")).size(), std::size_t{1} << 20);
}

TEST_F(Writing, can_be_checked_in_advance_without_creating_files) {
    fill_file(folder.path("old"), "old");
    require_writable(folder.path("new"));
    require_writable(folder.path("old"));
    require_writable("/dev/full");
    EXPECT_EQ(folder.entries(), 1);
    EXPECT_EQ(content(folder.path("old")), "old");
    EXPECT_THROW(require_writable(folder.path("nowhere/new")), InvalidFile);
    EXPECT_THROW(require_writable(folder.path()), InvalidFile);
}

TEST_F(Writing, to_a_full_disk_reports_the_error) {
    const SmallDisk disk(folder.path());
    if (!disk.mounted())
        GTEST_SKIP() << "needs the right to mount a file system";
    for (const std::string& name : names) {
        const std::string path = folder.path(name);
        fill_file(path, "precious");
        EXPECT_EQ(failure([&] { format::write_image(path, image); }),
                  path + ": cannot be written: No space left on device");
        EXPECT_EQ(content(path), "precious");
        EXPECT_EQ(folder.entries(), 1);
        std::filesystem::remove(path);
    }
}

TEST_F(Writing, to_a_full_device_reports_the_error_and_keeps_the_device) {
    EXPECT_EQ(failure([] { write_file("/dev/full", "text"); }),
              "/dev/full: cannot be written: No space left on device");
    write_file("/dev/null", "text");
    struct stat device {};
    ASSERT_EQ(stat("/dev/null", &device), 0);
    EXPECT_TRUE(S_ISCHR(device.st_mode));
}

TEST_F(Writing, into_a_folder_without_permission_fails) {
    if (geteuid() == 0)
        GTEST_SKIP() << "root may write anywhere";
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_exec);
    EXPECT_THAT(failure([&] { format::write_image(folder.path("a.exr"), image); }),
                EndsWith("cannot be written: Permission denied"));
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST_F(Writing, over_a_protected_file_fails) {
    if (geteuid() == 0)
        GTEST_SKIP() << "root may write anywhere";
    fill_file(folder.path("a.exr"), "precious");
    std::filesystem::permissions(folder.path("a.exr"), std::filesystem::perms::owner_read);
    EXPECT_THAT(failure([&] { format::write_image(folder.path("a.exr"), image); }),
                EndsWith("cannot be written: Permission denied"));
}

TEST_F(Writing, through_a_link_replaces_the_linked_file) {
    std::filesystem::create_directory(folder.path("real"));
    fill_file(folder.path("real/file"), "old");
    std::filesystem::create_symlink("real/file", folder.path("link"));
    write_file(folder.path("link"), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
    EXPECT_EQ(content(folder.path("real/file")), "new");
}

TEST_F(Writing, through_a_link_to_a_missing_file_creates_the_file) {
    std::filesystem::create_directory(folder.path("real"));
    std::filesystem::create_symlink("real/file", folder.path("link"));
    std::filesystem::create_symlink("link", folder.path("second"));
    write_file(folder.path("second"), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("second")));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
    EXPECT_EQ(content(folder.path("real/file")), "new");
    std::filesystem::create_symlink("none/file", folder.path("lost"));
    EXPECT_THAT(failure([&] { write_file(folder.path("lost"), "new"); }),
                EndsWith("none does not exist"));
    std::filesystem::create_symlink("loop", folder.path("loop"));
    EXPECT_THAT(failure([&] { write_file(folder.path("loop"), "new"); }),
                EndsWith("cannot be written: Too many levels of symbolic links"));
    for (const char* const link : {"lost", "loop"})
        EXPECT_TRUE(std::filesystem::is_symlink(folder.path(link)));
}

TEST_F(Writing, keeps_the_mode_of_the_replaced_file) {
    const auto mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    fill_file(folder.path("a"), "old");
    std::filesystem::permissions(folder.path("a"), mode);
    write_file(folder.path("a"), "new");
    EXPECT_EQ(std::filesystem::status(folder.path("a")).permissions(), mode);
}

TEST_F(Writing, with_the_longest_possible_name_works) {
    const std::string path = folder.path(std::string(251, 'x') + ".exr");
    format::write_image(path, image);
    EXPECT_TRUE(same_bits(format::read_image(path), image));
}

TEST_F(Writing, one_file_from_many_threads_leaves_one_complete_version) {
    const std::string path = folder.path("a");
    std::vector<std::thread> threads;
    for (char letter = 'a'; letter < 'i'; ++letter) {
        threads.emplace_back([&path, letter] {
            for (int i = 0; i < 20; ++i)
                write_file(path, std::string(300000, letter));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    const std::string left = content(path);
    EXPECT_EQ(left, std::string(300000, left.at(0)));
    EXPECT_EQ(folder.entries(), 1);
}

TEST_F(Writing, after_seeking_overwrites_data_and_commit_reports_earlier_failures) {
    AtomicFile file(folder.path("a"));
    file.write("abcdef");
    file.seek(2);
    file.write("XY");
    EXPECT_EQ(file.position(), 4);
    EXPECT_THAT(failure([&] { file.seek(-1); }), HasSubstr("Invalid argument"));
    EXPECT_THAT(failure([&] { file.commit(); }), HasSubstr("Invalid argument"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));

    AtomicFile good(folder.path("b"));
    good.write("abcdef");
    good.seek(2);
    good.write("XY");
    good.commit();
    EXPECT_EQ(content(folder.path("b")), "abXYef");
}

TEST_F(Writing, of_unsupported_pixels_fails) {
    const Image none({0, 5}, rgba_f32), other({2, 2}, ElementFormat{"labels", 4});
    for (const std::string& name : names) {
        const std::string path = folder.path(name);
        EXPECT_THAT(failure([&] { format::write_image(path, none); }),
                    HasSubstr("cannot hold 0×5 pixels, expected sides from 1 to "));
        EXPECT_EQ(failure([&] { format::write_image(path, other); }),
                  path + ": cannot hold pixels of labels, expected rgba f32 or rgba+depth f32");
    }
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
