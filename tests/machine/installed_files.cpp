// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/installation.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace sextant::machine {
namespace {

TEST(InstalledFiles, include_a_profile_in_the_config_folder) {
    setenv("HOME", "/home/somebody", 1);
    unsetenv("XDG_CONFIG_HOME");
    EXPECT_EQ(default_profile_path("mpi"), "/home/somebody/.config/sextant/machines/mpi.json");
    setenv("XDG_CONFIG_HOME", "/settings", 1);
    EXPECT_EQ(default_profile_path("threads"), "/settings/sextant/machines/threads.json");
    setenv("XDG_CONFIG_HOME", "relative", 1);
    EXPECT_EQ(default_profile_path("mpi"), "/home/somebody/.config/sextant/machines/mpi.json");
    unsetenv("HOME");
    EXPECT_EQ(default_profile_path("mpi"), "");
}

TEST(InstalledFiles, include_probes_in_the_cache_folder) {
    setenv("HOME", "/home/somebody", 1);
    unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(probe_folder(), "/home/somebody/.cache/sextant/probes");
    setenv("XDG_CACHE_HOME", "/cache", 1);
    EXPECT_EQ(probe_folder(), "/cache/sextant/probes");
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    EXPECT_EQ(probe_folder(), "");
}

} // namespace
} // namespace sextant::machine
