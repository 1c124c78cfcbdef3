# SPDX-License-Identifier: BSD-3-Clause
"""An installed Sextant works from any folder: programs that use it are built and run, the command finds its data files,
and the library can be built alone, in a project that adds it as a subfolder."""
from command_test import *

BUILD, CMAKE = os.environ["BUILD"], os.environ["CMAKE"]
EMBED = SOURCE / "examples/embed/embed.cpp"
ANSWER = "opacity at (250, 0): 0.875"
mpicxx = [f"-DMPI_CXX_COMPILER={os.environ['MPICXX']}"] if os.environ.get("MPICXX") else []


def call(*words, fails=False, env=None):
    """What a program prints. It must succeed, unless `fails`."""
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, **(env or {})})
    assert (done.returncode != 0) == fails, f"{words}: exit code {done.returncode}: {done.stdout[-3000:]}"
    return done.stdout


def project(folder, text):
    os.makedirs(folder, exist_ok=True)
    Path(folder, "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.22)\nproject({folder} CXX)\n{text}")
    return folder


def configure(folder, build, *options, **expected):
    return call(CMAKE, "-S", folder, "-B", build, *mpicxx, *options, **expected)


def build(folder):
    call(CMAKE, "--build", folder)


def on_ranks(program, ranks):
    return call(*MPIRUN, "-n", ranks, program).strip()


