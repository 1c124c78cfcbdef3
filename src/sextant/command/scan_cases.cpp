// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/scan_cases.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

using Json = nlohmann::json;
using Kind = scan::Distribution::Kind;

constexpr Kind kinds[] = {Kind::constant, Kind::exponential, Kind::correlated, Kind::recorded};

class ScanCaseReader {
  public:
    ScanCaseReader(const std::string& path, std::size_t number) : reader_(path, number) {}

    ScanCase read(const Json& json) {
        ScanCase made;
        reader_.each_field(
            json,
            {
                {"name", [&](const Json& v) { made.name = v.get<std::string>(); }},
                {"values", [&](const Json& v) { made.values = whole("values", v, 1 << 24); }},
                {"times", [&](const Json& v) { made.times = times(v); }},
                {"busy", [&](const Json& v) { made.busy = v.get<bool>(); }},
                {"ranks", [&](const Json& v) { made.ranks = whole("ranks", v, 1 << 16); }},
                {"threads", [&](const Json& v) { made.threads = threads(v); }},
                {"boundaries", [&](const Json& v) { made.boundaries = boundaries(v); }},
                {"strategies", [&](const Json& v) { v.get_to(made.strategies); }},
                {"algorithms", [&](const Json& v) { v.get_to(made.algorithms); }},
                {"baselines", [&](const Json& v) { made.baselines = v.get<bool>(); }},
                {"neighbours", [&](const Json& v) { made.neighbours = positive("neighbours", v); }},
                {"time_limit", [&](const Json& v) { made.time_limit = positive("time_limit", v); }},
                {"fails_at", [&](const Json& v) { made.fails_at = whole("fails_at", v, 1 << 24); }},
            });
        check(made);
        if (made.name.empty())
            made.name = fmt::format("{} values, {} times", made.values, name(made.times.kind));
        return made;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { reader_.fail(what); }

    int whole(const char* field, const Json& value, int most) const {
        return static_cast<int>(reader_.whole(field, value, 1, most));
    }

    double positive(const char* field, const Json& value) const {
        const auto number = value.get<double>();
        if (!(number >= 0))
            fail(fmt::format("{} is {}, expected 0 or more", field, shown(value)));
        return number;
    }

    std::vector<int> threads(const Json& value) const {
        std::vector<int> all;
        for (const Json& each : value)
            all.push_back(whole("threads", each, 1024));
        if (all.empty())
            fail("threads is empty");
        return all;
    }

    std::vector<scan::Boundaries> boundaries(const Json& value) const {
        std::vector<scan::Boundaries> all;
        for (const Json& each : value)
            all.push_back(scan::find_boundaries(each.get<std::string>()));
        if (all.empty())
            fail("boundaries is empty");
        return all;
    }

    scan::Distribution times(const Json& json) const {
        scan::Distribution made{Kind::exponential, 2e-3};
        bool has_mean = false;
        reader_.each_field(
            json,
            {
                {"kind", [&](const Json& v) { made.kind = kind(v.get<std::string>()); }},
                {"mean", [&](const Json& v) { made.mean = positive("mean", v), has_mean = true; }},
                {"spread", [&](const Json& v) { made.spread = positive("spread", v); }},
                {"correlation", [&](const Json& v) { made.correlation = v.get<double>(); }},
                {"file",
                 [&](const Json& v) { made.times = read_times(beside(v.get<std::string>())); }},
            });
        if (made.kind == Kind::recorded && !has_mean)
            made.mean = 0; // as recorded
        scan::check(made);
        return made;
    }

    /// File names are relative to the file of the cases.
    std::string beside(const std::string& name) const {
        return (std::filesystem::path(reader_.path()).parent_path() / name).string();
    }

    Kind kind(const std::string& wanted) const {
        std::vector<std::string_view> names;
        for (const Kind kind : kinds) {
            if (name(kind) == wanted)
                return kind;
            names.push_back(name(kind));
        }
        fail(unknown_name("kind of times", wanted, names));
    }

    /// Checks names before anything is timed.
    void check(const ScanCase& made) const {
        try {
            for (const std::string& name : made.strategies)
                scan::find_strategy(name);
            for (const std::string& name : made.algorithms)
                scan::find(name);
        } catch (const InvalidTask& error) {
            fail(error.what());
        }
        if (ways_of(made).empty())
            fail("no strategy takes so many threads");
    }

    const CaseReader reader_;
};

bool asked(const std::vector<std::string>& wanted, std::string_view name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Adds `way` with each kind of boundaries; once for one thread, which has none.
void add_ways(std::vector<scan::Way>& ways, const ScanCase& what, scan::Way way) {
    for (const scan::Boundaries boundaries : what.boundaries) {
        way.boundaries = boundaries;
        ways.push_back(way);
        if (way.threads == 1)
            break;
    }
}

} // namespace

std::vector<Seconds> read_times(const std::string& path) {
    const Json content = read_json(path);
    const bool numbers =
        content.is_array() && !content.empty() &&
        std::all_of(content.begin(), content.end(), [](const Json& v) { return v.is_number(); });
    if (!numbers)
        throw InvalidFile(path, "expected a JSON list of seconds");
    return content.get<std::vector<Seconds>>();
}

std::vector<ScanCase> read_scan_cases(const std::string& path) {
    std::vector<ScanCase> cases;
    for (const Json& json : read_cases(path))
        cases.push_back(ScanCaseReader(path, cases.size()).read(json));
    return cases;
}

std::vector<scan::Way> ways_of(const ScanCase& what) {
    std::vector<scan::Way> ways;
    for (const int threads : what.threads) {
        for (const scan::Strategy& strategy : scan::strategies()) {
            const bool takes = threads == 1 || strategy.name == "reduce-then-scan";
            if (!takes || !asked(what.strategies, strategy.name))
                continue;
            for (const scan::Algorithm& algorithm : scan::catalogue()) {
                if (!asked(what.algorithms, algorithm.name))
                    continue;
                for (const scan::Tuning& tuning : algorithm.tunings())
                    add_ways(ways, what, {strategy, {algorithm, tuning}, threads});
            }
        }
    }
    return ways;
}

using Json = nlohmann::json;

namespace {

/// Limits for files written by hand.
constexpr Bytes most_bytes = Bytes{1} << 24;
constexpr std::size_t most_values = 100'000;

} // namespace

std::vector<Json> read_cases(const std::string& path) {
    Json content = read_json(path, {most_bytes, most_values});
    const auto found = content.is_object() ? content.find("cases") : content.end();
    if (found == content.end() || !found->is_array() || found->empty())
        throw InvalidFile(path, "expected a JSON object with a list \"cases\"");
    return std::move(found->get_ref<Json::array_t&>());
}

void CaseReader::each_field(const Json& object, const Fields& readers) const {
    if (!object.is_object())
        fail(fmt::format("{} is no JSON object", shown(object)));
    std::vector<std::string_view> names;
    for (const auto& [name, reader] : readers)
        names.push_back(name);
    for (const auto& [key, value] : object.items()) {
        const auto found = readers.find(key);
        if (found == readers.end())
            fail(unknown_name("field", key, names));
        try {
            found->second(value);
        } catch (const Json::exception&) {
            fail(fmt::format("{} is {}", key, shown(value)));
        } catch (const InvalidTask& error) {
            fail(error.what());
        }
    }
}

std::int64_t CaseReader::whole(const char* field, const Json& value, std::int64_t least,
                               std::int64_t most) const {
    // A value above 2^63 - 1 is not an integer of the type, and would turn negative.
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    const std::int64_t number = fits ? value.get<std::int64_t>() : least;
    if (!fits || number < least || number > most)
        fail(fmt::format("{} is {}, expected {} to {}", field, shown(value), least, most));
    return number;
}

CaseReader::Fields CaseReader::size_fields(ImageShape& shape) const {
    constexpr std::int64_t widest = 1 << 16;
    return {{"width", [&](const Json& v) { shape.width = whole("width", v, 1, widest); }},
            {"height", [&](const Json& v) { shape.height = whole("height", v, 1, widest); }}};
}

void CaseReader::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("case {}: {}", number_, what));
}

} // namespace sextant::command
