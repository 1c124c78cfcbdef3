// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

#include "sextant/core/error.hpp"
#include "sextant/report/recording.hpp"

#include "tests/format/file_size_limit.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/report/otf2/archive_reader.hpp"
#include "tests/report/recordings.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::report {
namespace {

using test::Archive;
using test::ArchiveEvent;
using test::TemporaryFolder;

Archive written_and_read(const Recording& recording) {
    const TemporaryFolder folder;
    write_otf2(folder.path("run.otf2"), recording);
    EXPECT_EQ(folder.entries(), 1);
    return test::read_archive(folder.path("run.otf2"));
}

std::string kind_of(Activity activity, bool begins) {
    if (activity == Activity::send)
        return begins ? "isend" : "isend_complete";
    if (activity == Activity::receive)
        return begins ? "irecv_request" : "irecv";
    return begins ? "enter" : "leave";
}

/// Number of archive events that match the begin (or end) of a recorded event, with its attributes.
std::ptrdiff_t times_reported(const Archive& archive, const Recording& recording, std::size_t place,
                              bool begins) {
    const Event& event = recording.trace.events[place];
    const bool names_peer =
        is_message(event.activity) && begins == (event.activity == Activity::send);
    const auto bytes = static_cast<std::uint64_t>(event.elements * recording.element_size);
    return std::count_if(
        archive.events.begin(), archive.events.end(), [&](const ArchiveEvent& recorded) {
            return recorded.kind == kind_of(event.activity, begins) &&
                   recorded.time == otf2_time(begins ? event.begin : event.end) &&
                   archive.process_of.at(recorded.location) == static_cast<unsigned>(event.rank) &&
                   (is_message(event.activity) ? recorded.request == place
                                               : recorded.region == name(event.activity)) &&
                   (!names_peer ||
                    (archive.communicator.at(recorded.peer) == static_cast<unsigned>(event.peer) &&
                     recorded.length == bytes)) &&
                   recorded.described == begins &&
                   (!begins || (recorded.step == event.step && recorded.round == event.round &&
                                recorded.elements == static_cast<std::uint64_t>(event.elements)));
        });
}

void expect_all_reported(const Recording& recording) {
    const Archive archive = written_and_read(recording);
    EXPECT_EQ(archive.events.size(), 2 * recording.trace.events.size());
    for (std::size_t i = 0; i < recording.trace.events.size(); ++i) {
        for (const bool begins : {true, false})
            EXPECT_EQ(times_reported(archive, recording, i, begins), 1) << "event " << i;
    }
    for (std::size_t i = 0; i < archive.locations.size(); ++i) {
        const auto events =
            std::count_if(archive.events.begin(), archive.events.end(),
                          [&](const ArchiveEvent& event) { return event.location == i; });
        EXPECT_EQ(static_cast<std::uint64_t>(events), archive.events_of[i]);
    }
}

TEST(Otf2, ContainsEveryEventOnceWithItsTime) {
    expect_all_reported(test::relay());
    expect_all_reported(test::ring(1, 3)); // a rank that sends to itself
    expect_all_reported(test::ring(7, 40));
}

TEST(Otf2, IdentifiesMessagesByTheirTags) {
    const Recording recording = test::ring(5, 20);
    const Archive archive = written_and_read(recording);
    std::map<std::uint64_t, std::uint64_t> tags; // by request number
    for (const ArchiveEvent& event : archive.events) {
        if (event.kind == "isend" || event.kind == "irecv")
            tags[event.request] = event.tag;
    }
    const auto messages = messages_of(recording.trace);
    ASSERT_EQ(messages.size(), 100u);
    for (const Message& message : messages)
        EXPECT_EQ(tags.at(message.send), tags.at(message.receive));
}

TEST(Otf2, ContainsRanksAndClocks) {
    Recording recording = test::relay();
    recording.origin = Origin::simulated;
    recording.trace.duration = 40e-6; // longer than its last event
    recording.clocks = 2;
    const Archive archive = written_and_read(recording);
    EXPECT_EQ(archive.resolution, otf2_ticks);
    EXPECT_EQ(archive.offset, 0u);
    EXPECT_EQ(archive.length, 40'000'000u);
    const std::vector<std::string> ranks = {"rank 0", "rank 1", "rank 2"};
    EXPECT_EQ(archive.locations, ranks);
    EXPECT_EQ(archive.processes, ranks);
    EXPECT_EQ(archive.communicator, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(archive.properties.at("SEXTANT::ORIGIN"), "simulated");
    EXPECT_EQ(archive.properties.at("SEXTANT::ELEMENT_SIZE"), "4");
    EXPECT_EQ(archive.properties.at("SEXTANT::LENT"), "false");
    EXPECT_THAT(archive.properties.at("SEXTANT::CLOCKS"), testing::HasSubstr("cannot be compared"));
}

TEST(Otf2, PutsOverlappingWorkOnAdditionalLocations) {
    Recording recording{.name = "team", .ranks = 2, .trace = {}};
    recording.trace.events = {{0, 0, Activity::fold, 0, -1, 9, 0, 4e-6},
                              {0, 1, Activity::fold, 0, -1, 9, 1e-6, 5e-6},
                              {1, 0, Activity::copy, 0, -1, 9, 0, 1e-6}};
    expect_all_reported(recording);
    EXPECT_EQ(written_and_read(recording).locations,
              (std::vector<std::string>{"rank 0", "rank 1", "rank 0, overlapping"}));
}

TEST(Otf2, CanContainARunWithoutEvents) {
    const Archive archive =
        written_and_read({.name = "<nothing> \"\\\n\xc3\xa4", .ranks = 1, .trace = {}});
    EXPECT_EQ(archive.locations.size(), 1u);
    EXPECT_TRUE(archive.events.empty());
}

TEST(Otf2, ReplacesAnExistingArchive) {
    const TemporaryFolder folder;
    write_otf2(folder.path("run.otf2"), test::ring(9, 3));
    write_otf2(folder.path("run.otf2/"), test::relay());
    EXPECT_EQ(test::read_archive(folder.path("run.otf2")).locations.size(), 3u);
    EXPECT_EQ(folder.entries(), 1);
}

TEST(Otf2, LeavesNothingIfItCannotBeWritten) {
    const TemporaryFolder folder;
    const std::string path = folder.path("run.otf2");
    for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{20'000}}) {
        const test::FileSizeLimit full(limit);
        try {
            write_otf2(path, test::ring(3, 2000));
            FAIL() << limit;
        } catch (const InvalidFile& refusal) {
            EXPECT_THAT(refusal.what(), testing::HasSubstr("run.otf2: cannot be written"));
        }
        EXPECT_EQ(folder.entries(), 0) << limit;
    }
    write_otf2(path, test::relay()); // the library is still usable
    EXPECT_EQ(test::read_archive(path).events.size(), 18u);
    test::fill_file(path + "/diary", "mine");
    EXPECT_THROW(write_otf2(path, test::relay()), InvalidFile);
    EXPECT_THROW(require_otf2(path), InvalidFile);
    EXPECT_EQ(test::content(path + "/diary"), "mine");
    EXPECT_THROW(require_otf2(folder.path("none/run.otf2")), InvalidFile);
}

} // namespace
} // namespace sextant::report
