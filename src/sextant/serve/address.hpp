// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant::serve {

/// The address at which a server listens.
struct Address {
    std::string host = "127.0.0.1"; ///< IPv6 addresses without brackets: "::1"
    int port = 0;                   ///< 0: any free port

    bool is_loopback() const;
    /// Returns "127.0.0.1:8080" or "[::1]:8080".
    std::string text() const;
};

/// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or a port alone, which means this port
/// of 127.0.0.1. Throws InvalidTask.
Address parse_address(std::string_view text);

/// Returns true if the Host header of a request names the server: its own address or a literal IP
/// address, with its port. Requests from pages of other sites that reach the server under another
/// name (DNS rebinding) are thereby refused.
bool names_server(std::string_view header, const Address& address);

/// Returns a random text of 32 hexadecimal digits from the system's generator.
std::string random_token();

} // namespace sextant::serve
