// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/report/recording.hpp"

#include "tests/report/markup.hpp"
#include "tests/report/recordings.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal_of(const std::string& text) {
    return test::message_of<InvalidFile>([&] { parse_trace(text, "run.json"); });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

/// Expects a trace in which `what` is replaced to be refused with this text.
void refuses(const std::string& what, const std::string& by, const std::string& message) {
    EXPECT_THAT(refusal_of(replaced(to_json(test::relay()), what, by)), HasSubstr(message)) << by;
}

void expect_same(const Event& a, const Event& b) {
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.activity, b.activity);
    EXPECT_EQ(a.round, b.round);
    EXPECT_EQ(a.peer, b.peer);
    EXPECT_EQ(a.elements, b.elements);
    EXPECT_NEAR(a.begin, b.begin, 1e-15);
    EXPECT_NEAR(a.end, b.end, 1e-15);
}

TEST(TraceFile, written_traces_are_read_back) {
    Recording written = test::relay();
    written.origin = Origin::simulated;
    written.clocks = 2;
    written.aligned = {{0, 0, 0, 0}, {2, 0, -1.5, 3e-6}};
    written.lent = true;
    const Recording read = parse_trace(to_json(written), "run.json");
    EXPECT_EQ(read.title(), "relay (simulated)");
    EXPECT_EQ(read.ranks, 3);
    EXPECT_EQ(read.element_size, 4);
    EXPECT_EQ(read.clocks, 2);
    ASSERT_EQ(read.aligned.size(), 2u);
    EXPECT_EQ(read.aligned[1].first_rank, 2);
    EXPECT_EQ(read.aligned[1].offset, -1.5);
    EXPECT_EQ(read.aligned[1].uncertainty, 3e-6);
    EXPECT_TRUE(read.lent);
    EXPECT_NEAR(read.trace.duration, written.trace.duration, 1e-15);
    ASSERT_EQ(read.trace.events.size(), written.trace.events.size());
    for (const Event& event : read.trace.events) { // files store messages first
        const auto same = std::find_if(
            written.trace.events.begin(), written.trace.events.end(), [&](const Event& other) {
                return other.rank == event.rank && other.step == event.step &&
                       other.activity == event.activity;
            });
        ASSERT_NE(same, written.trace.events.end());
        expect_same(event, *same);
    }
}

TEST(TraceFile, messages_are_arrows_and_overlapping_ones_have_separate_tracks) {
    Recording recording = test::relay();
    // A message without a receive.
    recording.trace.events.push_back({0, 2, Activity::send, 0, 2, 8, 11e-6, 13e-6});
    const std::string json = to_json(recording);
    EXPECT_EQ(test::occurrences(json, "\"ph\": \"s\""), 2);
    EXPECT_EQ(test::occurrences(json, "\"ph\": \"f\""), 2);
    EXPECT_EQ(test::occurrences(json, "\"ph\": \"X\""), 10);
    EXPECT_EQ(test::occurrences(json, "\"name\": \"send\", \"pid\": 0, \"tid\": 1"), 1);
    EXPECT_EQ(test::occurrences(json, "\"name\": \"send\", \"pid\": 0, \"tid\": 2"), 1);
}

TEST(TraceFile, a_run_without_events_is_a_valid_trace) {
    Recording recording{.name = "nothing", .ranks = 1, .trace = {}};
    EXPECT_TRUE(parse_trace(to_json(recording), "run.json").trace.events.empty());
}

TEST(TraceFile, names_may_contain_any_characters) {
    Recording recording = test::relay();
    recording.name = "\"<script>alert(1)</script>&\\\n";
    const std::string json = to_json(recording);
    EXPECT_THAT(json, Not(HasSubstr("<script>")));
    EXPECT_EQ(parse_trace(json, "run.json").name, recording.name);
}

TEST(TraceFile, other_files_are_refused_with_the_reason) {
    EXPECT_THAT(refusal_of(" \n"), HasSubstr("run.json: is empty, expected a trace"));
    for (const char* other : {"{}", "[]", "3", "{\"traceEvents\": []}",
                              "{\"otherData\": {}, \"traceEvents\": []}", "{\"otherData\": 3}"})
        EXPECT_THAT(refusal_of(other), HasSubstr("otherData.sextant_trace is missing")) << other;
}

TEST(TraceFile, events_are_a_list_even_if_it_is_empty) {
    const std::string empty = to_json(Recording{.name = "idle", .ranks = 2});
    EXPECT_TRUE(parse_trace(empty, "run.json").trace.events.empty());
    const std::size_t list = empty.find("\"traceEvents\": [");
    ASSERT_NE(list, std::string::npos);
    for (const std::string other :
         {"\"traceEvents\": 5}", "\"traceEvents\": {\"ph\": 1}}", "\"events\": []}"})
        EXPECT_THAT(refusal_of(empty.substr(0, list) + other),
                    AnyOf(HasSubstr("expected an array"), HasSubstr("traceEvents is missing")))
            << other;
}

TEST(TraceFile, a_trace_truncated_anywhere_is_refused) {
    const std::string whole = to_json(test::relay());
    for (std::size_t length :
         {whole.size() - 3, whole.size() / 2, whole.size() / 3, std::size_t{40}})
        EXPECT_THAT(refusal_of(whole.substr(0, length)),
                    HasSubstr("unexpected end of the text: the file is truncated"))
            << length;
}

TEST(TraceFile, a_clock_that_ran_backwards_is_reported) {
    refuses("\"dur\": 4", "\"dur\": -4", "us: a clock ran backwards");
}

TEST(TraceFile, impossible_values_are_reported) {
    refuses("\"name\": \"send\"", "\"name\": \"sing\"",
            "name is \"sing\", expected one of \"send\", ");
    refuses("\"ranks\": 3", "\"ranks\": 2", "an event of rank 2, but otherData.ranks is 2");
    refuses("\"ranks\": 3", "\"ranks\": 0", "otherData.ranks is 0");
    refuses("\"origin\": \"measured\"", "\"origin\": \"dreamt\"",
            "otherData.origin is \"dreamt\", expected one of \"measured\", ");
    refuses("\"elements\": 1000", "\"elements\": \"many\"", "args.elements is \"many\"");
    refuses("\"step\": 1", "\"stop\": 1", "args.step is missing");
    refuses("\"ts\": 10", "\"ts\": 1e308", "ts is 1e+308");
    refuses("\"elements\": 1000", "\"elements\": 9000000000000000000",
            "args.elements is 9000000000000000000");
}

TEST(TraceFile, unknown_fields_of_other_programs_are_ignored) {
    const std::string json =
        replaced(to_json(test::relay()), "\"traceEvents\": [",
                 "\"more\": [{\"ph\": \"X\"}], \"traceEvents\": [{\"ph\": \"C\", \"name\": 5},");
    EXPECT_EQ(parse_trace(json, "run.json").trace.events.size(), 9u);
}

} // namespace
} // namespace sextant::report
