// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/record.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/json.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

enum class Season { spring, autumn };

struct Options {
    bool fast = false;
    int window = 0;
    std::int64_t pixels = 7;
    double sigma = 1.5;
    std::string name = "lattice";
    std::vector<int> radices = {4, 2};
    std::optional<double> limit;
    Season season = Season::autumn;
    Bytes memory = Bytes{1} << 30;
    std::vector<std::string> files;
};

Record record_of(Options& options) {
    Record record;
    record.add("fast", options.fast, "skip checks");
    record.add("window", options.window, "N", "rounds at once").between(1, 8).none_is(0);
    record.add("pixels", options.pixels, "N", "of an image").between(1, most_count);
    record.add("sigma", options.sigma, "PX", "of the Gaussian").between(0, 100);
    record.add("name", options.name, "NAME", "of the run");
    record.add("radices", options.radices, "K,K", "factors").between(2, 64);
    record.add("limit", options.limit, "X", "stop there").between(0, 1);
    record.add("season", options.season, {{"spring", Season::spring}, {"autumn", Season::autumn}},
               "WHEN", "of the year");
    record.add_memory("memory", options.memory, "resident at once");
    record.add("files", options.files, "FILE...", "to read").file().by_rank();
    return record;
}

std::string what_is_thrown(const std::function<void()>& part) {
    return test::message_of<InvalidTask>([&] { part(); });
}

std::string refused(const char* field, const char* text) {
    Options options;
    return what_is_thrown([&] { record_of(options)[field].set(text); });
}

TEST(Record, reads_and_writes_the_members_of_an_object) {
    Options options;
    Record record = record_of(options);
    record["fast"].set("true");
    record["window"].set("3");
    record["pixels"].set("1099511627776");
    record["sigma"].set(".25");
    record["name"].set("");
    record["radices"].set("8,3");
    record["limit"].set("1");
    record["season"].set("spring");
    record["files"].set_all({"a.png", "b.png"});
    EXPECT_TRUE(options.fast);
    EXPECT_EQ(options.window, 3);
    EXPECT_EQ(options.pixels, std::int64_t{1} << 40);
    EXPECT_EQ(options.sigma, .25);
    EXPECT_EQ(options.name, "");
    EXPECT_THAT(options.radices, testing::ElementsAre(8, 3));
    EXPECT_EQ(options.limit, 1);
    EXPECT_EQ(options.season, Season::spring);
    EXPECT_THAT(options.files, testing::ElementsAre("a.png", "b.png"));
    EXPECT_EQ(record["radices"].text(), "8,3");
    EXPECT_EQ(record["season"].text(), "spring");
}

TEST(Record, reads_memory_sizes_with_a_unit_or_in_mebibytes) {
    Options options;
    Record record = record_of(options);
    const auto bytes = [&](const char* text) {
        record["memory"].set(text);
        return options.memory;
    };
    EXPECT_EQ(bytes("3"), Bytes{3} << 20);
    EXPECT_EQ(bytes("512M"), Bytes{512} << 20);
    EXPECT_EQ(bytes("64K"), Bytes{64} << 10);
    EXPECT_EQ(bytes("2G"), Bytes{2} << 30);
    EXPECT_EQ(record["memory"].text(), "2G");
    EXPECT_EQ(bytes("1024T"), Bytes{1} << 50);
    for (const char* text : {"", "G", "0", "-1M", "1.5G", "1025T", "9223372036854775807T", "1Gi"})
        EXPECT_THAT(refused("memory", text), testing::HasSubstr("expected a size such as")) << text;
}

TEST(Record, reads_ranges_as_sorted_unique_numbers) {
    std::vector<int> ranks = {1, 2};
    Record record;
    const Field& field = record.add_ranges("ranks", ranks, "of a schedule").between(1, 16);
    EXPECT_EQ(field.text(), "1..2");
    field.set("13,1..3,2..5,9");
    EXPECT_THAT(ranks, testing::ElementsAre(1, 2, 3, 4, 5, 9, 13));
    EXPECT_EQ(field.text(), "1..5,9,13");
    for (const char* text : {"", "0", "3..1", "1..17", "1...3", "1,", "1..2..3", "..2"})
        EXPECT_THROW(field.set(text), InvalidTask) << text;
    EXPECT_EQ(field.text(), "1..5,9,13");
}

