"""No image of our kernels touches registers of products that still run.    in_flight_test.py TILEC FILE…

Each kernel of each FILE with a product is compiled for sm_90, all images, and what ptxas made is read (in_flight.py). Needs ptxas
and nvdisasm: those that tilec finds, else those beside the nvcc of third_party/nvcc/nvcc.py; without them that is skipped.
"""

import concurrent.futures
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.abspath("third_party/nvcc")]
import in_flight  # noqa: E402  beside this file
import kept  # noqa: E402
import nvcc  # noqa: E402

TILEC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
FILES = [path for path in sys.argv[2:] if path.endswith(".tile")]


def line(address, text):
    return "        /*%04x*/                   %s ;\n" % (address, text)


def code(*lines):
    """Instructions 16 bytes apart; a word that ends with a colon is a label."""
    out = "//--------------------- .text.k --------------------------\n.text.k:\n"
    address = 0
    for text in lines:
        if text.endswith(":"):
            out += text + "\n"
        else:
            out += line(address, text)
            address += 16
    return out


BEGIN = "HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], R24, gsb0"
OPERAND = "HGMMA.64x64x16.F32.BF16 R24, R4, gdesc[UR4].tnspB, R24, gsb0"
WAIT, WAIT_1 = "WARPGROUP.DEPBAR.LE gsb0, 0x0", "WARPGROUP.DEPBAR.LE gsb0, 0x1"
READ = "F2FP.BF16.F32.PACK_AB R16, R55, R54"


class Reading(unittest.TestCase):
    def touches(self, *lines):
        return [touch.address for touch in in_flight.check(code(*lines))]

    def test_sums(self):
        self.assertEqual(self.touches(BEGIN, WAIT, READ, "EXIT"), [])
        self.assertEqual(self.touches(BEGIN, READ, WAIT, "EXIT"), ["0010"])
        self.assertEqual(self.touches(BEGIN, "FADD R56, R23, R1", WAIT, "EXIT"), [])
        self.assertEqual(self.touches(BEGIN, "MOV R24, RZ", WAIT, "EXIT"), ["0010"])
        # The last of four registers.
        self.assertEqual(self.touches(BEGIN, "STS.128 [R1], R21", WAIT, "EXIT"), ["0010"])
        self.assertEqual(self.touches(BEGIN, "LDS.128 R20, [R1]", WAIT, "EXIT"), [])
        # Sums in f16 take half of the registers.
        self.assertEqual(self.touches(BEGIN.replace("F32.BF16", "F16"), "MOV R40, RZ", "MOV R39, RZ", WAIT, "EXIT"), ["0020"])

    def test_left_operand(self):
        self.assertEqual(self.touches(OPERAND, "FADD R9, R4, R7", WAIT, "LDSM.16.M88.4 R4, [R1]", "EXIT"), [])
        self.assertEqual(self.touches(OPERAND, "LDSM.16.M88.4 R1, [R9]", WAIT, "EXIT"), ["0010"])

    def test_groups(self):
        other = BEGIN.replace("R24", "R88")
        self.assertEqual(self.touches(BEGIN, other, WAIT_1, READ, "EXIT"), [])
        self.assertEqual(self.touches(other, BEGIN, WAIT_1, READ, "EXIT"), ["0030"])
        self.assertEqual(self.touches(BEGIN.replace(", gsb0", ""), WAIT, READ, "EXIT"), ["0020"])

    def test_kept(self):
        load, clear, around = "LDSM.16.M88.4 R4, [R1]", "MOV R6, RZ", "@P0 BRA `(.L_x_0)"
        reads = [load, ".L_x_0:", OPERAND, WAIT, "%s", around, "EXIT"]
        good, bad = code(*(reads[:4] + reads[5:])), code(*(text.replace("%s", clear) for text in reads))
        self.assertEqual((kept.check(good), kept.products(good)), ([], 1))
        self.assertEqual([found[1:] for found in kept.check(bad)], [("0010", clear)])
        self.assertEqual(kept.products(bad), 0)
        # Made in each iteration: nobody loaded it. A guard leaves what was there.
        made = code(".L_x_0:", "F2FP.BF16.F32.PACK_AB R6, R1, R2", OPERAND, WAIT, around, "EXIT")
        self.assertEqual((kept.check(made), kept.products(made)), ([], 0))
        guarded = code(load, "@P1 " + clear, OPERAND, WAIT, "EXIT")
        self.assertEqual([found[1:] for found in kept.check(guarded)], [("0020", clear)])

    def test_ways(self):
        around = [".L_x_0:", "FADD R24, R24, R1", BEGIN, "%s", "@P0 BRA `(.L_x_0)", WAIT, "EXIT"]
        self.assertEqual(self.touches(*[text.replace("%s", WAIT) for text in around]), [])
        self.assertEqual(self.touches(*[text.replace("%s", "NOP") for text in around]), ["0000"])

    def test_kernels(self):
        both = code(BEGIN, READ, "EXIT") + code(BEGIN, WAIT, READ, "EXIT").replace(".text.k", ".text.other")
        self.assertEqual([(touch.kernel, touch.product) for touch in in_flight.check(both)], [("k", "0000")])
        self.assertEqual(in_flight.products(both), 2)


