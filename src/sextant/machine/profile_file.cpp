// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile_file.hpp"

#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace sextant::machine {

namespace {

constexpr std::int64_t longest_profile = std::int64_t{1} << 26;
/// The largest count of bytes, elements or samples: twice as many still fit in 64 bits.
constexpr std::int64_t most_counted = std::int64_t{1} << 60;
constexpr std::int64_t most_processors = 1 << 24;

// Values: `parse` reads one, and `json_of` returns its JSON.

void parse(const JsonField& field, bool& value) {
    value = field.boolean();
}

void parse(const JsonField& field, std::string& value) {
    value = field.text();
}

void parse(const JsonField& field, Bytes& value) {
    value = field.integer(0, most_counted);
}

void parse(const JsonField& field, int& value) {
    value = static_cast<int>(field.integer(1, most_processors));
}

/// Reads median, low, high and samples from the end of a list, after `before` other numbers.
Value value_after(std::size_t before, const JsonField& list, const std::string& expected) {
    list.require_size(before + 4, expected);
    Value value;
    value.low = list[before + 1].number(0, list.most);
    value.high = list[before + 2].number(value.low, list.most);
    value.median = list[before].number(value.low, value.high);
    value.samples = list[before + 3].integer(0, most_counted);
    return value;
}

void parse(const JsonField& field, Value& value) {
    value = field.is_number() ? exactly(field.number(0, field.most))
                              : value_after(0, field, "a number, or [median, low, high, samples]");
}

Json with_value(Json list, const Value& value) {
    list.add(value.median);
    if (value != exactly(value.median)) {
        list.add(value.low);
        list.add(value.high);
        list.add(value.samples);
    }
    return list;
}

Json json_of(const Value& value) {
    return value == exactly(value.median) ? value.median : with_value(Json::array(), value);
}

/// A row of a table: two numbers, by which rows are ordered, and a time.
template <class Type>
concept Row = std::same_as<Type, Point> || std::same_as<Type, Pass>;

template <Row Type>
void parse(const JsonField& field, Type& row) {
    constexpr bool is_point = std::same_as<Type, Point>;
    auto& [first, second, seconds] = row;
    if (field.size() == 3) {
        seconds = exactly(field[2].number(0, field.most));
    } else {
        constexpr const char* numbers = is_point ? "bytes, block" : "elements, operands";
        seconds = value_after(
            2, field, fmt::format("[{0}, seconds] or [{0}, median, low, high, samples]", numbers));
    }
    parse(field[0], first);
    parse(field[1], second);
    if (is_point && field[1].integer(0, first) == 0 && first > 0)
        field[1].refuse("a block length in bytes, at least 1");
}

template <Row Type>
Json json_of(const Type& row) {
    const auto& [first, second, seconds] = row;
    return with_value(Json::array({first, second}), seconds);
}

void parse(const JsonField& row, C3::Distance& distance) {
    row.require_size(3, "[width, height, distance]");
    parse(row[0], distance.width);
    parse(row[1], distance.height);
    distance.latency = row[2].number(0, row.most);
}

Json json_of(const C3::Distance& distance) {
    return Json::array({distance.width, distance.height, distance.latency});
}

/// Refuses an item that is not after the previous one.
void check_order(const JsonField& field, const Bytes& before, const Bytes& item) {
    if (before >= item)
        field.refuse("more than the previous number");
}

template <Row Type>
void check_order(const JsonField& field, const Type& before, const Type& row) {
    if (before.key() >= row.key())
        field.refuse(std::same_as<Type, Point>
                         ? "more bytes than the previous point, or equally many in longer blocks"
                         : "more elements than the previous point, or equally many with more "
                           "operands");
}

/// An object of a file, which is read or written. For each type of object, `declare` names the
/// fields in the order in which they are written.
struct Object {
    const JsonField* from = nullptr; ///< the object that is read; null if one is written
    Json json = {};                  ///< the object that is written

