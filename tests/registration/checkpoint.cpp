// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/checkpoint.hpp"

#include "sextant/core/error.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::registration {
namespace {

using testing::HasSubstr;

const Checkpoint::Identity identity = {{"model", "rigid"}, {"stages", "2"}};

EntryName link(std::int64_t frame) {
    return {Work::link, 0, frame - 1, 0, frame};
}

void keep(Checkpoint& checkpoint, std::int64_t frame, std::uint64_t value) {
    checkpoint.keep(link(frame), std::as_bytes(std::span(&value, 1)));
}

std::optional<std::uint64_t> find(Checkpoint& checkpoint, std::int64_t frame) {
    const auto bytes = checkpoint.find(link(frame));
    if (!bytes)
        return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
}

class CheckpointFiles : public testing::Test {
  protected:
    std::string refusal(const Checkpoint::Identity& other) const {
        return test::message_of<InvalidTask>([&] { Checkpoint::check(folder.path(), other); });
    }
    test::TemporaryFolder folder;
};

TEST_F(CheckpointFiles, are_found_by_any_rank_of_the_next_run) {
    {
        Checkpoint first(folder.path(), 0, identity), second(folder.path(), 1, identity);
        keep(first, 1, 11);
        keep(second, 2, 22);
        EXPECT_EQ(find(first, 2), std::nullopt);
        first.refresh();
        EXPECT_EQ(find(first, 2), 22U);
    }
    Checkpoint next(folder.path(), 3, identity);
    EXPECT_EQ(next.size(), 2U);
    EXPECT_EQ(find(next, 1), 11U);
    EXPECT_EQ(find(next, 2), 22U);
    EXPECT_EQ(find(next, 3), std::nullopt);
    keep(next, 2, 33);
    EXPECT_EQ(find(next, 2), 33U); // the last record for a key is valid
}

TEST_F(CheckpointFiles, truncated_anywhere_keep_their_complete_records) {
    {
        Checkpoint first(folder.path(), 0, identity);
        keep(first, 1, 11);
        keep(first, 2, 22);
    }
    const std::string path = folder.path("checkpoint.0");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    Checkpoint next(folder.path(), 0, identity);
    EXPECT_EQ(find(next, 1), 11U);
    EXPECT_EQ(find(next, 2), std::nullopt);
    keep(next, 2, 22);
    EXPECT_EQ(find(next, 2), 22U);
}

TEST_F(CheckpointFiles, of_another_run_are_refused_naming_the_difference_and_are_kept) {
    { Checkpoint first(folder.path(), 0, identity); }
    EXPECT_THAT(
        refusal({{"model", "rigid"}, {"stages", "3"}}),
        HasSubstr("whose stages is 2, expected 3; use another folder, or the option restart"));
    EXPECT_THAT(refusal({{"model", "rigid"}, {"stages", "2"}, {"shape", "8x8"}}),
                HasSubstr("whose shape is not stated, expected 8x8"));
    EXPECT_EQ(refusal(identity), "");
    EXPECT_EQ(folder.entries(), 1);
    Checkpoint::remove(folder.path());
    EXPECT_EQ(folder.entries(), 0);
}

TEST_F(CheckpointFiles, of_one_rank_allow_only_one_writer) {
    const Checkpoint first(folder.path(), 0, identity);
    EXPECT_THROW(Checkpoint(folder.path(), 0, identity), InvalidFile);
}

} // namespace
} // namespace sextant::registration
