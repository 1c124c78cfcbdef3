// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/process_watch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace sextant {

ProcessWatch::~ProcessWatch() {
    for (const pollfd& process : processes_) {
        if (process.fd >= 0)
            close(process.fd);
    }
}

void ProcessWatch::add(int process) {
    processes_.push_back({static_cast<int>(syscall(SYS_pidfd_open, process, 0)), POLLIN, 0});
}

bool ProcessWatch::has_ended(std::size_t which) {
    return processes_[which].fd >= 0 && ::poll(&processes_[which], 1, 0) > 0;
}

std::optional<std::size_t> ProcessWatch::first_ended() {
    if (::poll(processes_.data(), processes_.size(), 0) <= 0)
        return std::nullopt;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        if (processes_[i].fd >= 0 && processes_[i].revents != 0)
            return i;
    }
    return std::nullopt;
}

} // namespace sextant