    template <class Type>
    void add(const char* name, Type& value) {
        if (from)
            read(from->at(name), value);
        else
            json.set(name, written(value));
    }
    /// Adds a field that files omit if it has its default value.
    template <class Type>
    void add_optional(const char* name, Type& value) {
        if (from ? from->find(name).has_value() : value != Type{})
            add(name, value);
    }
    template <class Enum>
    void add(const char* name, Enum& value, std::span<const std::string_view> names) {
        if (from)
            value = from->at(name).one_of<Enum>(names);
        else
            json.set(name, names[static_cast<std::size_t>(value)]);
    }
    /// Adds a list of items with distinct keys, which files omit if it is empty.
    template <class Item>
    void add_distinct(const char* name, std::vector<Item>& items, const char* keys) {
        add_optional(name, items);
        std::set<decltype(items[0].key())> seen;
        for (std::size_t i = 0; from && i < items.size(); ++i) {
            if (!seen.insert(items[i].key()).second)
                from->at(name)[i].fail(fmt::format("repeats the {}", keys));
        }
    }

  private:
    template <class Type>
    static void read(const JsonField& field, Type& value) {
        if constexpr (requires(Object object) { declare(object, value); }) {
            Object object{.from = &field};
            declare(object, value);
        } else {
            parse(field, value);
        }
    }
    template <class Type>
    static void read(const JsonField& field, std::optional<Type>& value) {
        read(field, value.emplace());
    }
    template <class Type>
    static void read(const JsonField& field, std::vector<Type>& all) {
        for (const JsonField& item : field.items()) {
            Type one{};
            read(item, one);
            if constexpr (requires { check_order(item, one, one); }) {
                if (!all.empty())
                    check_order(item, all.back(), one);
            }
            all.push_back(std::move(one));
        }
        constexpr bool is_table = requires(Type row) {
            row.seconds;
        };
        if (is_table && all.empty())
            field.refuse("one point or more");
    }

