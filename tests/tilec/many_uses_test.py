"""Values that are used twice by the step behind them, 64 steps in a row: who follows each use anew takes 2^64 steps. Such chains stand where
the compiler asks what a value follows from: indices, bounds of loops, offsets and masks of pointers, shapes of views, conditions, what is
multiplied, added up or stored. Each program compiles within --time-limit, and the machine's reader takes it.

many_uses_test.py TILEC TILEVM"""

import os
import subprocess
import sys
import tempfile
import unittest

TILEC, TILEVM = (os.path.abspath(path) for path in sys.argv[1:3]) if len(sys.argv) > 2 else ("", "")
STEPS = 64
LIMIT = 20  # seconds; each takes about 0.1


def chain(first, *steps, name="c", count=STEPS):
    """Text of steps that each use the one before twice, and the last one's name. In a step, {r} is its result and {v} the one before."""
    text, last = "", first
    for k in range(count):
        text += steps[k % len(steps)].format(r=f"%{name}{k}", v=last) + "\n"
        last = f"%{name}{k}"
    return text, last


def of(op, more=""):
    return "{r} = " + op + " {v}, {v}" + more


INTEGERS = {
    "sums": [of("addi")],
    "products": [of("muli")],
    "mixed": [of("addi"), of("muli"), of("xori"), of("subi"), of("maxi", " signed")],
    "least": [of("mini", " signed"), of("addi")],
    "bits": [of("andi"), of("ori"), of("addi")],
    "same": ["{r}p = subi {v}, {v}\n{r} = addi {r}p, {v}"],
}
SCALARS = {
    **INTEGERS,
    "select": ["{r}p = cmpi less_than {v}, %m, signed\n{r} = select {r}p, {v}, {v}"],
    "if": ["{r}p = cmpi less_than {v}, %m, signed\n{r} = if {r}p -> (tile<i32>) {{\n{r}q = addi {v}, {v}\nyield {r}q : tile<i32>\n}} else {{\n"
           "{r}w = muli {v}, {v}\nyield {r}w : tile<i32>\n}}"],
    "wide": ["{r}p = exti {v} signed : tile<i32> -> tile<i64>\n{r}q = addi {r}p, {r}p\n{r} = trunci {r}q : tile<i64> -> tile<i32>"],
    "rests": ["{r}p = addi {v}, {v}\n{r}q = divi {r}p, %m signed\n{r} = remi {r}q, {r}p signed"],
}
FLOATS = {
    "sums": [of("addf")],
    "products": [of("mulf"), of("addf")],
    "greatest": [of("maxf"), of("subf")],
    "turned": ["{r}a = reshape {v} : tile<128x1xf32>\n{r}b = permute {r}a [1, 0] -> tile<1x128xf32>\n{r} = addf {r}b, {v}"],
    "joined": ["{r}a = cat {v}, {v} dim=1 : tile<1x128xf32>, tile<1x128xf32> -> tile<1x256xf32>\n"
               "{r} = extract {r}a[%first, %one] : tile<1x256xf32> -> tile<1x128xf32>"],
}
# What nothing simplifies: each of three is used by two others.
TURNED = ["{r} = andi {v}, {v}b\n{r}b = andi {v}b, {v}c\n{r}c = andi {v}c, {v}"]
MASKS = {"and": [of("andi")], "not or": ["{r}p = ori {v}, {v}\n{r} = xori {r}p, %all"], "turned": TURNED}

SUM = """%h = addf %e, %g
yield %h : tile<f32>
}
"""


def kernel(body, elem="f32", width=128):
    return f"""entry @f(%x: tile<ptr<{elem}>>, %y: tile<ptr<{elem}>>, %m: tile<i32>, %n: tile<i32>) interface {{
  in x: {elem}[%m, %n] at %x
  out y: {elem}[%m, %n] at %y
  grid ceildiv(x.shape[0], 1)
}} {{
%i, %j, %k = get_tile_block_id
%xt = make_tensor_view %x, shape = [%m, %n], strides = [%n, 1]
%yt = make_tensor_view %y, shape = [%m, %n], strides = [%n, 1]
%xv = make_partition_view %xt : partition_view<tile=(1x{width}), padding_value = zero>
%yv = make_partition_view %yt : partition_view<tile=(1x{width})>
%first = constant <i32: 0> : tile<i32>
%one = constant <i32: 1> : tile<i32>
%lane = iota : tile<128xi32>
%all = constant <i1: true> : tile<128xi1>
{body}return
}}
"""


