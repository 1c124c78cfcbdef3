// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/machine/profile_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::machine {

namespace {

using Json = nlohmann::ordered_json; // keeps the fields in order of importance to a reader

Json json_of(const Value& value) {
    if (value == exactly(value.median))
        return value.median;
    return {value.median, value.low, value.high, value.samples};
}

void put_origin(Json& json, const Origin& origin) {
    if (!origin.date.empty())
        json["date"] = origin.date;
    if (!origin.method.empty())
        json["method"] = origin.method;
}

/// Appends the seconds to a row of a table.
Json json_of(Json row, const Value& seconds) {
    row.push_back(seconds.median);
    if (!(seconds == exactly(seconds.median))) {
        row.push_back(seconds.low);
        row.push_back(seconds.high);
        row.push_back(seconds.samples);
    }
    return row;
}

Json json_of(const std::vector<Point>& points) {
    Json rows = Json::array();
    for (const Point& p : points)
        rows.push_back(json_of({p.bytes, p.block}, p.seconds));
    return rows;
}

Json json_of(const std::vector<Pass>& passes) {
    Json rows = Json::array();
    for (const Pass& p : passes)
        rows.push_back(json_of({p.elements, p.operands}, p.seconds));
    return rows;
}

Json json_of(const Curve& curve) {
    Json json{{"path", name(curve.path)},
              {"layout", name(curve.layout)},
              {"strategy", name(curve.strategy)}};
    put_origin(json, curve.origin);
    json["points"] = json_of(curve.points);
    return json;
}

Json json_of(const Hockney& line) {
    Json json{{"latency", json_of(line.latency)},
              {"seconds_per_byte", json_of(line.seconds_per_byte)}};
    put_origin(json, line.origin);
    return json;
}

Json json_of(const LogGP& loggp) {
    Json json{{"latency", json_of(loggp.latency)},
              {"overhead", json_of(loggp.overhead)},
              {"gap", json_of(loggp.gap)},
              {"gap_per_byte", json_of(loggp.gap_per_byte)}};
    put_origin(json, loggp.origin);
    return json;
}

Json json_of(const LinkCosts& link) {
    Json json{{"link", name(link.link)}};
    if (!link.switches.empty())
        json["switches"] = link.switches;
    if (link.hockney)
        json["hockney"] = json_of(*link.hockney);
    if (link.loggp)
        json["loggp"] = json_of(*link.loggp);
    if (!link.gap.empty()) {
        json["gap"] = {{"points", json_of(link.gap)}};
        put_origin(json["gap"], link.gap_origin);
    }
    for (const Curve& curve : link.curves)
        json["curves"].push_back(json_of(curve));
    return json;
}

Json json_of(const Work& work) {
    Json json{{"name", work.name}, {"element", work.element}};
    if (work.seconds_per_element)
        json["seconds_per_element"] = json_of(*work.seconds_per_element);
    put_origin(json, work.origin);
    if (!work.passes.empty())
        json["points"] = json_of(work.passes);
    if (!work.alone.empty())
        json["alone"] = json_of(work.alone);
    return json;
}

Json json_of(const CopyRate& copy) {
    Json json{{"block", copy.block}, {"seconds_per_byte", json_of(copy.seconds_per_byte)}};
    put_origin(json, copy.origin);
    return json;
}

Json json_of(const Topology& topology) {
    return {{"shape", name(topology.shape)}, {"extents", topology.extents}};
}

Json json_of(const Network& network) {
    Json json{{"topology", json_of(network.topology)},
              {"seconds_per_byte", json_of(network.seconds_per_byte)}};
    put_origin(json, network.origin);
    return json;
}

Json json_of(const C3& c3) {
    Json json{{"topology", json_of(c3.topology)},
              {"routing", name(c3.routing)},
              {"blocking_sends", c3.blocking_sends},
              {"packet", c3.packet},
              {"setup", json_of(c3.setup)},
              {"seconds_per_unit", json_of(c3.seconds_per_unit)},
              {"seconds_per_computation_unit", json_of(c3.seconds_per_computation_unit)}};
    for (const C3::Distance& d : c3.published)
        json["published_distances"].push_back({d.width, d.height, d.latency});
    put_origin(json, c3.origin);
    return json;
}

template <class Item>
void put_list(Json& json, const char* field, const std::vector<Item>& items) {
    for (const Item& item : items)
        json[field].push_back(json_of(item));
}

void put_text(Json& json, const char* field, const std::string& text) {
    if (!text.empty())
        json[field] = text;
}

} // namespace

std::string profile_text(const Profile& profile) {
    Json json{{"version", profile_version}, {"name", profile.name}};
    put_text(json, "host", profile.host);
    if (profile.cores > 0)
        json["cores"] = profile.cores;
    put_text(json, "topology", profile.topology);
    put_text(json, "mpi", profile.mpi);
    put_text(json, "mpi_version", profile.mpi_version);
    put_text(json, "transport", profile.transport);
    put_text(json, "state", profile.state);
    if (!(profile.state_probe == Value{}))
        json["state_probe"] = json_of(profile.state_probe);
    put_origin(json, profile.origin);
    put_list(json, "operators", profile.operators);
    put_list(json, "kernels", profile.kernels);
    put_list(json, "copies", profile.copies);
    if (profile.network)
        json["network"] = json_of(*profile.network);
    if (profile.c3)
        json["c3"] = json_of(*profile.c3);
    put_list(json, "links", profile.links);
    return sextant::to_text(json, 1) + "\n";
}

std::string text_with_launches(const Profile& merged, std::span<const Profile> launches) {
    Json json = Json::parse(profile_text(merged));
    for (const Profile& launch : launches)
        json["launches"].push_back(Json::parse(profile_text(launch)));
    return to_text(json, 1) + "\n";
}

std::vector<Profile> read_launches(const std::string& path) {
    read_profile(path); // throws if the file is not a valid profile
    const nlohmann::json json = read_json(path);
    const auto found = json.is_object() ? json.find("launches") : json.end();
    if (found == json.end() || !found->is_array() || found->empty()) {
        throw InvalidFile(path,
                          "has no launches, expected a profile written by 'sextant calibrate'");
    }
    std::vector<Profile> launches;
    for (const nlohmann::json& launch : *found) {
        launches.push_back(
            parse_profile(to_text(launch), fmt::format("{}: launches[{}]", path, launches.size())));
    }
    return launches;
}

} // namespace sextant::machine