TEST(Record, reads_two_dimensional_sizes) {
    std::optional<Tiles> tiles;
    Record record;
    const Field& grid = record.add("grid", tiles, "tiles");
    EXPECT_EQ(grid.text(), "");
    grid.set("3x2");
    EXPECT_EQ(tiles, (Tiles{3, 2}));
    grid.set("3x2x5");
    EXPECT_EQ(tiles, (Tiles{3, 2, 5}));
    EXPECT_EQ(grid.text(), "3x2x5");
    grid.set("4");
    EXPECT_EQ(grid.text(), "4x4");
    for (const char* text :
         {"", "x", "3x", "x3", "0x1", "3x2x", "3x2x0", "3x2x1x1", "3 x 2", "-1", "1048577"})
        EXPECT_THROW(grid.set(text), InvalidTask) << text;
    EXPECT_EQ(grid.text(), "4x4");
    std::int64_t width = 0, height = 0;
    record.add_size("size", width, height, "pixels").set("1920x1080");
    EXPECT_EQ(width, 1920);
    EXPECT_EQ(height, 1080);
}

TEST(Record, refuses_an_invalid_value_and_keeps_the_old_one) {
    EXPECT_EQ(refused("window", "9"), "window 9: expected a whole number from 1 to 8");
    EXPECT_EQ(refused("window", "0"), "window 0: expected a whole number from 1 to 8");
    EXPECT_EQ(refused("pixels", "1e3"),
              "pixels 1e3: expected a whole number from 1 to 1099511627776");
    EXPECT_EQ(refused("sigma", "nan"), "sigma nan: expected a number from 0 to 100");
    EXPECT_EQ(refused("radices", "4,1"), "radices 4,1: expected a whole number from 2 to 64");
    EXPECT_EQ(refused("radices", ""), "radices '': expected a whole number from 2 to 64");
    EXPECT_EQ(refused("season", "sprig"),
              "unknown value for season: 'sprig'; did you mean spring?");
    Options options;
    EXPECT_THAT(what_is_thrown([&] { record_of(options)["radices"].set("8,x"); }),
                testing::HasSubstr("radices 8,x"));
    EXPECT_THAT(options.radices, testing::ElementsAre(4, 2));
}

TEST(Record, checks_values_that_a_program_has_set) {
    Options options;
    EXPECT_NO_THROW(record_of(options).check()); // window 0 means no window
    options.radices = {4, 65};
    EXPECT_EQ(what_is_thrown([&] { record_of(options).check(); }),
              "radices 4,65: expected a whole number from 2 to 64");
}

TEST(Record, gives_its_fields_command_line_option_names) {
    int fold_threads = 0;
    Record record;
    Field& field = record.add("fold_threads", fold_threads, "N", "of a rank").between(1, 4);
    field.on_command_line = true;
    EXPECT_EQ(what_is_thrown([&] { field.set("5"); }),
              "--fold-threads 5: expected a whole number from 1 to 4");
}

TEST(Record, compares_all_fields_except_the_excluded_ones) {
    Options one, other;
    other.files = {"elsewhere.png"};
    EXPECT_EQ(record_of(one).settings(), record_of(other).settings());
    other.limit = .5;
    EXPECT_NE(record_of(one).settings(), record_of(other).settings());
}

TEST(Record, is_written_as_JSON_without_unset_fields) {
    Options options;
    options.files = {"a\n"};
    Record record = record_of(options);
    Record outer, list;
    list.add("seconds", options.sigma, "s", "taken");
    outer.add("plan", std::move(record.without("name").without("files")));
    outer.add_result("all", std::vector<Record>{list, list});
    outer.add("files", options.files, "FILE...", "read");
    EXPECT_EQ(to_json(outer), R"({
  "plan": {
    "fast": false,
    "pixels": 7,
    "sigma": 1.5,
    "radices": [
      4,
      2
    ],
    "season": "autumn",
    "memory": "1G"
  },
  "all": [
    {
      "seconds": 1.5
    },
    {
      "seconds": 1.5
    }
  ],
  "files": [
    "a\n"
  ]
})");
}

