// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile_file.hpp"

#include <utility>

namespace sextant::machine {

namespace {

Json json_of(const Value& value) {
    if (value == exactly(value.median))
        return value.median;
    return Json::array({value.median, value.low, value.high, value.samples});
}

void put_text(Json& json, const char* field, const std::string& text) {
    if (!text.empty())
        json.set(field, text);
}

void put_origin(Json& json, const Origin& origin) {
    put_text(json, "date", origin.date);
    put_text(json, "method", origin.method);
}

Json json_of(const Point& point);
Json json_of(const Pass& pass);
Json json_of(const Curve& curve);
Json json_of(const Work& work);
Json json_of(const CopyRate& copy);
Json json_of(const LinkCosts& link);
Json json_of(const C3::Distance& distance);

template <class Item>
void put_list(Json& json, const char* field, const std::vector<Item>& items) {
    Json list;
    for (const Item& item : items)
        list.add(json_of(item));
    if (!items.empty())
        json.set(field, std::move(list));
}

/// A row of a table: two numbers that identify the measurement, and its seconds.
Json row_of(std::int64_t first, std::int64_t second, const Value& seconds) {
    if (seconds == exactly(seconds.median))
        return Json::array({first, second, seconds.median});
    return Json::array({first, second, seconds.median, seconds.low, seconds.high, seconds.samples});
}

Json json_of(const Point& point) {
    return row_of(point.bytes, point.block, point.seconds);
}

Json json_of(const Pass& pass) {
    return row_of(pass.elements, pass.operands, pass.seconds);
}

Json json_of(const Curve& curve) {
    Json json{{"path", name(curve.path)},
              {"layout", name(curve.layout)},
              {"strategy", name(curve.strategy)}};
    put_origin(json, curve.origin);
    put_list(json, "points", curve.points);
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
        json.set("switches", link.switches);
    if (link.start)
        json.set("start", json_of(*link.start));
    put_list(json, "sending", link.sending);
    if (link.hockney)
        json.set("hockney", json_of(*link.hockney));
    if (link.loggp)
        json.set("loggp", json_of(*link.loggp));
    if (!link.gap.empty()) {
        Json gap;
        put_list(gap, "points", link.gap);
        put_origin(gap, link.gap_origin);
        json.set("gap", std::move(gap));
    }
    put_list(json, "curves", link.curves);
    return json;
}

Json json_of(const Work& work) {
    Json json{{"name", work.name}, {"element", work.element}};
    if (work.seconds_per_element)
        json.set("seconds_per_element", json_of(*work.seconds_per_element));
    put_origin(json, work.origin);
    put_list(json, "points", work.passes);
    put_list(json, "alone", work.alone);
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

Json json_of(const C3::Distance& distance) {
    return Json::array({distance.width, distance.height, distance.latency});
}

Json json_of(const C3& c3) {
    Json json{{"topology", json_of(c3.topology)},
              {"routing", name(c3.routing)},
              {"blocking_sends", c3.blocking_sends},
              {"packet", c3.packet},
              {"setup", json_of(c3.setup)},
              {"seconds_per_unit", json_of(c3.seconds_per_unit)},
              {"seconds_per_computation_unit", json_of(c3.seconds_per_computation_unit)}};
    put_list(json, "published_distances", c3.published);
    put_origin(json, c3.origin);
    return json;
}

} // namespace

Json json_of(const Profile& profile) {
    Json json = {{"version", profile_version}, {"name", profile.name}};
    put_text(json, "host", profile.host);
    if (profile.cores > 0)
        json.set("cores", profile.cores);
    put_text(json, "topology", profile.topology);
    put_text(json, "mpi", profile.mpi);
    put_text(json, "mpi_version", profile.mpi_version);
    put_text(json, "transport", profile.transport);
    put_text(json, "state", profile.state);
    if (!(profile.state_probe == Value{}))
        json.set("state_probe", json_of(profile.state_probe));
    if (!profile.crowding.empty())
        put_list(json, "crowding", profile.crowding);
    put_origin(json, profile.origin);
    put_list(json, "operators", profile.operators);
    put_list(json, "kernels", profile.kernels);
    put_list(json, "copies", profile.copies);
    if (profile.network)
        json.set("network", json_of(*profile.network));
    if (profile.c3)
        json.set("c3", json_of(*profile.c3));
    put_list(json, "links", profile.links);
    return json;
}

std::string profile_text(const Profile& profile) {
    return json_of(profile).text(1) + "\n";
}

std::string text_with_launches(const Profile& merged, std::span<const Profile> launches) {
    Json json = json_of(merged), list;
    for (const Profile& launch : launches)
        list.add(json_of(launch));
    if (!launches.empty())
        json.set("launches", std::move(list));
    return json.text(1) + "\n";
}

} // namespace sextant::machine
