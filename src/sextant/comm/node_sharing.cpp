// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sextant {

namespace {

bool some_share_a_node(const Communicator& communicator) {
    const std::vector<int> nodes = nodes_of(communicator);
    return *std::max_element(nodes.begin(), nodes.end()) + 1 < communicator.size();
}

/// Threads always share memory, so "off" is refused.
OfferedSharing among_threads(const std::string& requested) {
    if (requested == "off") {
        throw InvalidTask("shared_memory off: ranks are threads, which always share memory; "
                          "expected processes started by mpirun");
    }
    return {};
}

} // namespace

OfferedSharing offer_sharing(const std::string& requested, const Communicator& communicator) {
    if (communicator.shares_memory())
        return among_threads(requested);
    if (requested == "off")
        return {{}, {false, true, "requested"}, ""};
    if (!some_share_a_node(communicator)) {
        if (requested == "on")
            throw InvalidTask("shared_memory on: every rank is alone on its node");
        return {{}, {false, true, "every rank is alone on its node"}, ""};
    }
    SharedNodes nodes = share_nodes(communicator);
    if (nodes.why_not.empty()) {
        const bool on = requested == "on";
        return {std::move(nodes.communicator), {true, on, on ? "requested" : ""}, ""};
    }
    if (requested == "on")
        throw InvalidTask("shared_memory on: " + nodes.why_not);
    return {{},
            {false, true, "shared memory is not available"},
            "shared memory within nodes is not available: " + nodes.why_not};
}

bool reads_all(const Communicator& communicator, const std::vector<int>& nodes) {
    const bool one_node =
        std::all_of(nodes.begin(), nodes.end(), [](int node) { return node == 0; });
    return communicator.shares_memory() || (communicator.shares_nodes() && one_node);
}

std::string shortage_of(const Communicator& communicator) {
    if (!communicator.shares_nodes() || communicator.shares_memory())
        return "";
    const std::vector<std::string> all = all_gather_texts(communicator, communicator.shortage());
    const auto first =
        std::find_if(all.begin(), all.end(), [](const std::string& text) { return !text.empty(); });
    return first == all.end() ? "" : *first;
}

Record record_of(const NodeSharingChoice& choice) {
    return {{"used", choice.shares}, {"reason", choice.reason}};
}

std::string within_nodes(const NodeSharingChoice& choice) {
    return fmt::format("{} within nodes ({})", choice.shares ? "shared memory" : "messages",
                       choice.reason);
}

NodeSharingChoice choose_sharing(const Communicator& communicator, std::optional<Seconds> shared,
                                 std::optional<Seconds> messages) {
    constexpr Seconds unknown = -1;
    const std::array own{shared.value_or(unknown), messages.value_or(unknown)};
    const auto [in_memory, by_messages] = communicator.all_gather(own).front();
    if (in_memory < 0 || by_messages < 0)
        return {true, true, "chosen by rule, without a prediction"};
    const bool shares = in_memory <= by_messages;
    return {shares, true,
            fmt::format("predicted {:.3g} ms, {} {:.3g} ms",
                        (shares ? in_memory : by_messages) * 1e3,
                        shares ? "by messages" : "in shared memory",
                        (shares ? by_messages : in_memory) * 1e3)};
}

} // namespace sextant
