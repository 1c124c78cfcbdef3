// SPDX-License-Identifier: BSD-3-Clause
// Options without effect are refused, by the names that the caller uses.
#include "sextant/core/effects.hpp"

#include "sextant/core/error.hpp"

#include <stdexcept>

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant {
namespace {

struct Trial {
    std::int64_t min_size = 0;
    bool in_tiles = false;
    std::string probe = "kept", name = "min_size";
};

Record record_of(Trial& trial) {
    Record record;
    record.add("min_size", trial.min_size, "N", "smallest size").between(0, 9);
    record.add("in_tiles", trial.in_tiles, "use tiles");
    record.add("probe", trial.probe, "WHEN", "when to measure").one_of({"now", "kept", "off"});
    return record;
}

Effects effects_of(const Trial& trial) {
    return {{{trial.name, "probe"}, "omit {in_tiles} in {other}", [&] { return !trial.in_tiles; }},
            {{"in_tiles"}, "read at once", nullptr, "an image"}};
}

void check(Trial trial, bool probes = false) {
    check_effects(trial, record_of(trial), probes);
}

std::string refusal(const Trial& trial, bool probes = false) {
    return test::message_of<InvalidTask>([&] { check(trial, probes); });
}

TEST(Effects, refuse_options_that_differ_from_their_default) {
    EXPECT_EQ(refusal({3, false}), "");
    EXPECT_EQ(refusal({0, true}), "");
    EXPECT_EQ(refusal({3, true}), "min_size has no effect here: omit in_tiles in {other}");
    EXPECT_THROW(check({0, true, "kept", "max_size"}), std::logic_error);
}

TEST(Effects, refuse_only_requests_to_probe_and_only_if_asked) {
    EXPECT_EQ(refusal({0, true, "now"}), "");
    EXPECT_EQ(refusal({0, true, "off"}, true), "");
    EXPECT_EQ(refusal({0, true, "now"}, true),
              "probe has no effect here: omit in_tiles in {other}");
}

TEST(Effects, use_the_spelling_of_the_command_line) {
    Trial trial;
    Record record = record_of(trial);
    for (Field& field : record.fields)
        field.on_command_line = true;
    const auto refusal = [&](std::string_view given) {
        return test::message_of<InvalidTask>([&] {
            check_effects(
                effects_of(trial), record, [=](std::string_view name) { return name == given; },
                "a volume", "a.npy");
        });
    };
    EXPECT_EQ(refusal("min_size"), "");
    EXPECT_EQ(refusal("in_tiles"),
              "--in-tiles has no effect here: a.npy is a volume, read at once");
    trial.in_tiles = true;
    EXPECT_EQ(refusal("min_size"), "--min-size has no effect here: omit --in-tiles in {other}");
}

} // namespace
} // namespace sextant
