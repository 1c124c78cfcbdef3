// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/live_server.hpp"

#include "sextant/core/error.hpp"

namespace sextant::serve {

struct LiveServer::State {};

LiveServer::LiveServer(const Address& address, std::string) {
    throw InvalidTask(address.text() + ": this program was built without cpp-httplib "
                                       "(libcpp-httplib-dev), which serves pages");
}

LiveServer::~LiveServer() = default;

std::string LiveServer::url() const {
    return "";
}

void LiveServer::set(std::string_view, std::string) {}

void LiveServer::add(std::string_view, std::string) {}

int LiveServer::clients() const {
    return 0;
}

std::int64_t LiveServer::dropped() const {
    return 0;
}

} // namespace sextant::serve
