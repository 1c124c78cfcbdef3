// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/serve/address.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sextant::serve {

/// The number of clients that may follow a page at the same time.
inline constexpr int most_clients = 16;

/// Serves one page over HTTP, and a stream of server-sent events that keeps it up to date. Both are
/// read-only, and their URL contains a random token: `http://HOST:PORT/TOKEN/`, with the stream at
/// `events` below it. Requests with another Host header (names_server()), path or method are
/// refused, as is a stream for more than `most_clients` clients.
///
/// There are events of two kinds. A value replaces the one before: a client that is slower than
/// updates misses some. The items of a list are sent from the first one to each client, as JSON
/// arrays. set() and add() never wait for clients; one that takes no data for two seconds, or
/// longer than five seconds for a piece of 64 kB, is disconnected.
class LiveServer {
  public:
    /// Listens from now on. Throws InvalidTask if it cannot, naming the address: if the port is in
    /// use, or without cpp-httplib.
    LiveServer(const Address& address, std::string page);
    /// Sends the last news to the clients, for at most ten seconds, and disconnects them.
    ~LiveServer();

    std::string url() const;
    /// Sets the value of an event; one line.
    void set(std::string_view event, std::string value);
    /// Appends a JSON value to the list of an event; one line.
    void add(std::string_view event, std::string item);
    /// The number of clients that follow the page now.
    int clients() const;
    /// The number of clients that were disconnected because they were too slow.
    std::int64_t dropped() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace sextant::serve
