// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace sextant::test {

/// Limits the files that this process writes to `limit` bytes, during the object's lifetime.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{limit, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    void (*handler_)(int);
    rlimit before_{};
};

} // namespace sextant::test
