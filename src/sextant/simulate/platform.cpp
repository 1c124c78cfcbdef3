// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/platform.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/machine/field.hpp"
#include "sextant/simulate/shapes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

using machine::Field;

constexpr Bytes most_bytes = Bytes{64} << 20;

Wire read_wire(const Field& field) {
    return {field.at("bytes_per_second").number(1, Field::most), field.at("latency").number(0, 1)};
}

/// Messages within a node go over a link of its own, which all its ranks share.
void add_nodes(const Field& node, Network& network) {
    network.cores = static_cast<int>(node.at("cores").integer(1, 1 << 16));
    const Wire wire = read_wire(node);
    const auto first = static_cast<int>(network.links.size());
    for (const std::string& host : network.hosts)
        network.links.push_back({host + "-within", wire.bytes_per_second, wire.latency, false});
    network.route = [first, between = std::move(network.route)](int from, int to,
                                                                std::vector<int>& path) {
        if (from == to)
            path.push_back(first + from);
        else
            between(from, to, path);
    };
}

Network read_network(const Field& whole) {
    const Field field = whole.at("network");
    std::vector<std::string_view> names;
    for (const Shape& shape : shapes())
        names.push_back(shape.name);
    const auto shape = field.at("shape").one_of<std::size_t>(names);
    Network network = shapes()[shape].build(field, read_wire(whole.at("links")));
    if (const auto node = whole.find("node"))
        add_nodes(*node, network);
    return network;
}

Costs read_costs(const Field& field) {
    const auto number = [&](const char* name) {
        const auto found = field.find(name);
        return found ? found->number(0, Field::most) : 0;
    };
    Costs costs;
    costs.send_overhead = number("send_overhead");
    costs.receive_overhead = number("receive_overhead");
    costs.send_seconds_per_byte = number("send_seconds_per_byte");
    costs.receive_seconds_per_byte = number("receive_seconds_per_byte");
    costs.copy_seconds_per_byte = number("copy_seconds_per_byte");
    costs.seconds_per_application = number("seconds_per_application");
    return costs;
}

} // namespace

Platform parse_platform(std::string_view text, const std::string& path) {
    const Field whole = Field::parse(text, path);
    const int version = static_cast<int>(whole.at("version").integer(1, 1 << 30));
    if (version > 1)
        whole.at("version").refuse("1: the file is newer than this program");
    Platform platform;
    platform.name = whole.at("name").text();
    platform.source = whole.at("source").text();
    platform.fitted = whole.text_or("fitted", "");
    platform.network = read_network(whole);
    if (const auto loss = whole.at("links").find("loss")) {
        platform.loss = {loss->at("flows").number(1, most_hosts),
                         loss->at("per_doubling").number(0, 100)};
    }
    if (const auto costs = whole.find("costs"))
        platform.costs = read_costs(*costs);
    return platform;
}

Platform read_platform(const std::string& path) {
    return parse_platform(read_text(path, most_bytes), path);
}

bool is_platform(const std::string& path) {
    return Field::parse(read_text(path, most_bytes), path).find("source").has_value();
}

bool is_json(const std::string& path) {
    return path.ends_with(".json");
}

} // namespace sextant::simulate
