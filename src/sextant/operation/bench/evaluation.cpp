// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/evaluation.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/machine/field.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

using machine::Field;

constexpr int evaluation_version = 1;

nlohmann::ordered_json json_of(const EvaluatedCase& one) {
    nlohmann::ordered_json json{{"name", one.what.name},           {"width", one.what.shape.width},
                                {"height", one.what.shape.height}, {"image", one.what.image},
                                {"collect", one.what.collect},     {"chosen", one.chosen}};
    for (const EvaluatedWay& way : one.ways) {
        nlohmann::ordered_json row{
            {"name", way.name}, {"baseline", way.baseline}, {"measured", way.measured}};
        if (way.predicted)
            row["predicted"] = *way.predicted;
        json["ways"].push_back(row);
    }
    return json;
}

EvaluatedWay way_from(const Field& field) {
    constexpr double longest = 1e6;
    EvaluatedWay way{field.at("name").text(), field.at("baseline").boolean(), std::nullopt, {}};
    if (const auto predicted = field.find("predicted"))
        way.predicted = predicted->number(0, longest);
    for (const Field& seconds : field.at("measured").items())
        way.measured.push_back(seconds.number(0, longest));
    if (way.measured.empty())
        field.at("measured").fail("is empty");
    return way;
}

EvaluatedCase case_from(const Field& field) {
    constexpr std::int64_t widest = 1 << 20;
    EvaluatedCase one;
    one.what.name = field.at("name").text();
    one.what.shape = {field.at("width").integer(1, widest), field.at("height").integer(1, widest)};
    one.what.image = field.at("image").text();
    one.what.collect = field.at("collect").boolean();
    one.chosen = field.at("chosen").text();
    for (const Field& way : field.at("ways").items())
        one.ways.push_back(way_from(way));
    if (!one.find(one.chosen))
        field.at("chosen").fail("is not among the ways");
    return one;
}

} // namespace

const EvaluatedWay* EvaluatedCase::find(std::string_view name) const {
    const auto found = std::find_if(ways.begin(), ways.end(),
                                    [&](const EvaluatedWay& way) { return way.name == name; });
    return found == ways.end() ? nullptr : &*found;
}

std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    // Not std::uniform_real_distribution, whose values libraries may choose.
    const auto uniform = [&](double from, double to) {
        return from + (to - from) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    std::vector<CompositeCase> cases;
    for (int i = 0; i < count; ++i) {
        const double pixels = std::exp2(uniform(6, 23)), ratio = std::exp2(uniform(-2, 2));
        CompositeCase one;
        one.shape.width = std::max<std::int64_t>(1, std::llround(std::sqrt(pixels * ratio)));
        one.shape.height =
            std::max<std::int64_t>(1, std::llround(pixels / static_cast<double>(one.shape.width)));
        one.image = random() % 2 ? "dense" : "ellipse";
        one.collect = random() % 2 != 0;
        one.all_tunings = true;
        one.name = fmt::format("{}x{} {}, {}", one.shape.width, one.shape.height, one.image,
                               one.collect ? "collected" : "distributed");
        cases.push_back(std::move(one));
    }
    return cases;
}

void add_launches(Evaluation& evaluation, const Evaluation& more) {
    const auto differ = [&](const std::string& what) {
        throw InvalidTask(fmt::format("the launches cannot be joined: {} differ", what));
    };
    if (evaluation.seed != more.seed || evaluation.cases.size() != more.cases.size())
        differ("their cases");
    if (evaluation.ranks != more.ranks || evaluation.transport != more.transport)
        differ("ranks or transport");
    evaluation.round_trips.insert(evaluation.round_trips.end(), more.round_trips.begin(),
                                  more.round_trips.end());
    for (std::size_t c = 0; c < more.cases.size(); ++c) {
        EvaluatedCase& mine = evaluation.cases[c];
        const EvaluatedCase& theirs = more.cases[c];
        if (mine.what.name != theirs.what.name || mine.chosen != theirs.chosen)
            differ("the choices for " + mine.what.name);
        for (EvaluatedWay& way : mine.ways) {
            const EvaluatedWay* other = theirs.find(way.name);
            if (!other)
                differ("the ways of " + mine.what.name);
            way.measured.insert(way.measured.end(), other->measured.begin(), other->measured.end());
        }
    }
}

std::string to_json(const Evaluation& evaluation) {
    nlohmann::ordered_json json{{"operation", "evaluate"},
                                {"evaluate_version", evaluation_version},
                                {"seed", evaluation.seed},
                                {"ranks", evaluation.ranks},
                                {"cores", evaluation.cores},
                                {"transport", evaluation.transport},
                                {"host", evaluation.host},
                                {"machine", evaluation.machine},
                                {"date", evaluation.date},
                                {"profile_round_trip", evaluation.profile_round_trip},
                                {"round_trips", evaluation.round_trips}};
    json["cases"] = nlohmann::ordered_json::array();
    for (const EvaluatedCase& one : evaluation.cases)
        json["cases"].push_back(json_of(one));
    return sextant::to_text(json, 1);
}

Evaluation read_evaluation(const std::string& path) {
    constexpr Bytes longest = Bytes{1} << 24;
    const Field file = Field::parse(read_text(path, longest), path);
    if (file.at("evaluate_version").integer(1, 1 << 30) > evaluation_version)
        file.at("evaluate_version").refuse("1: a newer version");
    Evaluation evaluation;
    evaluation.seed = static_cast<std::uint64_t>(file.at("seed").integer(0, 1 << 30));
    evaluation.ranks = static_cast<int>(file.at("ranks").integer(1, 1 << 30));
    evaluation.cores = static_cast<int>(file.at("cores").integer(1, 1 << 30));
    evaluation.transport = file.at("transport").text();
    evaluation.host = file.at("host").text();
    evaluation.machine = file.at("machine").text();
    evaluation.date = file.at("date").text();
    evaluation.profile_round_trip = file.at("profile_round_trip").number(0, 1);
    for (const Field& trip : file.at("round_trips").items())
        evaluation.round_trips.push_back(trip.number(0, 1));
    for (const Field& one : file.at("cases").items())
        evaluation.cases.push_back(case_from(one));
    return evaluation;
}

} // namespace sextant::operation
