// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/schedule_file.hpp"

#include "sextant/core/error.hpp"

#include <string>

#include "tests/support/message_of.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/written.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

using test::written;
using testing::HasSubstr;

ScheduleFile read_back(const ScheduleFile& file) {
    return parse_schedule(json_of(file), "own.json");
}

TEST(ScheduleFile, has_all_programs_and_the_claim) {
    for (const auto rows : {collective::catalogue(), collective::reductions()}) {
        for (const collective::Algorithm& row : rows) {
            const bool exchanges = row.what == CollectiveKind::all_to_all;
            const Grid grid{13, exchanges ? 6 : 14, 1, 6};
            const ScheduleFile file{
                make_schedule(6, [&](int rank) { return row.program(grid, rank); }), row.what,
                row.commutative};
            const ScheduleFile read = read_back(file);
            EXPECT_EQ(read.claim, file.claim);
            EXPECT_EQ(read.commutative, file.commutative);
            ASSERT_EQ(read.schedule.size(), 6u);
            for (std::size_t rank = 0; rank < 6; ++rank)
                EXPECT_TRUE(same_work(read.schedule[rank], file.schedule[rank])) << row.name;
            EXPECT_EQ(json_of(read), json_of(file)) << row.name;
            EXPECT_EQ(prove(read.schedule, claim_of(read)).error, "") << row.name;
        }
    }
}

TEST(ScheduleFile, keeps_all_fields_of_buffers_steps_and_strided_regions) {
    ProgramBuilder builder;
    const Region input = builder.input(20);
    const Region fields = builder.buffer({Role::in_out, 20, 8});
    const Region lists = builder.buffer({Role::scratch, 4, 0, 100});
    builder.window(2);
    builder.round(3);
    builder.group(4);
    builder.compute(7, {Region{input.buffer, 1, 2, 5, 3}}, {block(fields.buffer, 0, 5), lists});
    Program program = builder.finish(fields);
    program.steps[0].reads_in_place = true;
    const std::string text = json_of({{program}});
    EXPECT_EQ(json_of(parse_schedule(text, "own.json")), text);
    EXPECT_THAT(text, HasSubstr("[[0,1,2,5,3]]"));
    EXPECT_THAT(text, HasSubstr(R"("role":"in-out","size":20,"element":8)"));
    EXPECT_THAT(text, HasSubstr(R"("kernel":7,"outputs":[[1,0,5],[2,0,4]],"reads_in_place":true)"));
}

TEST(ScheduleFile, without_a_claim_is_proved_apart_from_its_operands) {
    const ScheduleFile file{{written("input in 4; scratch s 4; receive 1 s; fold s s in; result s"),
                             written("input in 4; send 0 in")}};
    EXPECT_EQ(prove(file.schedule, claim_of(read_back(file))).error, "");
    const ScheduleFile ring{{written("scratch s 4; receive 1 s; send 1 s; result s"),
                             written("scratch s 4; receive 0 s; send 0 s; result s")}};
    EXPECT_THAT(prove(ring.schedule, claim_of(read_back(ring))).error, HasSubstr("deadlock"));
}

TEST(ScheduleFile, is_not_proved_if_the_claim_is_wrong) {
    const ScheduleFile file{{written("input in 4; result in"), written("input in 4; result in")},
                            CollectiveKind::all_reduce};
    EXPECT_THAT(prove(file.schedule, claim_of(file)).error,
                HasSubstr("element 0 combines operands [0, 1), expected [0, 2)"));
}

std::string complaint(const std::string& text) {
    return test::message_of<InvalidFile>([&] { (void)parse_schedule(text, "own.json"); });
}

/// The complaint about a program of rank 0, next to an idle rank 1.
std::string wrong_program(const std::string& buffers, const std::string& steps,
                          const std::string& others = "") {
    return complaint(R"({"version": 1, "programs": [{"buffers": [)" + buffers + R"(], "steps": [)" +
                     steps + "]" + others + R"(}, {"buffers": [], "steps": []}]})");
}

