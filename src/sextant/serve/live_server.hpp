// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/serve/address.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sextant::serve {

/// The maximum number of clients that can follow a page at the same time.
inline constexpr int most_clients = 16;

/// Serves one page over HTTP, and a stream of server-sent events that keeps the page up to date.
/// Both are read-only, and their URL contains a random token: `http://HOST:PORT/TOKEN/` for the
/// page, and `events` below it for the stream. Requests with another Host header (names_server()),
/// path or method are refused, and so are streams for more than `most_clients` clients.
///
/// There are two kinds of events. A value replaces the previous value, so slow clients miss some
/// values. The items of a list are all sent to each client, as JSON arrays. set() and add() never
/// wait for clients. A client is disconnected if it accepts no data for two seconds, or takes more
/// than five seconds to receive 64 kB.
class LiveServer {
  public:
    /// Starts to listen. Throws InvalidTask, naming the address, if listening fails, such as when
    /// the port is in use or Sextant was built without cpp-httplib.
    LiveServer(const Address& address, std::string page);
    /// Sends the last events to the clients, for at most ten seconds, and disconnects them.
    ~LiveServer();

    std::string url() const;
    /// Sets the value of an event. `value` must be a single line.
    void set(std::string_view event, std::string value);
    /// Appends a JSON value to the list of an event. `item` must be a single line.
    void add(std::string_view event, std::string item);
    /// Returns the number of clients that currently follow the page.
    int clients() const;
    /// Returns the number of clients that were disconnected because they were too slow.
    std::int64_t dropped() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace sextant::serve
