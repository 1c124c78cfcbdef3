// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile_file.hpp"

#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/profile.hpp"

#include <set>
#include <tuple>

namespace sextant::machine {

namespace {

constexpr std::int64_t longest_profile = std::int64_t{1} << 26;
/// The largest count of bytes, elements or samples: twice as many still fit in 64 bits.
constexpr std::int64_t most_counted = std::int64_t{1} << 60;

/// Reads median, low, high and samples from consecutive list entries.
Value value_in(const JsonField& list, std::size_t median) {
    Value value;
    value.low = list[median + 1].number(0, list.most);
    value.high = list[median + 2].number(value.low, list.most);
    value.median = list[median].number(value.low, value.high);
    value.samples = list[median + 3].integer(0, most_counted);
    return value;
}

/// Reads a number, or [median, low, high, samples].
Value value_of(const JsonField& field) {
    if (field.is_number())
        return exactly(field.number(0, field.most));
    field.require_size(4, "a number, or [median, low, high, samples]");
    return value_in(field, 0);
}

Origin origin_of(const JsonField& field) {
    return {field.text_or("date", ""), field.text_or("method", "")};
}

/// Reads the time in a table row: the third number, optionally followed by low, high and samples.
Value seconds_of(const JsonField& row, const std::string& first_two) {
    if (row.size() != 3)
        row.require_size(6, "[" + first_two + ", seconds] or [" + first_two +
                                ", median, low, high, samples]");
    if (row.size() == 3)
        return exactly(row[2].number(0, row.most));
    return value_in(row, 2);
}

Point point_of(const JsonField& field) {
    Point point;
    point.seconds = seconds_of(field, "bytes, block");
    point.bytes = field[0].integer(0, most_counted);
    point.block = field[1].integer(0, point.bytes);
    if (point.bytes > 0 && point.block == 0)
        field[1].refuse("a block length in bytes, at least 1");
    return point;
}

Pass pass_of(const JsonField& field) {
    constexpr std::int64_t most_operands = 1 << 24;
    Pass pass;
    pass.seconds = seconds_of(field, "elements, operands");
    pass.elements = field[0].integer(0, most_counted);
    pass.operands = static_cast<int>(field[1].integer(1, most_operands));
    return pass;
}

/// Reads the rows of a table, which must be ordered by `key`.
template <class Row, class Key>
std::vector<Row> rows_of(const JsonField& field, Row (*read)(const JsonField&), Key&& key,
                         const char* order) {
    std::vector<Row> rows;
    for (const JsonField& item : field.items()) {
        const Row row = read(item);
        if (!rows.empty() && key(rows.back()) >= key(row))
            item.refuse(order);
        rows.push_back(row);
    }
    if (rows.empty())
        field.refuse("one point or more");
    return rows;
}

std::vector<Point> points_of(const JsonField& field) {
    return rows_of(
        field, point_of, [](const Point& p) { return std::tuple(p.bytes, p.block); },
        "more bytes than the previous point, or equally many in longer blocks");
}

std::vector<Pass> passes_of(const JsonField& field) {
    return rows_of(
        field, pass_of, [](const Pass& p) { return std::tuple(p.elements, p.operands); },
        "more elements than the previous point, or equally many with more operands");
}

Curve curve_of(const JsonField& field) {
    Curve curve;
    curve.path = field.at("path").one_of<Path>(path_names);
    curve.layout = field.at("layout").one_of<Layout>(layout_names);
    curve.strategy = field.at("strategy").one_of<Strategy>(strategy_names);
    const bool whole =
        curve.strategy == Strategy::contiguous || curve.strategy == Strategy::lending;
    if ((curve.layout == Layout::cc) != whole)
        field.at("strategy")
            .refuse("\"contiguous\" or \"lending\" for layout cc, and another strategy for other "
                    "layouts");
    curve.origin = origin_of(field);
    curve.points = points_of(field.at("points"));
    return curve;
}

Hockney hockney_of(const JsonField& field) {
    return {value_of(field.at("latency")), value_of(field.at("seconds_per_byte")),
            origin_of(field)};
}

LogGP loggp_of(const JsonField& field) {
    return {value_of(field.at("latency")), value_of(field.at("overhead")),
            value_of(field.at("gap")), value_of(field.at("gap_per_byte")), origin_of(field)};
}

LinkCosts link_of(const JsonField& field) {
    LinkCosts link;
    link.link = field.at("link").one_of<Link>(link_names);
    for (const JsonField& size : field.items_or_none("switches")) {
        link.switches.push_back(
            size.integer(link.switches.empty() ? 0 : link.switches.back() + 1, most_counted));
    }
    if (const auto given = field.find("start"))
        link.start = value_of(*given);
    if (const auto given = field.find("sending"))
        link.sending = points_of(*given);
    if (const auto given = field.find("hockney"))
        link.hockney = hockney_of(*given);
    if (const auto given = field.find("loggp"))
        link.loggp = loggp_of(*given);
    if (const auto given = field.find("gap")) {
        link.gap = points_of(given->at("points"));
        link.gap_origin = origin_of(*given);
    }
    std::set<std::tuple<Path, Layout, Strategy>> cells;
    for (const JsonField& item : field.items_or_none("curves")) {
        link.curves.push_back(curve_of(item));
        const Curve& curve = link.curves.back();
        if (!cells.insert({curve.path, curve.layout, curve.strategy}).second)
            item.fail("repeats the path, layout and strategy of another curve");
    }
    return link;
}

Work work_of(const JsonField& field) {
    Work work;
    work.name = field.at("name").text();
    if (const auto element = field.find("element"))
        work.element = element_names[element->one_of<std::size_t>(element_names)];
    const auto points = field.find("points"), rate = field.find("seconds_per_element");
    if (points)
        work.passes = passes_of(*points);
    if (const auto alone = field.find("alone"))
        work.alone = passes_of(*alone);
    if (rate)
        work.seconds_per_element = value_of(*rate);
    if (!points && !rate)
        field.fail("has neither points nor seconds_per_element");
    work.origin = origin_of(field);
    return work;
}

/// Reads operators or kernels; each name and element may occur once.
std::vector<Work> works_of(const JsonField& field, const char* name) {
    std::vector<Work> works;
    std::set<std::tuple<std::string, std::string>> seen;
    for (const JsonField& item : field.items_or_none(name)) {
        works.push_back(work_of(item));
        if (!seen.insert({works.back().name, works.back().element}).second)
            item.fail("repeats the name and element of another entry");
    }
    return works;
}

CopyRate copy_of(const JsonField& field) {
    return {field.at("block").integer(0, most_counted), value_of(field.at("seconds_per_byte")),
            origin_of(field)};
}

Topology topology_of(const JsonField& field) {
    constexpr std::int64_t most_processors = 1 << 24;
    Topology topology;
    topology.shape = field.at("shape").one_of<Shape>(shape_names);
    const JsonField extents = field.at("extents");
    std::int64_t product = 1;
    for (const JsonField& extent : extents.items()) {
        topology.extents.push_back(static_cast<int>(extent.integer(1, most_processors / product)));
        product *= topology.extents.back();
    }
    const bool arrays = topology.shape == Shape::mesh || topology.shape == Shape::torus;
    const std::size_t least = arrays ? 2 : 1, most = arrays ? 3 : 1;
    if (extents.size() < least || extents.size() > most)
        extents.refuse(arrays ? "two or three numbers" : "one number");
    return topology;
}

Network network_of(const JsonField& field) {
    return {topology_of(field.at("topology")), value_of(field.at("seconds_per_byte")),
            origin_of(field)};
}

C3 c3_of(const JsonField& field) {
    C3 c3;
    c3.topology = topology_of(field.at("topology"));
    c3.routing = field.at("routing").one_of<Routing>(routing_names);
    c3.blocking_sends = field.at("blocking_sends").boolean();
    c3.packet = field.at("packet").integer(1, most_counted);
    c3.setup = value_of(field.at("setup"));
    c3.seconds_per_unit = value_of(field.at("seconds_per_unit"));
    c3.seconds_per_computation_unit = value_of(field.at("seconds_per_computation_unit"));
    for (const JsonField& row : field.items_or_none("published_distances")) {
        row.require_size(3, "[width, height, distance]");
        c3.published.push_back({static_cast<int>(row[0].integer(1, 1 << 24)),
                                static_cast<int>(row[1].integer(1, 1 << 24)),
                                row[2].number(0, row.most)});
    }
    c3.origin = origin_of(field);
    return c3;
}

std::vector<LinkCosts> links_of(const JsonField& field) {
    std::vector<LinkCosts> links;
    std::set<Link> seen;
    for (const JsonField& item : field.items_or_none("links")) {
        links.push_back(link_of(item));
        if (!seen.insert(links.back().link).second)
            item.at("link").refuse("each link once");
    }
    return links;
}

Profile profile_of(const JsonField& field) {
    field.at("version").require_version(profile_version);
    Profile profile;
    profile.name = field.at("name").text();
    profile.host = field.text_or("host", "");
    if (const auto cores = field.find("cores"))
        profile.cores = static_cast<int>(cores->integer(1, 1 << 24));
    profile.topology = field.text_or("topology", "");
    profile.mpi = field.text_or("mpi", "");
    profile.mpi_version = field.text_or("mpi_version", "");
    profile.transport = field.text_or("transport", "");
    profile.state = field.text_or("state", "");
    if (const auto crowding = field.find("crowding"))
        profile.crowding = points_of(*crowding);
    if (const auto probe = field.find("state_probe"))
        profile.state_probe = value_of(*probe);
    profile.origin = {field.at("date").text(), field.at("method").text()};
    profile.operators = works_of(field, "operators");
    profile.kernels = works_of(field, "kernels");
    for (const JsonField& item : field.items_or_none("copies"))
        profile.copies.push_back(copy_of(item));
    if (const auto network = field.find("network"))
        profile.network = network_of(*network);
    if (const auto c3 = field.find("c3"))
        profile.c3 = c3_of(*c3);
    profile.links = links_of(field);
    return profile;
}

} // namespace

Profile parse_profile(std::string_view text, const std::string& path) {
    return profile_of(JsonField::parse(text, path));
}

Profile read_profile(const std::string& path) {
    return parse_profile(read_text(path, longest_profile), path);
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