TEST(ScheduleFile, is_refused_with_the_rank_the_step_and_the_value) {
    const std::string two = R"({"role": "input", "size": 4}, {"role": "scratch", "size": 4})";
    struct Row {
        std::string steps, expected;
    };
    for (
        const Row& row : {
            Row{R"({"verb": "copy", "regions": [[0, 2, 4]], "to": [1, 0, 4]})",
                "programs[0].steps[0].regions[0] is [0, 2, 4], expected a region inside buffer 0, "
                "which has 4 elements"},
            {R"({"verb": "copy", "regions": [[0, 0, 1, 1099511627776, 1099511627776]], "to": [1, 0, 4]})",
             "expected a region inside buffer 0"},
            {R"({"verb": "copy", "regions": [[2, 0, 4]], "to": [1, 0, 4]})",
             "regions[0][0] is 2, expected one of the 2 buffers, numbered from 0"},
            {R"({"verb": "copy", "regions": [[0, 0]], "to": [1, 0, 4]})",
             "is an array of 2, expected [buffer, offset, length] or"},
            {R"({"verb": "send", "peer": 0, "regions": [[0, 0, 4]]})",
             "rank 0, step 0: no such peer: 0, expected another rank below 2"},
            {R"({"verb": "send", "peer": 1, "regions": [[0, 0, 4]]})",
             "rank 0 sends 1 messages to rank 1, which receives 0"},
            {R"({"verb": "send", "peer": 1, "regions": []})",
             "step 0 (send): the message is empty"},
            {R"({"verb": "send", "to": [1, 0, 4], "regions": [[0, 0, 4]]})",
             "programs[0].steps[0] has the unknown field 'to'"},
            {R"({"verb": "copy", "regions": [[1, 0, 4]], "to": [0, 0, 4]})",
             "programs[0] is wrong: step 0 (copy): writes to an input"},
            {R"({"verb": "fold", "regions": [[0, 0, 3]], "to": [1, 0, 4]})", "sizes differ"},
            {R"({"verb": "compute", "kernel": 0, "regions": [], "outputs": [[1, 0, 3], [1, 2, 2]]})",
             "two outputs overlap"},
            {R"({"verb": "jump", "regions": []})", "is \"jump\", expected one of \"send\""},
        })
        EXPECT_THAT(wrong_program(two, row.steps), HasSubstr(row.expected));
    EXPECT_THAT(wrong_program(two, "", R"(, "result": [0, 0, 5])"),
                HasSubstr("programs[0].result"));
    EXPECT_THAT(wrong_program(R"({"role": "input", "size": 1099511627777})", ""),
                HasSubstr("programs[0].buffers[0].size is 1099511627777, expected a whole number"));
    EXPECT_THAT(complaint(R"({"version": 1, "programs": []})"),
                HasSubstr("programs is an array of 0, expected a list of one program per rank"));
    EXPECT_THAT(complaint(R"({"version": 2, "programs": []})"), HasSubstr("version is 2"));
    EXPECT_THAT(json_of({{written("input a 4; input b 4"), written("input a 4")},
                         CollectiveKind::all_reduce}),
                testing::ResultOf(complaint, HasSubstr("rank 0 has several inputs, expected one")));
    EXPECT_THAT(json_of({{written("input a 4"), written("input a 4")}, CollectiveKind::broadcast}),
                testing::ResultOf(complaint, HasSubstr("claim broadcast: the input of rank 1 has 4 "
                                                       "elements, expected 0")));
}

TEST(ScheduleFile, is_refused_if_it_takes_too_much_time_or_memory) {
    Program program;
    program.buffers = {{Role::in_out, 12'000}, {Role::scratch, 12'000}};
    const auto add = [&](const Region& from, const Region& to) {
        Step step;
        step.first = static_cast<std::uint32_t>(program.regions.size());
        step.count = 1;
        step.to = to;
        program.regions.push_back(from);
        program.steps.push_back(step);
    };
    for (int i = 0; i < 6000; ++i)
        add(block(0, 0, 12'000), block(1, 0, 12'000));
    for (int i = 0; i < 6000; ++i)
        add(block(1, i, 1), block(0, i, 1));
    EXPECT_THAT(complaint(json_of({{program}})), HasSubstr("too many dependences"));
    program = {};
    program.buffers = {{Role::in_out, Elements{1} << 40}, {Role::scratch, Elements{1} << 40}};
    for (int i = 0; i < 2; ++i)
        add({0, 0, 1, 2, Elements{1} << 39}, {1, i, 1, 2, Elements{1} << 39});
    EXPECT_THAT(complaint(json_of({{program}})), HasSubstr("to compare them all"));
}

} // namespace
} // namespace sextant
