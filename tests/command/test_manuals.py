# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages, which man accepts without warnings, and completions of bash and zsh."""
from command_test import *


class Manuals(CommandTest):
    def test_manuals_and_completions(self):
        manuals = Path(os.environ["MANUALS"])
        contents = read(manuals / "man1/sextant.1")
        for command in re.findall("^  ([a-z]+) ", sextant("--help").out, re.M):
            if sextant(f"{command} --help", code=None).returncode == 0:  # otherwise its program is not built
                self.assertTrue(content(manuals / f"man1/sextant-{command}.1"))
                self.assertIn(f".BR sextant\\-{command} (1)", contents)
        if shutil.which("man") and shutil.which("groff"):
            env = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
            for page in (manuals / "man1").glob("*.1"):
                warnings = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], env=env,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
                self.assertEqual(warnings, b"", page)
        for words, completed in (("comp", "composite"), ("apply --by l", "lanczos"), ("apply x.json --mem", "--memory"),
                                 ("apply x.j", "")):  # a file is completed by bash itself
            script = f'. {manuals}/bash/sextant; COMP_WORDS=(sextant {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); ' \
                     '_sextant; echo "${COMPREPLY[*]}"'
            self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.strip(), completed)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n", manuals / "zsh/_sextant"], check=True)


if __name__ == "__main__":
    unittest.main()