TEST(Record, as_a_result_copies_its_values_and_writes_unset_ones_as_null) {
    Record record;
    {
        const std::optional<double> none;
        const std::string element = "u8";
        const std::vector<std::string> warnings;
        record = {{"element", element, "of the samples"}, {"sigma", none}, {"warnings", warnings}};
    }
    record.include({{"ranks", 2}, {"name", ""}}, "element");
    record.add_result("ratio", std::nan(""), "of two times");
    EXPECT_EQ(Json(record).text(-1), R"({"element":"u8","ranks":2,"name":"","sigma":null,)"
                                     R"("warnings":[],"ratio":null})");
    EXPECT_EQ(record["element"].meaning, "of the samples");
}

/// Reads the field "plan" of a JSON text into options.
void read_into(Options& options, const char* text) {
    Record outer;
    outer.add("plan", record_of(options));
    read(outer, JsonField::parse(text, "plan.json"));
}

std::string what_the_file_lacks(const char* text) {
    Options options;
    return test::message_of<InvalidFile>([&] { read_into(options, text); });
}

TEST(Record, reads_back_the_JSON_that_it_wrote) {
    Options options;
    options.fast = true;
    options.window = 3;
    options.pixels = std::int64_t{1} << 40;
    options.sigma = .1;
    options.name = "two\nlines";
    options.radices = {};
    options.limit = 1e-9;
    options.season = Season::spring;
    options.memory = Bytes{3} << 20;
    options.files = {"a.png", "b.png"};
    const std::string text = to_json(record_of(options));
    Options copy;
    read(record_of(copy), JsonField::parse(text, "plan.json"));
    EXPECT_EQ(to_json(record_of(copy)), text);
}

TEST(Record, keeps_the_values_of_fields_missing_in_a_file) {
    Options options;
    read_into(options, R"({"plan": {"window": 2, "name": ""}})");
    EXPECT_EQ(options.window, 2);
    EXPECT_EQ(options.name, "");
    EXPECT_EQ(options.sigma, 1.5);
    EXPECT_THAT(options.radices, testing::ElementsAre(4, 2));
}

TEST(Record, names_the_field_with_an_invalid_value) {
    const auto refuses = [](const std::string& fields, const std::string& text) {
        EXPECT_EQ(what_the_file_lacks(("{\"plan\": {" + fields + "}}").c_str()),
                  "plan.json: plan" + text);
    };
    refuses(R"("windwo": 3)", " has the unknown field 'windwo'; did you mean window?");
    refuses(R"("window": 9)", ".window is 9, expected a whole number from 1 to 8");
    refuses(R"("window": 2.5)", ".window is 2.5, expected a whole number from 1 to 8");
    refuses(R"("sigma": "1")", ".sigma is \"1\", expected a number from 0 to 100");
    refuses(R"("fast": 1)", ".fast is 1, expected true or false");
    refuses(R"("name": 7)", ".name is 7, expected a string");
    refuses(R"("radices": [2, 65])", ".radices[1] is 65, expected a whole number from 2 to 64");
    refuses(R"("radices": 2)", ".radices is 2, expected an array");
    refuses(R"("files": ["a", ""])", ".files[1] is \"\", expected a string");
    refuses(R"("season": "sprig")", ".season has the unknown value 'sprig'; did you mean spring?");
    refuses(R"("memory": "much")",
            ".memory is \"much\", expected a size such as 512M or 2G, up to 1024T");
    EXPECT_EQ(what_the_file_lacks(R"({"plan": 3})"),
              "plan.json: plan is 3, expected a JSON object");
    EXPECT_EQ(what_the_file_lacks("[1, 2]"), "plan.json: is an array of 2, expected a JSON object");
}

TEST(Record, refuses_a_file_without_a_required_field) {
    std::string name;
    Record record;
    record.add("name", name, "NAME", "of the run").required();
    EXPECT_THROW(read(record, JsonField::parse("{}", "run.json")), InvalidFile);
}

} // namespace
} // namespace sextant::test
