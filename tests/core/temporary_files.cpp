// SPDX-License-Identifier: BSD-3-Clause
// Temporary files and folders of processes that were killed, and outputs that appear together.
#include "sextant/core/temporary_files.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

/// A process that runs `work` and then waits until it is killed.
class Child {
  public:
    explicit Child(const std::function<void()>& work) {
        std::array<int, 2> pipe_{};
        EXPECT_EQ(pipe(pipe_.data()), 0);
        process_ = fork();
        if (process_ == 0) {
            work();
            EXPECT_EQ(write(pipe_[1], "x", 1), 1);
            for (;;)
                pause();
        }
        close(pipe_[1]);
        char done = 0;
        EXPECT_EQ(read(pipe_[0], &done, 1), 1);
        close(pipe_[0]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { end(); }

    void end() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
        process_ = 0;
    }

  private:
    pid_t process_ = 0;
};

std::set<std::string> temporaries_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with(".sextant-"))
            names.insert(entry.path().filename().string());
    }
    return names;
}

/// Writes a file to the folder in a process of its own, because each looks once into a folder.
void write_in_new_process(const std::string& folder) {
    const pid_t process = fork();
    if (process == 0) {
        write_file(folder + "/out.txt", "text");
        _exit(0);
    }
    int status = 1;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(TemporaryNames, of_killed_processes_are_removed_by_the_next_one_that_writes_there) {
    const TemporaryFolder folder;
    const auto make_folder = [&] {
        auto* const made = new AtomicFolder(folder.path("out.zarr"), {});
        write_file(made->temporary() + "/.zgroup", "{}");
    };
    const auto make_file = [&] {
        const std::string name = new_temporary_name(folder.path());
        write_file(folder.path("x"), "");
        fs::rename(folder.path("x"), name);
        EXPECT_EQ(hold_temporary(name), Hold::held);
    };
    Child first(make_folder), second(make_folder), third(make_file);
    EXPECT_EQ(temporaries_in(folder.path()).size(), 3U);
    write_in_new_process(folder.path());
    EXPECT_EQ(temporaries_in(folder.path()).size(), 3U) << "those of running processes remain";
    second.end();
    write_in_new_process(folder.path());
    EXPECT_EQ(temporaries_in(folder.path()).size(), 2U);
    first.end();
    third.end();
    write_in_new_process(folder.path());
    EXPECT_THAT(temporaries_in(folder.path()), testing::IsEmpty());
}

TEST(TemporaryNames, of_other_hosts_and_other_files_remain) {
    const TemporaryFolder folder;
    const std::set<std::string> names = {
        ".sextant-00000000-00000000-999999999-0.tmp", // another boot
        ".sextant-999999999-0.tmp", ".sextant-notes.tmp", ".sextant-a-b-c-d-e.tmp"};
    for (const std::string& name : names)
        fs::create_directory(folder.path(name));
    write_in_new_process(folder.path());
    EXPECT_EQ(temporaries_in(folder.path()), names);
}

TEST(TemporaryNames, that_were_removed_before_they_are_held_are_noticed) {
    const TemporaryFolder folder;
    const std::string name = new_temporary_name(folder.path());
    EXPECT_EQ(hold_temporary(name), Hold::removed);
    fs::create_directory(name);
    EXPECT_EQ(hold_temporary(name), Hold::held);
    EXPECT_EQ(hold_temporary(name), Hold::removed) << "another one has the lock";
    release_temporary(name);
    EXPECT_EQ(hold_temporary(name), Hold::held);
    release_temporary(name);
}

TEST(JointCommit, makes_all_outputs_appear_or_none) {
    const TemporaryFolder folder;
    const std::string file = folder.path("a.txt"), store = folder.path("b.zarr");
    write_file(file, "old");
    for (const bool commits : {false, true}) {
        {
            JointCommit together;
            auto first = std::make_unique<AtomicFile>(file);
            first->write("new");
            first->commit();
            first.reset();
            AtomicFolder second(store, {});
            write_file(second.temporary() + "/.zgroup", "{}");
            EXPECT_TRUE(fs::exists(second.temporary() + "/.zgroup"));
            second.commit();
            EXPECT_EQ(fs::file_size(file), 3U);
            EXPECT_FALSE(fs::exists(store));
            if (commits)
                together.commit();
        }
        std::string text(3, ' ');
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> read(std::fopen(file.c_str(), "r"),
                                                             std::fclose);
        EXPECT_EQ(std::fread(text.data(), 1, 3, read.get()), 3U);
        EXPECT_EQ(text, commits ? "new" : "old");
        EXPECT_EQ(fs::exists(store + "/.zgroup"), commits);
        EXPECT_THAT(temporaries_in(folder.path()), testing::IsEmpty());
    }
    write_file(file, "now"); // at once again
    EXPECT_EQ(folder.entries(), 2);
}

} // namespace
} // namespace sextant
