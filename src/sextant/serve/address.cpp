// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/address.hpp"

#include "sextant/core/error.hpp"

#include <array>
#include <charconv>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

namespace sextant::serve {

namespace {

bool is_literal(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// Splits "host:port" or "[host]:port"; returns false for any other form.
bool split_address(std::string_view text, std::string& host, int& port) {
    const std::size_t colon = text.rfind(':');
    const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
    host = colon == std::string_view::npos ? "" : std::string(text.substr(0, colon));
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string::npos)
        return false;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    constexpr int most_port = 65535;
    return error == std::errc() && end == digits.data() + digits.size() && port >= 0 &&
           port <= most_port;
}

} // namespace

bool Address::is_loopback() const {
    return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_literal(host));
}

std::string Address::text() const {
    const bool colons = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", colons ? "[" : "", host, colons ? "]" : "", port);
}

Address parse_address(std::string_view text) {
    Address address;
    std::string host;
    if (!split_address(text, host, address.port) ||
        (!host.empty() && host != "localhost" && !is_literal(host)))
        throw InvalidTask(
            fmt::format("\"{}\" is not an address, expected for example 127.0.0.1:8080", text));
    if (!host.empty())
        address.host = host;
    return address;
}

bool names_server(std::string_view header, const Address& address) {
    std::string host;
    int port = 0;
    if (header.find(':') == std::string_view::npos || !split_address(header, host, port) ||
        port != address.port)
        return false;
    if (host == address.host)
        return true;
    const Address named{host, port};
    return address.is_loopback() ? named.is_loopback() : host == "localhost" || is_literal(host);
}

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Error("the system's random-number generator failed");
    std::string token;
    for (const unsigned char byte : bytes)
        token += fmt::format("{:02x}", byte);
    return token;
}

} // namespace sextant::serve