def loop(body, start="0", end="%n", first="%a", last="%b"):
    """A sum over the steps of a row: the body makes `last` of %acc and %t."""
    return f"""%start = constant <f32: {start}> : tile<1x128xf32>
%s = for %t in (%first to {end}, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<1x128xf32>) {{
{body}continue {last} : tile<1x128xf32>
}}
store_view_tko weak %s, %yv[%i, %first]
"""


def spread(pointer, elem, name):
    return f"%{name}1 = reshape {pointer} : tile<1xptr<{elem}>>\n%{name}s = broadcast %{name}1 : tile<128xptr<{elem}>>\n"


def with_scalars():
    copy = "%a = load_view_tko weak {view}[{index}, %first]\nstore_view_tko weak %a, %yv[{out}, %first]\n"
    for name, steps in SCALARS.items():
        text, last = chain("%i", *steps)
        yield f"index: {name}", kernel(text + copy.format(view="%xv", index=last, out=last))
        yield f"end of a loop: {name}", kernel(
            text + loop("%a = load_view_tko weak %xv[%i, %t]\n%b = addf %acc, %a\n", end=last))
        text, last = chain("%t", *steps)
        yield f"index in a loop: {name}", kernel(loop(text + f"%a = load_view_tko weak %xv[%i, {last}]\n%b = addf %acc, %a\n"))
        text, last = chain("%n", *steps)
        view = "%vt = make_tensor_view {x}, shape = [%m, {n}], strides = [{n}, 1]\n%vv = make_partition_view %vt : " \
               "partition_view<tile=(1x128), padding_value = zero>\n"
        yield f"shape: {name}", kernel(text + view.format(x="%x", n=last) + copy.format(view="%vv", index="%i", out="%i"))
        yield f"base: {name}", kernel(text + f"%xb = offset %x, {last}\n" + view.format(x="%xb", n="%n") +
                                      copy.format(view="%vv", index="%i", out="%i"))
        yield f"condition: {name}", kernel(
            text + f"%p = cmpi less_than {last}, %m, signed\n%a = load_view_tko weak %xv[%i, %first]\n"
            "%r = if %p -> (tile<1x128xf32>) {\n%b = addf %a, %a\nyield %b : tile<1x128xf32>\n} else {\nyield %a : tile<1x128xf32>\n}\n"
            "store_view_tko weak %r, %yv[%i, %first]\n")


def with_pointers():
    for name, steps in INTEGERS.items():
        text, last = chain("%lane", *steps)
        for elem in ("f32", "bf16", "i8"):
            yield f"offsets of {elem}: {name}", kernel(
                text + spread("%x", elem, "p") + f"%pp = offset %ps, {last}\n%a = load_ptr_tko weak %pp\n" + spread("%y", elem, "q") +
                f"%qq = offset %qs, {last}\nstore_ptr_tko weak %qq, %a\n", elem)
    for name, steps in MASKS.items():
        for places in (["{r} = addi {v}, {v}"], INTEGERS["same"], None):
            offsets, place = chain("%lane0", *places, name="o") if places else ("", "%lane0")
            masks, mask = chain("%in0", *steps, name="m")
            for elem in ("f32", "bf16"):
                yield f"{elem} where {name}, {places}", kernel(
                    spread("%x", elem, "p") + f"""%n1 = reshape %n : tile<1xi32>
%ns = broadcast %n1 : tile<128xi32>
%wide = constant <i32: 128> : tile<i32>
%zero = constant <{elem}: 0> : tile<128x{elem}>
%s = for %t in (%first to %m, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<128x{elem}>) {{
%start = muli %t, %wide
%start1 = reshape %start : tile<1xi32>
%starts = broadcast %start1 : tile<128xi32>
%lane0 = addi %starts, %lane
{offsets}%in0 = cmpi less_than {place}, %ns, signed
%in0b = cmpi less_than_or_equal {place}, %ns, signed
%in0c = cmpi not_equal {place}, %ns, signed
{masks}%pp = offset %ps, {place}
%a = load_ptr_tko weak %pp, {mask}, %zero
%b = addf %acc, %a
continue %b : tile<128x{elem}>
}}
""" + spread("%y", elem, "q") + "%qq = offset %qs, %lane\nstore_ptr_tko weak %qq, %s\n", elem)
    text, last = chain("%v0", of("ori"))
    yield "histogram", kernel("%a = load_view_tko weak %xv[%i, %first]\n%v0 = reshape %a : tile<128xi32>\n" + text + spread("%y", "i32", "q") +
                              f"%qq = offset %qs, {last}\n%ones = constant <i32: 1> : tile<128xi32>\n"
                              "%t2 = atomic_rmw_tko relaxed device %qq, add, %ones\n", "i32")


