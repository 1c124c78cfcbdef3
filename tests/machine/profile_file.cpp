// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile_file.hpp"

#include "sextant/core/error.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>

#include "tests/support/message_of.hpp"
#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::machine {
namespace {

using testing::HasSubstr;

const std::filesystem::path machines = std::filesystem::path(test::source_dir()) / "machines";

std::string shipped(const std::string& file) {
    std::ifstream stream(machines / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A profile with all fields.
Profile full_profile() {
    Profile p;
    p.name = "two cores";
    p.host = "host", p.topology = "one socket", p.transport = "vader", p.cores = 2;
    p.mpi = "Open MPI", p.mpi_version = "4.1.4";
    p.provisional = true;
    p.state = "fast", p.state_probe = {2e-7, 1.9e-7, 2.1e-7, 500};
    p.origin = {"2026-01-02", "medians of 5 launches"};
    LinkCosts link;
    link.link = Link::same_node;
    link.switches = {4096, 65536};
    link.curves = {{Path::full,
                    Layout::cc,
                    Strategy::contiguous,
                    {},
                    {{0, 0, {1e-7, 9e-8, 1.1e-7, 40}}, {64, 64, exactly(2e-7)}}},
                   {Path::send,
                    Layout::nn,
                    Strategy::packing,
                    {"2026-01-03", "again"},
                    {{64, 4, exactly(2e-7)}, {64, 16, exactly(1e-7)}}}};
    link.gap = {{64, 64, exactly(3e-7)}};
    link.gap_origin = {"", "saturated"};
    link.hockney = Hockney{exactly(1e-6), {1e-9, 5e-10, 2e-9, 3}, {}};
    link.loggp = LogGP{exactly(1e-6), exactly(2e-6), exactly(3e-6), exactly(4e-9), {}};
    p.links = {link};
    p.operators = {{.name = "over",
                    .element = "f32",
                    .seconds_per_element = Value{4e-9, 3e-9, 5e-9, 7},
                    .passes = {},
                    .alone = {},
                    .origin = {}}};
    p.operators.push_back(
        {"over",
         "u8",
         {},
         {{1, 2, exactly(1e-8)}, {64, 2, {2e-7, 1e-7, 3e-7, 9}}, {64, 3, exactly(3e-7)}},
         {{64, 2, exactly(1e-7)}},
         {}});
    p.kernels = {{"gaussian", "f32", exactly(1e-8), {}, {}, {"", "sigma 3"}}};
    p.copies = {{0, exactly(1e-10), {}}, {4, exactly(1e-9), {}}};
    p.network = Network{{Shape::torus, {4, 4, 2}}, exactly(1e-9), {}};
    C3 c3;
    c3.topology = {Shape::mesh, {4, 2}};
    c3.routing = Routing::store_and_forward;
    c3.blocking_sends = true;
    c3.packet = 512;
    c3.setup = exactly(8);
    c3.seconds_per_unit = exactly(1e-6);
    c3.seconds_per_computation_unit = exactly(2e-6);
    c3.published = {{4, 2, 2.5}};
    c3.origin.method = "fitted";
    p.c3 = c3;
    return p;
}

/// Expects a text to be refused with this message after "file.json: ".
void expect_refused(const std::string& text, const std::string& message) {
    EXPECT_THAT(test::message_of<InvalidFile>([&] { parse_profile(text, "file.json"); }),
                HasSubstr("file.json: " + message))
        << text;
}

/// The text of full_profile() with one piece replaced.
std::string with(const std::string& piece, const std::string& replacement) {
    std::string text = profile_text(full_profile());
    const auto found = text.find(piece);
    EXPECT_NE(found, std::string::npos) << piece;
    return found == std::string::npos ? text : text.replace(found, piece.size(), replacement);
}

TEST(ProfileFile, is_read_back_as_it_was_written) {
    const Profile profile = full_profile();
    EXPECT_EQ(parse_profile(profile_text(profile), "x"), profile);
}

TEST(ProfileFile, every_shipped_machine_can_be_read_and_written_again) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(machines)) {
        const Profile profile = read_profile(entry.path().string());
        EXPECT_EQ(profile.name, entry.path().stem().string());
        EXPECT_EQ(parse_profile(profile_text(profile), "x"), profile);
        EXPECT_NE(profile.origin.method, "");
        ++files;
    }
    EXPECT_GE(files, 4);
}

TEST(ProfileFile, the_das_machine_contains_table_1_of_the_paper) {
    const Profile das = read_profile((machines / "das.json").string());
    std::ifstream table(test::source_dir() + "/papers/data/p3pc_table1_das_us.csv");
    std::string line;
    std::getline(table, line);
    const std::map<std::string, Path> paths = {
        {"send", Path::send}, {"recv", Path::receive}, {"full", Path::full}};
    const std::map<std::string, Layout> layouts = {
        {"cc", Layout::cc}, {"cn", Layout::cn}, {"nc", Layout::nc}, {"nn", Layout::nn}};
    int cells = 0;
    while (std::getline(table, line)) {
        std::istringstream row(line);
        std::string path, layout, value;
        std::getline(row, path, ','), std::getline(row, layout, ',');
        const Layout wanted = layouts.at(layout);
        const Curve* curve = find(das.links.at(0), paths.at(path), wanted,
                                  wanted == Layout::cc ? Strategy::contiguous : Strategy::datatype);
        ASSERT_NE(curve, nullptr) << line;
        for (const Point& point : curve->points) {
            ASSERT_TRUE(std::getline(row, value, ','));
            EXPECT_NEAR(point.seconds.median, std::stod(value) * 1e-6, 1e-12) << line;
            ++cells;
        }
    }
    EXPECT_EQ(cells, 60);
}

TEST(ProfileFile, errors_name_the_file_field_value_and_expected_value) {
    expect_refused("", "is not JSON");
    expect_refused("{}", "version is missing");
    expect_refused(with("\"name\": \"two cores\"", "\"name\": 3"), "name is 3");
    expect_refused(
        with("\"link\": \"same node\"", "\"link\": \"next door\""),
        "links[0].link is \"next door\", expected one of \"same process\", \"same node\"");
    expect_refused(with("\"path\": \"full\"", "\"paht\": \"full\""),
                   "links[0].curves[0].path is missing");
    expect_refused(
        with("\"strategy\": \"contiguous\"", "\"strategy\": \"packing\""),
        "links[0].curves[0].strategy is \"packing\", expected \"contiguous\" or \"lending\" for");
    expect_refused(
        with("\"path\": \"send\",\n     \"layout\": \"nn\",\n     \"strategy\": \"packing\"",
             "\"path\": \"full\", \"layout\": \"cc\", \"strategy\": \"contiguous\""),
        "links[0].curves[1] repeats the path, layout and strategy of another curve");
    expect_refused(with("\"element\": \"u8\"", "\"element\": \"i8\""),
                   "operators[1].element is \"i8\", expected one of \"f32\", \"f16\", \"u8\"");
    expect_refused(with("\"element\": \"u8\"", "\"element\": \"f32\""),
                   "operators[1] repeats the name and element of another");
    expect_refused(with("\"seconds_per_element\"", "\"seconds\""),
                   "operators[0] has neither points nor seconds_per_element");
    expect_refused(with("\"packet\": 512", "\"packet\": 0"), "c3.packet is 0, expected a whole");
    expect_refused(with("\"shape\": \"torus\"", "\"shape\": \"hypercube\""),
                   "network.topology.extents is an array of 3, expected one number");
}

TEST(ProfileFile, cells_require_ordered_points_and_medians_within_their_intervals) {
    const std::string head = R"({"version": 1, "name": "m", "date": "d", "method": "m", "links": [)"
                             R"({"link": "same node", "curves": [{"path": "full", "layout": "cc", )"
                             R"("strategy": "contiguous", "points": )";
    const auto points = [&](const std::string& text) { return head + text + "}]}]}"; };
    EXPECT_NO_THROW(parse_profile(points("[[0, 0, 1], [8, 8, 2]]"), "x"));
    const std::string at = "links[0].curves[0].points";
    expect_refused(points("[]"), at + " is an array of 0, expected one point or more");
    expect_refused(points("[[8, 8, 1], [0, 0, 2]]"),
                   at + "[1] is an array of 3, expected more bytes");
    expect_refused(points("[[8, 8, 1], [8, 8, 2]]"), at + "[1]");
    expect_refused(points("[[8, 9, 1]]"), at + "[0][1] is 9, expected a whole number from 0 to 8");
    expect_refused(points("[[8, 0, 1]]"), at + "[0][1] is 0, expected a block length");
    expect_refused(points("[[8, 8, -1]]"), at + "[0][2] is -1");
    expect_refused(points("[[8, 8, 1, 2]]"), at + "[0] is an array of 4, expected [bytes, block");
    expect_refused(points("[[8, 8, 4, 2, 3, 9]]"),
                   at + "[0][2] is 4, expected a number from 2 to 3");
    expect_refused(points("[[8, 8, 1e999]]"), "is not JSON");
    expect_refused(points("7"), at + " is 7");
    // Twice as many bytes, and the size after the last switch, must be 64-bit numbers.
    expect_refused(points("[[4611686018427387904, 4611686018427387904, 1]]"),
                   at + "[0][0] is 4611686018427387904");
    expect_refused(R"({"version": 1, "name": "m", "date": "d", "method": "m", "links": [)"
                   R"({"link": "same node", "switches": [9223372036854775807, 0]}]})",
                   "links[0].switches[0] is 9223372036854775807");
}

TEST(ProfileFile, passes_must_be_ordered_and_have_operands) {
    const auto points = [](const std::string& text) {
        return R"({"version": 1, "name": "m", "date": "d", "method": "m", "operators": [)"
               R"({"name": "over", "points": )" +
               text + "}]}";
    };
    const Profile read = parse_profile(points("[[1, 2, 1], [1, 3, 2, 1, 3, 9]]"), "x");
    ASSERT_NE(read.find_operator("over", "f32"), nullptr);
    EXPECT_EQ(read.find_operator("over", "f32")->passes[1], (Pass{1, 3, {2, 1, 3, 9}}));
    EXPECT_EQ(read.find_operator("over", "u8"), nullptr);
    const std::string at = "operators[0].points";
    expect_refused(points("[]"), at + " is an array of 0, expected one point or more");
    expect_refused(points("[[1, 0, 1]]"), at + "[0][1] is 0");
    expect_refused(points("[[2, 2, 1], [1, 2, 1]]"),
                   at + "[1] is an array of 3, expected more elements");
    expect_refused(points("[[1, 2]]"), at + "[0] is an array of 2, expected [elements, operands");
}

TEST(ProfileFile, an_unreadable_file_is_named_in_the_error) {
    for (const std::string& path : {std::string("/no/such/machine.json"), test::source_dir()}) {
        try {
            read_profile(path);
            FAIL() << "read";
        } catch (const InvalidFile& error) {
            EXPECT_EQ(error.path(), path);
        }
    }
}

/// One random change: a byte, a missing or repeated part, or a truncation.
std::string damaged(std::string text, std::mt19937& random) {
    if (text.empty())
        return text;
    const auto any = [&](std::size_t below) { return random() % below; };
    const std::size_t at = any(text.size()), length = 1 + any(20);
    switch (any(4)) {
    case 0:
        text[at] = static_cast<char>(any(256));
        break;
    case 1:
        text.erase(at, length);
        break;
    case 2:
        text.insert(at, text.substr(any(text.size()), length));
        break;
    default:
        text.resize(at);
    }
    return text;
}

TEST(ProfileFile, damaged_files_are_read_or_refused_without_a_crash) {
    std::mt19937 random(7);
    int refused = 0, read = 0;
    for (const std::string& text : {profile_text(full_profile()), shipped("das.json")}) {
        for (int i = 0; i < 3000; ++i) {
            std::string changed = damaged(text, random);
            if (i % 3 == 0)
                changed = damaged(changed, random);
            try {
                const Profile profile = parse_profile(changed, "x");
                EXPECT_EQ(parse_profile(profile_text(profile), "x"), profile);
                ++read;
            } catch (const InvalidFile&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(read, 100);
}

} // namespace
} // namespace sextant::machine