    template <class Type>
    static Json written(Type value) {
        if constexpr (requires(Object object) { declare(object, value); }) {
            Object object;
            declare(object, value);
            return std::move(object.json);
        } else if constexpr (requires { json_of(value); }) {
            return json_of(value);
        } else {
            return value;
        }
    }
    template <class Type>
    static Json written(const std::optional<Type>& value) {
        return written(*value);
    }
    template <class Type>
    static Json written(const std::vector<Type>& all) {
        Json list = Json::array();
        for (const Type& each : all)
            list.add(written(each));
        return list;
    }
};

void declare(Object& object, Origin& origin) {
    object.add_optional("date", origin.date);
    object.add_optional("method", origin.method);
}

void declare(Object& object, Curve& curve) {
    object.add("path", curve.path, path_names);
    object.add("layout", curve.layout, layout_names);
    object.add("strategy", curve.strategy, strategy_names);
    const bool whole =
        curve.strategy == Strategy::contiguous || curve.strategy == Strategy::lending;
    if (object.from && (curve.layout == Layout::cc) != whole)
        object.from->at("strategy")
            .refuse("\"contiguous\" or \"lending\" for layout cc, and another strategy for other "
                    "layouts");
    declare(object, curve.origin);
    object.add("points", curve.points);
}

void declare(Object& object, Hockney& hockney) {
    object.add("latency", hockney.latency);
    object.add("seconds_per_byte", hockney.seconds_per_byte);
    declare(object, hockney.origin);
}

void declare(Object& object, LogGP& loggp) {
    object.add("latency", loggp.latency);
    object.add("overhead", loggp.overhead);
    object.add("gap", loggp.gap);
    object.add("gap_per_byte", loggp.gap_per_byte);
    declare(object, loggp.origin);
}

/// LinkCosts::gap and its origin, which are one object in a file.
struct Gap {
    std::vector<Point> points;
    Origin origin;
    bool operator==(const Gap&) const = default;
};

void declare(Object& object, Gap& gap) {
    object.add("points", gap.points);
    declare(object, gap.origin);
}

void declare(Object& object, LinkCosts& link) {
    object.add("link", link.link, link_names);
    object.add_optional("switches", link.switches);
    object.add_optional("start", link.start);
    object.add_optional("sending", link.sending);
    object.add_optional("hockney", link.hockney);
    object.add_optional("loggp", link.loggp);
    Gap gap{link.gap, link.gap_origin};
    object.add_optional("gap", gap);
    link.gap = std::move(gap.points), link.gap_origin = std::move(gap.origin);
    object.add_distinct("curves", link.curves, "path, layout and strategy of another curve");
}

void declare(Object& object, Work& work) {
    object.add("name", work.name);
    if (!object.from)
        object.json.set("element", work.element);
    else if (const auto element = object.from->find("element"))
        work.element = element_names[element->one_of<std::size_t>(element_names)];
    object.add_optional("seconds_per_element", work.seconds_per_element);
    declare(object, work.origin);
    object.add_optional("points", work.passes);
    object.add_optional("alone", work.alone);
    if (object.from && work.passes.empty() && !work.seconds_per_element)
        object.from->fail("has neither points nor seconds_per_element");
}

void declare(Object& object, CopyRate& copy) {
    object.add("block", copy.block);
    object.add("seconds_per_byte", copy.seconds_per_byte);
    declare(object, copy.origin);
}

void parse_extents(const JsonField& extents, Topology& topology) {
    std::int64_t product = 1;
    for (const JsonField& extent : extents.items()) {
        topology.extents.push_back(static_cast<int>(extent.integer(1, most_processors / product)));
        product *= topology.extents.back();
    }
    const bool arrays = topology.shape == Shape::mesh || topology.shape == Shape::torus;
    const std::size_t least = arrays ? 2 : 1, most = arrays ? 3 : 1;
    if (extents.size() < least || extents.size() > most)
        extents.refuse(arrays ? "two or three numbers" : "one number");
}

void declare(Object& object, Topology& topology) {
    object.add("shape", topology.shape, shape_names);
    if (object.from)
        parse_extents(object.from->at("extents"), topology);
    else
        object.json.set("extents", topology.extents);
}

void declare(Object& object, Network& network) {
    object.add("topology", network.topology);
    object.add("seconds_per_byte", network.seconds_per_byte);
    declare(object, network.origin);
}

void declare(Object& object, C3& c3) {
    object.add("topology", c3.topology);
    object.add("routing", c3.routing, routing_names);
    object.add("blocking_sends", c3.blocking_sends);
    object.add("packet", c3.packet);
    if (object.from && c3.packet == 0)
        object.from->at("packet").refuse("a whole number of bytes, at least 1");
    object.add("setup", c3.setup);
    object.add("seconds_per_unit", c3.seconds_per_unit);
    object.add("seconds_per_computation_unit", c3.seconds_per_computation_unit);
    object.add_optional("published_distances", c3.published);
    declare(object, c3.origin);
}

void declare(Object& object, Profile& profile) {
    if (object.from)
        object.from->at("version").require_version(profile_version);
    else
        object.json.set("version", profile_version);
    object.add("name", profile.name);
    object.add_optional("provisional", profile.provisional);
    object.add_optional("host", profile.host);
    object.add_optional("cores", profile.cores);
    object.add_optional("topology", profile.topology);
    object.add_optional("mpi", profile.mpi);
    object.add_optional("mpi_version", profile.mpi_version);
    object.add_optional("transport", profile.transport);
    object.add_optional("state", profile.state);
    object.add_optional("state_probe", profile.state_probe);
    object.add_optional("crowding", profile.crowding);
    object.add("date", profile.origin.date);
    object.add("method", profile.origin.method);
    object.add_distinct("operators", profile.operators, "name and element of another entry");
    object.add_distinct("kernels", profile.kernels, "name and element of another entry");
    object.add_optional("copies", profile.copies);
    object.add_optional("network", profile.network);
    object.add_optional("c3", profile.c3);
    object.add_distinct("links", profile.links, "link of another entry");
}

Profile profile_of(const JsonField& field) {
    Profile profile;
    Object object{.from = &field};
    declare(object, profile);
    return profile;
}

} // namespace

Profile parse_profile(std::string_view text, const std::string& path) {
    return profile_of(JsonField::parse(text, path));
}

Profile read_profile(const std::string& path) {
    return parse_profile(read_text(path, longest_profile), path);
}

Json json_of(const Profile& profile) {
    Object object;
    Profile copy = profile;
    declare(object, copy);
    return std::move(object.json);
}

