"""The scripts that install others' compilers and libraries from PyPI (third_party/frontends, third_party/nvcc): started several
times at once, ended in the middle, over an older version. Wheels without content stand in for the packages."""
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
import zipfile

ROOT = os.getcwd()
NVCC = "nvidia/cu13/bin/nvcc"


def wheel(folder: str, name: str, version: str) -> None:
    stem = name.replace("-", "_")
    with zipfile.ZipFile(f"{folder}/{stem}-{version}-py3-none-any.whl", "w") as z:
        info = f"{stem}-{version}.dist-info"
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{stem} = {stem}:main\n")
        z.writestr(f"{info}/RECORD", "")
        if name == "nvidia-cuda-nvcc":
            file = zipfile.ZipInfo(NVCC)
            file.external_attr = 0o100755 << 16
            z.writestr(file, "#!/bin/sh\necho nvcc\n")
        else:
            z.writestr(f"{stem}.py" if not name.startswith("nvidia") else f"nvidia/cu13/{stem}", "def main():\n    print('here')\n")


class Scripts(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(f"{self.folder}/wheels")
        self.environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{self.folder}/wheels", "PIP_CONFIG_FILE": os.devnull,
                            "PIP_NO_CACHE_DIR": "1"}
        for script in ("frontends", "nvcc"):
            with open(f"{ROOT}/third_party/{script}/install.sh") as f:
                text = f.read()
            release = re.search(r"release=(\S+)", text)
            for name, version in re.findall(r"([a-z-]+)==(\d[\w.]*)", text):
                wheel(f"{self.folder}/wheels", name, version)
            for name in re.findall(r"nvidia-[a-z-]+", text):
                wheel(f"{self.folder}/wheels", name, release.group(1) if release else "")

    def start(self, script: str) -> "subprocess.Popen[str]":
        return subprocess.Popen([f"{ROOT}/third_party/{script}/install.sh", f"{self.folder}/{script}"], env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def finish(self, process: "subprocess.Popen[str]") -> str:
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""))
        return out.strip()

    def check(self, script: str, printed: str) -> None:
        if script == "nvcc":
            self.assertEqual(printed, f"{self.folder}/nvcc/{NVCC}")
            self.assertEqual(subprocess.check_output([printed], text=True), "nvcc\n")
        else:
            self.assertTrue(os.path.isfile(f"{printed}/torch.py"), printed)
            self.assertEqual(subprocess.check_output([f"{self.folder}/frontends/venv/bin/torch"], text=True), "here\n")
        self.assertEqual([n for n in os.listdir(f"{self.folder}/{script}") if "new" in n or n == "pip"], [])

    def test_several_at_once(self) -> None:
        for script in ("frontends", "nvcc"):
            with self.subTest(script):
                printed = {self.finish(p) for p in [self.start(script) for _ in range(3)]}
                self.assertEqual(len(printed), 1)
                self.check(script, printed.pop())

    def test_ended_in_the_middle(self) -> None:
        for script in ("frontends", "nvcc"):
            with self.subTest(script):
                ended = self.start(script)
                while not os.path.exists(f"{self.folder}/{script}"):
                    time.sleep(0.01)
                time.sleep(0.5)
                os.killpg(ended.pid, signal.SIGKILL)
                ended.communicate()
                self.check(script, self.finish(self.start(script)))

    def test_over_an_older_version(self) -> None:
        for script in ("frontends", "nvcc"):
            with self.subTest(script):
                self.finish(self.start(script))
                with open(f"{self.folder}/{script}/installed", "w") as f:
                    f.write("older\n")
                self.check(script, self.finish(self.start(script)))
                # Nothing is done when it is there: not even a lock is needed.
                os.remove(f"{self.folder}/{script}/lock")
                self.check(script, self.finish(self.start(script)))
                self.assertFalse(os.path.exists(f"{self.folder}/{script}/lock"))


if __name__ == "__main__":
    unittest.main()
