// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/channel.hpp"

#include <cerrno>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

namespace sextant::simulate {

namespace {

[[noreturn]] void fail() {
    if (errno == EPIPE || errno == ECONNRESET)
        throw ChannelClosed();
    throw Error("a simulation's channel: " + std::generic_category().message(errno));
}

} // namespace

void Channel::close() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
    descriptor_ = -1;
}

void Channel::write(const void* bytes, std::size_t count) {
    const auto* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t sent = send(descriptor_, next, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            fail();
        next += sent;
        count -= static_cast<std::size_t>(sent);
    }
}

void Channel::read(void* bytes, std::size_t count) {
    auto* next = static_cast<char*>(bytes);
    while (count > 0) {
        const ssize_t received = recv(descriptor_, next, count, 0);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            fail();
        if (received == 0)
            throw ChannelClosed();
        next += received;
        count -= static_cast<std::size_t>(received);
    }
}

} // namespace sextant::simulate