class Installed(CommandTest):
    checks_json = False  # of schemas, for example

    @classmethod
    def prepare(cls):
        call(CMAKE, "--install", BUILD, "--prefix", "installed")
        os.rename("installed", "moved")
        cls.moved = Path("moved").resolve()
        cls.command = cls.moved / "bin/sextant"
        cls.find = f"-DCMAKE_PREFIX_PATH={cls.moved}"
        # The example, and the same program with MPI's own target linked after and before Sextant's.
        project("orders", f"""find_package(MPI REQUIRED COMPONENTS CXX)
find_package(sextant REQUIRED)
add_executable(mpi_last "{EMBED}")
target_link_libraries(mpi_last sextant::sextant MPI::MPI_CXX)
add_executable(mpi_first "{EMBED}")
target_link_libraries(mpi_first MPI::MPI_CXX sextant::sextant)
add_executable(all_libraries "{SOURCE}/tests/command/programs/all_libraries.cpp")
target_link_libraries(all_libraries sextant::sextant)
""")
        for folder, name in ((EMBED.parent, "embed"), ("orders", "orders")):
            configure(folder, f"build-{name}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS", cls.find)
            build(f"build-{name}")

    def test_programs_run_and_only_mpi_defines_its_functions(self):
        for program in ("build-embed/embed", "build-orders/mpi_last", "build-orders/mpi_first"):
            for ranks in (3, 7):  # more ranks than the image has pixels
                self.assertEqual(on_ranks(program, ranks), ANSWER)
        text = call("build-orders/all_libraries", ".")
        for expected in ("^[1-9][0-9]* components$", "^planes: [1-9]", r"^frame 3: \(", "^stored average: [1-9]",
                         "^composited image: [1-9]", "unknown operator 'under'"):
            self.assertRegex(text, f"(?m){expected}")
        for program in (self.command, "build-embed/embed", "build-orders/mpi_last", "build-orders/mpi_first"):
            libraries = re.findall(r" => (/\S+) ", call("ldd", program))
            self.assertTrue(libraries)
            for library in libraries:
                self.assertNotIn("simgrid", library)
                if "/libmpi" not in library:
                    self.assertNotRegex(call("nm", "-D", "--defined-only", library), " MPI_Init\n")
        self.assertNotRegex(call("ldd", "build-embed/embed"), "(?i)openexr|imath|tiff|jpeg|hdf5|spng|zstd|blosc")

    def test_chapters_of_the_library_page(self):
        """Each exists, compiles on its own, with the program of its section, and is a component; C++17 is refused."""
        page = (SOURCE / "docs/library.md").read_text()
        headers = re.findall(r"^\| `(sextant/[a-z]*\.hpp)`", page, re.M)
        self.assertEqual(len(headers), len(list((self.moved / "include/sextant").glob("*.hpp"))))
        programs = [text for text in re.findall("(?s)^```cpp\n(.*?)^```$", page, re.M) if "{" in text]
        rules = ""
        os.mkdir("chapters")
        for header in headers:
            name, include = Path(header).stem, f"#include <{header}>\n"
            Path(f"chapters/{name}.cpp").write_text(include + "int main() {}\n" + "".join(p for p in programs if include in p))
            rules += f"find_package(sextant REQUIRED COMPONENTS {name})\nadd_executable({name} {name}.cpp)\n" \
                     f"target_link_libraries({name} sextant::{name})\n"
            Path("17.cpp").write_text(include + "int main() {}\n")
            said = call("c++", "-std=c++17", "-fsyntax-only", f"-I{self.moved}/include", "17.cpp", fails=True, env={"LC_ALL": "C"})
            self.assertEqual(said.count("error: "), 1, said)
            self.assertIn(f"{header} needs C++20: compile with -std=c++20", said)
        configure(project("chapters", rules), "build-chapters", self.find)
        build("build-chapters")
        said = configure(project("unknown", "find_package(sextant REQUIRED COMPONENTS volumes)\n"), "build-unknown", self.find,
                         fails=True)
        self.assertIn("no component 'volumes'", said)

    def test_data_files_and_parts_that_are_missing(self):
        programs = self.moved / "libexec/sextant"

        def text(line, **options):
            return call(self.command, *line.split(), **options)

        plan, platform = "explain composite --ranks 4 --machine das", "simulate --ranks 4 --platform crossbar-12-calibrated"
        text(plan)
        os.symlink(self.command, "sextant")
        call("./sextant", *plan.split())
        warned = text(platform)
        if (papers := programs / "sextant-papers").exists():
            text("reproduce scan")
            papers = shutil.move(papers, ".")
            text("reproduce scan", env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
            said = text("reproduce scan", fails=True)
            self.assertTrue(matches("reproduce is a command of sextant-papers, which is not installed...-DSEXTANT_PAPERS=ON", said))
        if (simulator := programs / "sextant-simgrid").exists():
            self.assertIn("simgrid", call("ldd", simulator))
            self.assertNotIn("own simulator", warned)
            text("simulate --ranks 4 --platform dragonfly-864")
            self.assertIn("must be started by Sextant", call(simulator, fails=True))
            simulator.unlink()
        self.assertTrue(matches(f"own simulator...sextant-simgrid is not in {programs} or ", text(platform)))
        self.assertIn("libsimgrid-dev", text("simulate --ranks 4 --platform dragonfly-864", fails=True))
        (programs / "sextant-lab").unlink()
        self.assertIn("bench is a command of sextant-lab, which is not installed", text("bench", fails=True))
        shutil.move(self.moved / "share", "away-share")
        self.assertIn(f"unknown machine or platform 'das'; none is installed in {self.moved}/share/sextant/machines or ",
                      text(plan, fails=True))


class LibraryAlone(CommandTest):
    """Without the folders of the command and the laboratory, without image formats and registration, as static libraries, in
    a project that keeps its own flags."""
    checks_json = False

    def test_a_subfolder_of_a_project(self):
        for name in ("CMakeLists.txt", "cmake", "docs", "machines", "platforms", "scripts", "src"):
            copy = shutil.copytree if (SOURCE / name).is_dir() else shutil.copy
            os.makedirs("source", exist_ok=True)
            copy(SOURCE / name, f"source/{name}")
        for name in ("lab", "command", "report", "simulate"):
            shutil.rmtree(f"source/src/sextant/{name}")
        project("above", f"""set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(BUILD_SHARED_LIBS OFF)
set(SEXTANT_FORMAT OFF)
set(SEXTANT_REGISTRATION OFF)
set(SEXTANT_PRECOMPILE ON)
add_subdirectory({self.folder}/source sextant)
add_executable(embed embed.cpp)
target_link_libraries(embed sextant::compositor)
install(TARGETS embed)
""")
        shutil.copy(EMBED, "above")
        configure("above", "default")
        self.assertNotIn("file(INSTALL", read("default/sextant/cmake_install.cmake"))
        self.assertIn("\nCMAKE_BUILD_TYPE:STRING=\n", read("default/CMakeCache.txt"))
        flags = {Path(entry["file"]).name: entry["command"] for entry in load("default/compile_commands.json")}
        self.assertNotRegex(flags["embed.cpp"], "-Wshadow|-O3|-ffp-contract")
        self.assertIn("-O3", flags["compositor.cpp"])
        configure("above", "source/build/above", "-DSEXTANT_INSTALL=ON", "-DCMAKE_BUILD_TYPE=Release", "-DSEXTANT_UNITY=ON")
        build("source/build/above")
        self.assertEqual(on_ranks("source/build/above/embed", 3), ANSWER)
        call(CMAKE, "--install", "source/build/above", "--prefix", "installed")
        self.assertFalse(os.path.exists("installed/include/sextant/format.hpp"))
        find = f"-DCMAKE_PREFIX_PATH={self.folder}/installed"
        configure(EMBED.parent, "embed", "-DCMAKE_BUILD_TYPE=Release", find)
        build("embed")
        self.assertEqual(on_ranks("embed/embed", 3), ANSWER)
        self.assertNotIn("sextant", re.sub(r"\(0x\w+\)|" + self.folder, "", call("ldd", "embed/embed")))
        said = configure(project("formats", "find_package(sextant REQUIRED COMPONENTS format)\n"), "build-formats", find, fails=True)
        self.assertRegex(" ".join(said.split()), "no component 'format'.*-DSEXTANT_FORMAT=ON")


if __name__ == "__main__":
    unittest.main()