std::string profile_text(const Profile& profile) {
    return text_with_launches(profile, {});
}

std::string text_with_launches(const Profile& merged, std::span<const Profile> launches) {
    Json json = json_of(merged), list;
    for (const Profile& launch : launches)
        list.add(json_of(launch));
    if (!launches.empty())
        json.set("launches", std::move(list));
    return json.text(1) + "\n";
}

std::vector<Profile> read_launches(const std::string& path) {
    const JsonField file = JsonField::parse(read_text(path, longest_profile), path);
    profile_of(file); // throws if the file is not a valid profile
    std::vector<Profile> launches;
    for (const JsonField& launch : file.items_or_none("launches"))
        launches.push_back(profile_of(launch));
    if (launches.empty())
        file.fail("has no launches, expected a profile written by 'sextant calibrate'");
    return launches;
}

namespace {

// The built-in machine. Between threads, the receiver copies the data, or folds it directly from
// the sender's memory. Between processes of a node, both sides copy through shared memory. Between
// nodes, the network transfers 100 Gbit/s, and the processor only starts messages.
constexpr const char* text = R"({
 "version": 1, "name": "a built-in machine", "date": "2026",
 "method": "rounded figures for servers and clusters of the 2020s; not measured",
 "links": [
  {"link": "same process", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [16777216, 16777216, 2.2e-7]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 7e-6], [1048576, 1048576, 1.2e-4], [16777216, 16777216, 2.1e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 5e-7], [65536, 65536, 7.5e-6], [1048576, 1048576, 1.2e-4], [16777216, 16777216, 2.1e-3]]},
   {"path": "full", "layout": "cc", "strategy": "lending",
    "points": [[0, 0, 5e-7], [65536, 65536, 1.5e-6], [16777216, 16777216, 2e-4]]}]},
  {"link": "same node", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 8e-6], [1048576, 1048576, 1.3e-4], [16777216, 16777216, 2.2e-3]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 2e-7], [65536, 65536, 8e-6], [1048576, 1048576, 1.3e-4], [16777216, 16777216, 2.2e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 6e-7], [65536, 65536, 1e-5], [1048576, 1048576, 1.4e-4], [16777216, 16777216, 2.3e-3]]}],
   "switches": [4096]},
  {"link": "other node", "curves": [
   {"path": "send", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 4e-7], [16777216, 16777216, 1.4e-3]]},
   {"path": "receive", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 4e-7], [16777216, 16777216, 1.4e-3]]},
   {"path": "full", "layout": "cc", "strategy": "contiguous",
    "points": [[0, 0, 1.6e-6], [16777216, 16777216, 1.4e-3]]}],
   "switches": [16384]}],
 "operators": [
  {"name": "over", "points": [[1, 2, 3e-8], [1, 8, 1e-7], [16384, 2, 1.6e-5], [16384, 8, 8e-5],
                              [65536, 2, 1.2e-4], [65536, 8, 4.2e-4],
                              [8388608, 2, 2.2e-2], [8388608, 8, 5.8e-2]]},
  {"name": "over", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "over", "element": "u8", "seconds_per_element": 8e-10},
  {"name": "nearest", "seconds_per_element": 3e-9},
  {"name": "nearest", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "nearest", "element": "u8", "seconds_per_element": 1e-9},
  {"name": "add", "seconds_per_element": 2e-9},
  {"name": "add", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "add", "element": "u8", "seconds_per_element": 6e-10},
  {"name": "max", "seconds_per_element": 2e-9},
  {"name": "max", "element": "f16", "seconds_per_element": 2e-9},
  {"name": "max", "element": "u8", "seconds_per_element": 6e-10}],
 "kernels": [
  {"name": "gaussian-derivatives", "points": [[1024, 8, 6e-7], [1024, 32, 1.8e-6],
                                              [1048576, 8, 6e-4], [1048576, 32, 1.8e-3]]}],
 "copies": [{"block": 0, "seconds_per_byte": 1.2e-10}]
})";

} // namespace

const Profile& built_in() {
    static const Profile profile = parse_profile(text, "built-in");
    return profile;
}

} // namespace sextant::machine