def images(tbc):
    """The cubins in a .tbc: ELF files, which end behind their last table."""
    at = tbc.find(b"\x7fELF")
    while at >= 0:
        programs, sections = struct.unpack_from("<QQ", tbc, at + 32)
        program, program_count, section, section_count = struct.unpack_from("<HHHH", tbc, at + 54)
        yield tbc[at:at + max(programs + program * program_count, sections + section * section_count)]
        at = tbc.find(b"\x7fELF", at + 4)


def tools():
    """Variables that name the tools, for tilec and for us; None without them."""
    doctor = subprocess.run([TILEC, "doctor"], capture_output=True, text=True).stdout
    found = {}
    for name in "ptxas", "nvdisasm":
        variable = "TILEC_" + name.upper()
        path = re.search(r"^%s\s+(/\S+)" % name, doctor, re.MULTILINE)
        if path:
            found[variable] = path.group(1)
        else:
            try:
                found[variable] = nvcc.find().tool(name)
            except nvcc.Missing:
                return None
    return found


class Images(unittest.TestCase):
    def touches(self, path, folder, environment):
        """(how many images have products by wgmma, and of fragments that stay; what is wrong)."""
        out = os.path.join(folder, os.path.basename(path))
        done = subprocess.run([TILEC, path, "--sm=90", "-o", out + ".tbc"], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out + ".tbc", "rb") as file:
            cubins = list(images(file.read()))
        with_products, keeping, wrong = 0, 0, []
        for cubin in cubins:
            with open(out + ".cubin", "wb") as file:
                file.write(cubin)
            text = subprocess.run([environment["TILEC_NVDISASM"], "-c", out + ".cubin"], capture_output=True, text=True)
            self.assertEqual(text.returncode, 0, text.stderr)
            with_products += in_flight.products(text.stdout) > 0
            keeping += kept.products(text.stdout) > 0
            wrong += ["%s: %s" % (path, touch) for touch in in_flight.check(text.stdout) + kept.check(text.stdout)]
        return with_products, keeping, wrong

    def test_our_kernels(self):
        found = tools()
        if found is None:
            self.skipTest("no ptxas or no nvdisasm")
        environment = {**os.environ, **found}
        files = []
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                if re.search(r"\bmma", file.read()):
                    files.append(path)
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as threads:
            results = list(threads.map(lambda path: self.touches(path, folder, environment), files))
        self.assertEqual([text for _, _, wrong in results for text in wrong], [])
        self.assertGreater(sum(count for count, _, _ in results), 100)
        self.assertGreater(sum(count for _, count, _ in results), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