def rows_of_a_walk():
    masks, mask = chain("%in0", *TURNED, name="m")
    return kernel(
        "%blocks, %ny, %nz = get_num_tile_blocks\n%token0 = make_token\n" + spread("%x", "f32", "p") + spread("%y", "f32", "q") +
        f"""%column = exti %lane signed : tile<128xi32> -> tile<128xi64>
%n64 = exti %n signed : tile<i32> -> tile<i64>
%n1 = reshape %n64 : tile<1xi64>
%ns = broadcast %n1 : tile<128xi64>
%in0 = cmpi less_than %column, %ns, signed
%in0b = cmpi less_than_or_equal %column, %ns, signed
%in0c = cmpi not_equal %column, %ns, signed
{masks}%end = for %t in (%i to %m, step %blocks) : tile<i32> iter_values(%token = %token0) -> (token) {{
%t64 = exti %t signed : tile<i32> -> tile<i64>
%t1 = reshape %t64 : tile<1xi64>
%ts = broadcast %t1 : tile<128xi64>
%start = muli %ts, %ns
%at = addi %start, %column
%from = offset %ps, %at
%row, %loaded = load_ptr_tko weak %from, {mask} token = %token0
%to = offset %qs, %at
%stored = store_ptr_tko weak %to, %row, {mask} token = %token
continue %stored : token
}}
""")


def with_floats():
    for name, steps in FLOATS.items():
        text, last = chain("%a", *steps)
        load = "%a = load_view_tko weak %xv[%i, {}]\n"
        yield f"stored: {name}", kernel(load.format("%first") + text + f"store_view_tko weak {last}, %yv[%i, %first]\n")
        yield f"in a loop: {name}", kernel(loop(load.format("%t") + text + f"%b = addf %acc, {last}\n"))
        text, last = chain("%acc", *steps)
        yield f"carried: {name}", kernel(loop(text + load.format("%t") + f"%b = addf {last}, %a\n", start="1"))
    reduced = "{r}r = reduce {v} dim=1 identities=[0.0 : f32] : tile<1x128xf32> -> tile<1xf32> (%e: tile<f32>, %g: tile<f32>) {{\n" + \
        SUM.replace("}", "}}") + "{r}s = reshape {r}r : tile<1x1xf32>\n{r}b = broadcast {r}s : tile<1x128xf32>\n{r} = subf {v}, {r}b"
    text, last = chain("%a", reduced, count=24)
    yield "reduced", kernel("%a = load_view_tko weak %xv[%i, %first]\n" + text + f"store_view_tko weak {last}, %yv[%i, %first]\n")
    text, last = chain("%a", of("addf"))
    yield "in slices", kernel(
        "%a = load_view_tko weak %xv[%i, %first]\n" + text +
        f"%sum = reduce {last} dim=1 identities=[0.0 : f32] : tile<1x65536xf32> -> tile<1xf32> (%e: tile<f32>, %g: tile<f32>) {{\n" + SUM +
        f"""%sum1 = reshape %sum : tile<1x1xf32>
%sums = broadcast %sum1 : tile<1x65536xf32>
%d = divf {last}, %sums
store_view_tko weak %d, %yv[%i, %first]
""", width=65536)


def with_products():
    for elem in ("f16", "f32"):
        for where in ("operand", "index", "sums", "mask"):
            at, operand, result, before, behind = "%t", "%a", "%d", "", ""
            made = ""
            if where == "index":
                before, at = chain("%t", of("muli"))
            elif where == "operand":
                made, operand = chain("%a", of("mulf"))
            elif where == "sums":
                behind, result = chain("%d", of("mulf"))
            else:
                made, last = chain("%t", of("addi"))
                made += f"%q = cmpi less_than {last}, %m, signed\n%q1 = reshape %q : tile<1x1xi1>\n%q2 = broadcast %q1 : tile<64x64xi1>\n" \
                        f"%none = constant <{elem}: 0> : tile<64x64x{elem}>\n%aa = select %q2, %a, %none\n"
                operand = "%aa"
            pointer = f"tile<ptr<{elem}>>"
            yield f"product of {elem}: {where}", f"""entry @f(%x: {pointer}, %y: {pointer}, %z: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>) interface {{
  in x: {elem}[%m, %n] at %x
  in y: {elem}[%n, %n] at %y
  out z: f32[%m, %n] at %z
  grid ceildiv(x.shape[0], 64)
}} {{
%i, %j, %k = get_tile_block_id
%xt = make_tensor_view %x, shape = [%m, %n], strides = [%n, 1]
%yt = make_tensor_view %y, shape = [%n, %n], strides = [%n, 1]
%zt = make_tensor_view %z, shape = [%m, %n], strides = [%n, 1]
%xv = make_partition_view %xt : partition_view<tile=(64x64), padding_value = zero>
%yv = make_partition_view %yt : partition_view<tile=(64x64), padding_value = zero>
%zv = make_partition_view %zt : partition_view<tile=(64x64)>
%first = constant <i32: 0> : tile<i32>
%one = constant <i32: 1> : tile<i32>
%zero = constant <f32: 0> : tile<64x64xf32>
%steps, %more = get_index_space_shape %yv -> tile<i32>
%s = for %t in (%first to %steps, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {{
{before}%a = load_view_tko weak %xv[%i, {at}]
%b = load_view_tko weak %yv[{at}, %j]
{made}%d = mmaf {operand}, %b, %acc
{behind}continue {result} : tile<64x64xf32>
}}
store_view_tko weak %s, %zv[%i, %j]
return
}}
"""


