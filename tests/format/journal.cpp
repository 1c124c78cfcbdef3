// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/journal.hpp"

#include "sextant/core/error.hpp"

#include "tests/format/file_size_limit.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace sextant::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::span<const std::byte> record_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> record) {
    return {reinterpret_cast<const char*>(record.data()), record.size()};
}

std::vector<std::string> records(const std::string& path) {
    std::vector<std::string> all;
    Journal journal = Journal::open(path);
    journal.visit([&](const RecordPlace& place, std::span<const std::byte> record) {
        all.push_back(text_of(record));
        EXPECT_EQ(text_of(journal.read(place)), all.back());
    });
    return all;
}

struct JournalOnDisk : testing::Test {
    void write(const std::vector<std::string>& texts) const {
        Journal journal = Journal::append_to(path, "of a test");
        for (const std::string& text : texts)
            journal.append(record_of(text));
    }
    TemporaryFolder folder;
    std::string path = folder.path("a.journal");
};

TEST_F(JournalOnDisk, returns_its_header_text_and_records_in_order) {
    write({"one", "", "three"});
    write({"four"});
    EXPECT_EQ(Journal::open(path).text(), "of a test");
    EXPECT_THAT(records(path), ElementsAre("one", "", "three", "four"));
}

TEST_F(JournalOnDisk, is_not_written_through_a_symbolic_link) {
    const std::string other = folder.path("precious");
    fill_file(other, "precious");
    std::filesystem::create_symlink(other, path);
    EXPECT_THAT([&] { write({"one"}); },
                ThrowsMessage<InvalidFile>(HasSubstr("is a symbolic link, which is not followed")));
    EXPECT_EQ(content(other), "precious");
}

TEST_F(JournalOnDisk, truncated_anywhere_keeps_earlier_records_and_can_be_continued) {
    write({"one", "two"});
    const std::string whole = content(path);
    for (std::size_t size = 0; size < whole.size();
         size += 3) { // in steps, because each write waits for the disk
        fill_file(path, whole.substr(0, size));
        const std::vector<std::string> kept = records(path);
        EXPECT_LT(kept.size(), 2U) << size;
        write({"next"});
        std::vector<std::string> expected = kept;
        expected.emplace_back("next");
        EXPECT_EQ(records(path), expected) << size;
        EXPECT_EQ(Journal::open(path).text(), "of a test") << size;
    }
}

TEST_F(JournalOnDisk, with_a_changed_byte_ends_before_the_damaged_record) {
    write({"one", "two", "three"});
    std::string bytes = content(path);
    bytes[bytes.find("two")] = 'T';
    fill_file(path, bytes);
    EXPECT_THAT(records(path), ElementsAre("one"));
}

TEST_F(JournalOnDisk, can_be_read_while_another_process_appends_to_it) {
    Journal writer = Journal::append_to(path, "of a test");
    Journal reader = Journal::open(path);
    int seen = 0;
    const auto count = [&](const RecordPlace&, std::span<const std::byte>) { ++seen; };
    reader.visit(count);
    EXPECT_EQ(seen, 0);
    writer.append(record_of("one"));
    writer.append(record_of("two"));
    reader.visit(count);
    EXPECT_EQ(seen, 2);
}

TEST_F(JournalOnDisk, can_have_only_one_writer) {
    const Journal writer = Journal::append_to(path, "of a test");
    EXPECT_THAT([&] { Journal::append_to(path, "of a test"); },
                ThrowsMessage<InvalidFile>(HasSubstr("is in use by another run")));
}

TEST_F(JournalOnDisk, refuses_files_that_are_not_journals) {
    fill_file(path, "something else altogether");
    EXPECT_THAT([&] { Journal::open(path); },
                ThrowsMessage<InvalidFile>(HasSubstr("not a journal")));
    EXPECT_THAT([&] { Journal::append_to(path, ""); },
                ThrowsMessage<InvalidFile>(HasSubstr("not a journal")));
    EXPECT_THAT([&] { Journal::open(folder.path("none")); },
                ThrowsMessage<InvalidFile>(HasSubstr("cannot be read")));
}

TEST_F(JournalOnDisk, must_be_a_regular_file) {
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    for (const std::string& other : {path, std::string("/dev/zero")}) {
        const auto refused = ThrowsMessage<InvalidFile>(other + ": is not a regular file");
        EXPECT_THAT([&] { Journal::open(other); }, refused);
        EXPECT_THAT([&] { Journal::append_to(other, "of a test"); }, refused);
    }
}

TEST_F(JournalOnDisk, reports_a_failed_append_and_keeps_its_records) {
    write({"one"});
    Journal journal = Journal::append_to(path, "of a test");
    const std::string large(1 << 16, 'x');
    {
        const FileSizeLimit limit(1 << 12);
        EXPECT_THAT([&] { journal.append(record_of(large)); },
                    ThrowsMessage<InvalidFile>(HasSubstr(path + ": cannot be written")));
    }
    EXPECT_THAT(records(path), ElementsAre("one"));
}

} // namespace
} // namespace sextant::test
