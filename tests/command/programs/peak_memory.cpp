// SPDX-License-Identifier: BSD-3-Clause
// Peak memory of a command in KiB: peak_memory COMMAND ARGUMENTS...
#include <cstdio>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** arguments) {
    if (count < 2)
        return 2;
    const pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        std::freopen("/dev/null", "w", stdout);
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status))
        return 1;
    std::printf("%ld\n", used.ru_maxrss);
    return WEXITSTATUS(status);
}