class ManyUses(unittest.TestCase):
    def test_image_with_a_block_for_each_row(self):
        doctor = subprocess.run([TILEC, "doctor"], capture_output=True, text=True, check=False).stdout
        if any(line.startswith("ptxas") and "not found" in line for line in doctor.splitlines()):
            self.skipTest("ptxas was not found")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "k.tile")
            with open(source, "w") as file:
                file.write(rows_of_a_walk())
            done = subprocess.run([TILEC, source, "--sm=90", "-o", os.path.join(folder, "k.tbc")], capture_output=True, text=True, timeout=3 * LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_many_loads(self):
        """Of 4,000 loads most bring what another one has brought; comparing each with each took minutes."""
        count = 4000
        lines = ["entry @k(%q: tile<ptr<i32>>) {", "%v = make_tensor_view %q, shape = [4096], strides = [1]",
                 "%w = make_partition_view %v : partition_view<tile=(16)>", "%s0 = load_view_tko weak %w[0]"]
        for i in range(count):
            lines += [f"%x{i} = load_view_tko weak %w[{i % 200}]", f"%s{i + 1} = addi %s{i}, %x{i}"]
        lines += [f"store_view_tko weak %s{count}, %w[255]", "return", "}", ""]
        with tempfile.TemporaryDirectory() as folder:
            source, made = os.path.join(folder, "k.tile"), os.path.join(folder, "k.ptx")
            with open(source, "w") as file:
                file.write("\n".join(lines))
            done = subprocess.run([TILEC, source, "--sm=90", f"--time-limit={LIMIT}", "-o", made], capture_output=True, text=True, timeout=3 * LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            with open(made) as file:
                self.assertEqual(len([line for line in file if "ld.global" in line]), 200)

    def test_many_loops(self):
        """Each goes on with what the one before it has counted: LLVM's passes over loops took minutes, or all of the stack."""
        count = 2000
        lines = ["entry @k(%q: tile<ptr<i32>>) {", "%v0 = load_ptr_tko weak %q"]
        for i in range(count):
            lines += [f"%v{i + 1} = for %i{i} in (0 to %v0, step 1) : tile<i32> iter_values(%k{i} = %v{i}) {{", f"%a{i} = muli %k{i}, %i{i}",
                      f"continue %a{i}", "}"]
        lines += [f"store_ptr_tko weak %q, %v{count}", "return", "}", ""]
        with tempfile.TemporaryDirectory() as folder:
            source, made = os.path.join(folder, "k.tile"), os.path.join(folder, "k.ptx")
            with open(source, "w") as file:
                file.write("\n".join(lines))
            command = [TILEC, source, "--sm=90", f"--time-limit={LIMIT}", "--remarks", "-o", made]
            done = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.assertIn("remark[optimise-llvm]: @k: large (2000 loops; 512 at most): ", done.stderr)

    def test_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            source, made = os.path.join(folder, "k.tile"), os.path.join(folder, "k.ptx")
            for programs in (with_scalars, with_pointers, with_floats, with_products):
                for name, text in programs():
                    with open(source, "w") as file:
                        file.write(text)
                    for command in ([TILEVM, "verify", source],
                                    [TILEC, source, "--sm=90", "--descriptors", "--aligned", "--remarks", f"--time-limit={LIMIT}", "-o", made]):
                        with self.subTest(name, command=command[0]):
                            done = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT, env={**os.environ, "NO_COLOR": "1"})
                            self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
