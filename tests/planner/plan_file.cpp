// SPDX-License-Identifier: BSD-3-Clause
// Plans of two families are made, written and read by the same code; one family exists only in this
// file.
#include "sextant/planner/plan_file.hpp"

#include "sextant/planner/choose.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::planner {
namespace {

using Parsed = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

struct Boxes {
    int count = 1;
    std::string text() const { return std::to_string(count) + " boxes"; }
};

void add_boxes(Json& json, const Boxes& boxes) {
    json.set("count", boxes.count);
    json.set("full", true);
}

Boxes boxes_in(const JsonField& plan) {
    return {static_cast<int>(plan.at("count").integer(1, 9))};
}

std::string json_text(const Plan<Boxes>& plan, const AlternativeFields& fields = {}) {
    Json json = plan_file("pack");
    add_boxes(json, plan.configuration);
    add_plan(json, plan, add_boxes, fields);
    return json.text();
}

Plan<Boxes> parsed(const std::string& text) {
    return plan_in<Boxes>(JsonField::parse(text, "p.json"), "pack", boxes_in);
}

/// A choice of three candidates: the second is the fastest, the first has no prediction.
Choice three() {
    Choice choice;
    choice.model = "logp";
    choice.reason = "fastest of 3";
    choice.rivals = 2;
    choice.ranking.resize(3);
    choice.ranking[0] = {1, 1e-3, model::Prediction{2e-3, 1e-3, 3e-3, {}, {}}, ""};
    choice.ranking[1] = {2, 2e-3, model::Prediction{3e-3, 2e-3, 4e-3, {}, {}}, ""};
    choice.ranking[2] = {0, {}, {}, "too many"};
    return choice;
}

template <class Configuration>
Plan<Configuration> of_three(const std::vector<Configuration>& configurations) {
    return plan_of<Configuration>(three(), configurations, "m");
}

const std::vector<Boxes> one_to_three = {{1}, {2}, {3}};

const std::vector<compositing::Configuration> windows = {
    {&compositing::find("shift-based"), {{}, 1}},
    {&compositing::find("shift-based"), {{}, 2}, true},
    {&compositing::find("shift-based"), {{}, 3}}};

TEST(PlanFile, lists_configurations_in_the_order_of_the_ranking) {
    const Plan<Boxes> plan = of_three(one_to_three);
    EXPECT_EQ(plan.text(), "2 boxes");
    EXPECT_EQ(plan.expected(), 2e-3);
    EXPECT_EQ(plan.rivals, 2u);
    ASSERT_EQ(plan.alternatives.size(), 3u);
    EXPECT_EQ(plan.alternatives[1].configuration.count, 3);
    EXPECT_EQ(plan.alternatives[1].expected->high, 4e-3);
    EXPECT_EQ(plan.alternatives[2].configuration.count, 1);
    EXPECT_FALSE(plan.alternatives[2].expected);
    EXPECT_EQ(of_three(windows).text(), "shift-based, window 2, sparse");
    EXPECT_FALSE(Plan<Boxes>{}.expected());
}

TEST(PlanFile, has_the_same_fields_for_every_kind_of_plan) {
    for (const Parsed& json : {Parsed::parse(json_text(of_three(one_to_three))),
                               Parsed::parse(to_json(of_three(windows)))}) {
        EXPECT_EQ(json["plan_version"], 1);
        EXPECT_EQ(json["reason"], "fastest of 3");
        EXPECT_EQ(json["model"], "logp");
        EXPECT_EQ(json["machine"], "m");
        EXPECT_EQ(json["rivals"], 2);
        ASSERT_EQ(json["candidates"].size(), 3u);
        EXPECT_EQ(json["candidates"][0]["bound"], 1e-3);
        EXPECT_EQ(json["candidates"][0]["seconds"], 2e-3);
        EXPECT_EQ(json["candidates"][0]["interval"], (Parsed{1e-3, 3e-3}));
        EXPECT_FALSE(json["candidates"][0].contains("remark"));
        EXPECT_EQ(json["candidates"][2]["remark"], "too many");
        EXPECT_FALSE(json["candidates"][2].contains("seconds"));
    }
}

TEST(PlanFile, omits_fields_that_a_kind_of_plan_does_not_use) {
    const auto json = Parsed::parse(
        json_text(of_three(one_to_three), {.list = "others", .ranges = false, .remarks = false}));
    EXPECT_FALSE(json.contains("rivals"));
    EXPECT_EQ(json["others"][0], (Parsed{{"count", 2}, {"full", true}, {"seconds", 2e-3}}));
    EXPECT_EQ(json["others"][2], (Parsed{{"count", 1}, {"full", true}}));
    EXPECT_THAT(json_text({.configuration = {2}, .reason = "requested"}), Not(HasSubstr("model")));
}

TEST(PlanFile, is_read_with_its_configuration_and_reason) {
    const Plan<Boxes> boxes = parsed(json_text(of_three(one_to_three)));
    EXPECT_EQ(boxes.configuration.count, 2);
    EXPECT_EQ(boxes.reason, "fastest of 3");
    EXPECT_TRUE(boxes.alternatives.empty());
    const CompositingPlan composite = parse_plan(to_json(of_three(windows)), "p.json");
    EXPECT_EQ(composite.configuration, windows[1]);
    EXPECT_EQ(composite.reason, "fastest of 3");
}

TEST(PlanFile, of_another_kind_or_a_newer_version_is_refused) {
    const auto refusal = [](const auto& parse, const std::string& text) -> std::string {
        return test::message_of<InvalidFile>([&] { parse(text); });
    };
    const auto composite = [](const std::string& text) { parse_plan(text, "p.json"); };
    const std::string boxes = json_text(Plan<Boxes>{.configuration = {2}});
    EXPECT_EQ(refusal(parsed, boxes), "");
    EXPECT_EQ(refusal(composite, boxes), "p.json: operation is \"pack\", expected \"composite\"");
    EXPECT_EQ(refusal(parsed, to_json(of_three(windows))),
              "p.json: operation is \"composite\", expected \"pack\"");
    EXPECT_THAT(refusal(parsed, R"({"plan_version": 2})"), HasSubstr("newer version"));
    EXPECT_THAT(refusal(parsed, R"({"plan_version": 1, "operation": "pack", "count": 10})"),
                HasSubstr("count is 10, expected a whole number from 1 to 9"));
}

} // namespace
} // namespace sextant::planner
