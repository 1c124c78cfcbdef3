// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant::serve {

/// The address at which a server listens.
struct Address {
    std::string host = "127.0.0.1"; ///< "::1" without brackets
    int port = 0;                   ///< 0: any free port

    bool is_loopback() const;
    /// "127.0.0.1:8080", "[::1]:8080"
    std::string text() const;
};

/// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or a port alone, which is that of
/// 127.0.0.1. Throws InvalidTask.
Address parse_address(std::string_view text);

/// True if a request's Host header names the server: its own address or a literal of one, with its
/// port. A page of another site that reaches the server through a name of its own (DNS rebinding)
/// is thereby refused.
bool names_server(std::string_view header, const Address& address);

/// A random text of 32 hexadecimal digits, from the system's generator.
std::string random_token();

} // namespace sextant::serve
