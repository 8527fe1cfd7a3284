"""Mistakes of first users of the text form, and the word that the fix of the language server must have.

A row is (line, word): the line takes the place of MARK in BODY, or of a line of the interface that begins in the same way.
"""
HEAD = """entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) interface {
  in x: f32[%n] at %x
  grid ceildiv(x.shape[0], 128)
} {
"""
BODY = """  %i, %j, %k = get_tile_block_id
  %v = make_tensor_view %x, shape = [%n], strides = [1]
  %p = make_partition_view %v : partition_view<tile=(128)>
  %b, %t = load_view_tko weak %p[%i]
  %zero = constant <f32: 0.0> : tile<128xf32>
  %lane = iota : tile<128xi32>
  %mask = cmpf less_than ordered %b, %zero
MARK
  return
}
"""
MISTAKES = [
    ("  %c, %u = load_view weak %p[%i]", "load_view_tko"),
    ("  %c, %u = load weak %x", "load_ptr_tko"),
    ("  %u = store weak %x, %b", "store_ptr_tko"),
    ("  %w = view %x", "bitcast"),
    ("  %c = addf %b, %lane", "itof"),
    ("  %d = if %mask {\n    yield %b\n  } else {\n    yield %zero\n  }", "select"),
    ("  for %s in (0 to 10, step 1) {\n    %b = addf %b, %b\n  }", "iter_values"),
    ("  %w = make_partition_view %v : partition_view<tile=(128), padding = zero>", "padding_value"),
    ("  %q = get_tile_block_id", "get_tile_block_id"),
    ("  grid cdiv(x.shape[0], 128)", "ceildiv"),
    ("  in x: f32[n] at %x", "%n"),
    ("  %e = mulf %b, 2.0f", "suffix"),
    ("  %f = cast %b : tile<128xf16>", "ftof"),
    ("  %h = relu %b", "maxf"),
    ("  %h = sigmoid %b", "negf"),
    ("  %h = dot %b, %b", "mmaf"),
    ("  %h = where %mask, %b, %b", "select"),
    ("  %h = argmax %b", "reduce"),
    ("  %g = %b + %b", "addf"),
    ("  %g = %b * %b", "mulf"),
    ("  %m = mmaf %b, %b, 0.0", "constant"),
    ("  %f = ftof %b : tile<128xfloat>", "f32"),
    ("  %f = ftof %b : tile<128xfloat32>", "f32"),
    ("  %f = ftof %b : tile<128xhalf>", "f16"),
    ("  %c = addf %b, %nothing", "define it above"),
    ("  %c = adf %b, %b", "addf"),
    ("  %c = addi %lane, %b", "ftoi"),
    ("  %c = cmpf lt ordered %b, %zero", "less_than"),
    ("  %c = max %b, %zero", "maxf"),
    ("  %c = sqrtf %b", "sqrt"),
    ("  %c = iota : tile<100xi32>", "larger tile"),
    ("  return %b", "remove what follows"),
]


def text_of(line):
    """(the program, the first and the last line of the mistake, counted from 0)."""
    begin = line.split()[0]
    if begin in ("grid", "in"):
        head = "".join(line + "\n" if old.split()[0] == begin else old + "\n" for old in HEAD.splitlines())
        text = head + BODY.replace("MARK\n", "")
    else:
        text = HEAD + BODY.replace("MARK", line)
    first = text[:text.index(line)].count("\n")
    return text, first, first + line.count("\n")
