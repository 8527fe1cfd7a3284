// One small input per error: the message, where it stands, its code and the advice.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tile::ir {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* where;  // line:column
  const char* code;
  const char* message;
  const char* fix;
};

// The operation stands in line 2 of a kernel.
#define IN_KERNEL(op)                                                                                                  \
  "entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>, %v: tensor_view<?x4xf32, strides=[?,1]>) " \
  "{\n" op "\nreturn\n}\n"

const Case kCases[] = {
    // --- characters
    {"Character", IN_KERNEL("addi %n, $"), "2:10", "text.token", "this character has no meaning here",
     "the form is: addi"},
    {"OpenString", IN_KERNEL("assert %c, \"a"), "2:12", "text.token", "the string does not end on its line",
     "the form is: assert"},
    {"LoneAt", "entry @ ()", "1:7", "text.token", "'@' stands before a name", ""},
    {"LoneHash", IN_KERNEL("return loc(#)"), "2:12", "text.token",
     "'#' stands before the number of a debug record; a comment begins with //", "the form is: return"},
    {"Escape", IN_KERNEL("assert %c, \"\\q\""), "2:12", "text.string", "the string has a wrong escape",
     "known are \\n \\t \\r \\\" \\\\ and \\x with two digits"},
    {"NameEscape", "entry @\"\\x1\"() {}", "1:7", "text.string", "the name has a wrong escape",
     "known are \\n \\t \\r \\\" \\\\ and \\x with two digits"},
    // --- file level
    {"Empty", " // nothing\n", "2:1", "text.empty", "there is no program in this text", "write an entry"},
    {"TopLevel", "kernel @k() {}", "1:1", "text.syntax", "expected entry, global or a debug record, found 'kernel'",
     "a kernel begins with entry @name(%x: tile<ptr<f32>>) {"},
    {"LateHeader", "entry @k() {\nreturn\n}\nmodule @m", "4:1", "text.syntax",
     "expected entry, global or a debug record, found 'module'", "one module stands in a file; its header comes first"},
    {"EntryName", "entry k() {}", "1:7", "text.syntax", "expected a name like @kernel, found 'k'", "write @k"},
    {"Parameter", "entry @k(x: tile<i32>) {}", "1:10", "text.syntax",
     "expected a parameter like %x: tile<i32>, found 'x'", "write %x"},
    {"ParameterTwice", "entry @k(%x: tile<i32>, %x: tile<i32>) {\nreturn\n}", "1:25", "text.redefined",
     "%x is already defined in line 1", "choose another name"},
    {"EntryOption", "entry @k() fast {\nreturn\n}", "1:12", "text.syntax",
     "expected blocks_per_cluster, optimization_hints, interface or '{', found 'fast'", ""},
    {"Cluster", "entry @k() blocks_per_cluster = (1, 2) {\nreturn\n}", "1:38", "text.syntax",
     "expected ',' in blocks_per_cluster = (x, y, z), found ')'", ""},
    {"Unclosed", "entry @k() {\nreturn\n", "1:12", "text.unclosed", "this '{' is not closed",
     "add '}' behind the last operation"},
    {"UnclosedBeforeEntry", "entry @k() {\nreturn\nentry @l() {\nreturn\n}", "1:12", "text.unclosed",
     "this '{' is not closed", "add '}' behind the last operation"},
    {"GlobalType", "global @g <i32: 1> : tile<4xf32>", "1:22", "text.global_type",
     "a global is a tile of one dimension with elements of its value, not tile<4xf32>", "write tile<Nxi32>"},
    {"GlobalCount", "global @g <i32: [1, 2]> : tile<4xi32>", "1:27", "text.global_type",
     "the global has 4 elements, its value has 2", "write tile<2xi32>, or other values"},
    {"HintKey", "entry @k() optimization_hints=<sm_90 = 2> {\nreturn\n}", "1:40", "text.syntax",
     "expected '{' before its hints, found '2'", ""},
    {"HintWidth", "entry @k() optimization_hints=<sm_90 = {a = 2 : f32}> {\nreturn\n}", "1:49", "text.syntax",
     "expected an integer type, i1 to i64, found 'f32'", ""},
    // --- operations
    {"UnknownOp", IN_KERNEL("%a = adf %x, %x : tile<f32>"), "2:6", "text.unknown_op", "there is no operation adf",
     "did you mean addf?"},
    {"NoOp", IN_KERNEL("%a = 5"), "2:6", "text.syntax", "expected an operation, found '5'",
     "a number is a constant: constant <i32: 5>"},
    {"NoEquals", IN_KERNEL("%a addf %x, %x"), "2:4", "text.syntax",
     "expected '=' between the results and the operation, found 'addf'", ""},
    {"Undefined", IN_KERNEL("addi %n, %m"), "2:10", "text.undefined", "%m is not defined here",
     "define it above, in this region or one around it"},
    {"UndefinedFix", IN_KERNEL("%total = negi %n\naddi %n, %totl"), "3:10", "text.undefined",
     "%totl is not defined here", "did you mean %total?"},
    {"OwnResult", IN_KERNEL("%a = addi %n, %a"), "2:15", "text.undefined", "%a is not defined here",
     "define it above, in this region or one around it"},
    {"Redefined", IN_KERNEL("%n = negi %n"), "2:1", "text.redefined", "%n is already defined in line 1",
     "choose another name"},
    {"LeftRegion", IN_KERNEL("if %c {\n%inner = negi %n\n}\nnegi %inner"), "5:6", "text.undefined",
     "%inner is not defined here", "define it above, in this region or one around it"},
    {"NeedsIndex", IN_KERNEL("%s:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\nnegi %s"),
     "3:6", "text.result_index", "%s names 2 values", "write %s#0 for the first"},
    {"IndexTooLarge",
     IN_KERNEL("%s:2 = get_tensor_shape %v : tensor_view<?x4xf32, strides=[?,1]> -> tile<i32>\nnegi %s#2"), "3:8",
     "text.result_index", "%s names 2 values", "the last one is %s#1"},
    {"IndexOfOne", IN_KERNEL("negi %n#1"), "2:8", "text.result_index", "%n names 1 value", "write %n"},
    {"Operand", IN_KERNEL("addi %n : tile<i32>"), "2:9", "text.syntax", "expected ',' in addi, found ':'",
     "the form is: addi"},
    {"LineEnds", IN_KERNEL("addi %n,"), "2:9", "text.syntax", "expected a value like %x, found the end of the line",
     "the form is: addi"},
    {"Keyword", IN_KERNEL("addf %x, %x rounding<up>"), "2:22", "text.syntax",
     "expected one of nearest_even, zero, negative_inf, positive_inf, approx, full, nearest_int_to_zero, nearest_away, "
     "found 'up'",
     "the form is: addf"},
    {"KeywordFix", IN_KERNEL("addf %x, %x rounding<zer>"), "2:22", "text.syntax",
     "expected one of nearest_even, zero, negative_inf, positive_inf, approx, full, nearest_int_to_zero, nearest_away, "
     "found 'zer'",
     "did you mean zero?"},
    {"UnknownAttribute", IN_KERNEL("addi %n, %n rounding<zero>"), "2:13", "text.same_line",
     "the operation ends before this",
     "start the next operation on a new line; the form is: addi $lhs, $rhs (overflow<$overflow>)?"},
    {"TwoOnALine", IN_KERNEL("negi %n negi %n"), "2:9", "text.same_line", "the operation ends before this",
     "start the next operation on a new line; the form is: negi $source (overflow<$overflow>)?"},
    {"Comment", IN_KERNEL("%a = negi %n # twice (n) {"), "2:14", "text.token",
     "'#' stands before the number of a debug record; a comment begins with //", "the form is: negi"},
    {"CommentLine", IN_KERNEL("# negi"), "2:1", "text.token",
     "'#' stands before the number of a debug record; a comment begins with //", ""},
    {"Order", IN_KERNEL("%a = cmpf %x, %x, less_than ordered"), "2:11", "text.syntax",
     "expected one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, found '%x'",
     "the form is: cmpf $predicate $ordering $lhs, $rhs"},
    {"OrderOfKeywords", IN_KERNEL("%a = cmpf ordered less_than %x, %x"), "2:11", "text.syntax",
     "expected one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, found "
     "'ordered'",
     "the form is: cmpf $predicate $ordering $lhs, $rhs"},
    {"Missing", IN_KERNEL("%a = cmpi less_than %n, %n"), "2:27", "text.syntax",
     "expected ',' in cmpi, found the end of the line", "the form is: cmpi $predicate $lhs, $rhs, $signedness"},
    {"TooManyNames", IN_KERNEL("%a, %b = addi %n, %n"), "2:1", "text.result_count", "addi gives 1 result, 2 named",
     "name them: %result = addi …"},
    {"TooFewNames", IN_KERNEL("%a = get_tile_block_id"), "2:1", "text.result_count",
     "get_tile_block_id gives 3 results, 1 named", "name them: %x, %y, %z = get_tile_block_id"},
    {"ZeroNames", IN_KERNEL("%a:0 = addi %n, %n"), "2:4", "text.number", "a name stands for at least one result", ""},
    // --- what other systems write
    {"Cast", IN_KERNEL("%a = cast %x : tile<f16>"), "2:6", "text.unknown_op", "there is no operation cast",
     "between floats ftof, floats to integers ftoi, integers to floats itof, to wider integers exti, to narrower ones "
     "trunci: %y = ftof %x : tile<f16>"},
    {"Relu", IN_KERNEL("%a = relu %x"), "2:6", "text.unknown_op", "there is no operation relu", "write maxf %x, 0.0"},
    {"Dialect", IN_KERNEL("%a = arith.addf %x, %x"), "2:6", "text.unknown_op", "there is no operation arith.addf",
     "did you mean addf?"},
    {"Where", IN_KERNEL("%a = tl.where %c, %x, %x"), "2:6", "text.unknown_op", "there is no operation tl.where",
     "write select %c, %x, %y"},
    {"PartOfAName", IN_KERNEL("%a = scatter_view %x"), "2:6", "text.unknown_op", "there is no operation scatter_view",
     "did you mean make_gather_scatter_view, atomic_scatter_view_tko or store_scatter_view_tko?"},
    {"TestOperation", IN_KERNEL("testing$bytecode %x"), "2:1", "text.unknown_op",
     "there is no operation testing$bytecode", "it is an operation of NVIDIA's own tests, which no kernel has"},
    {"Infix", IN_KERNEL("%a = %x * %x"), "2:6", "text.syntax", "expected an operation, found '%x'",
     "write mulf %x, %x"},
    {"InfixIntegers", IN_KERNEL("%a = %n < 4"), "2:6", "text.syntax", "expected an operation, found '%n'",
     "write cmpi less_than %n, 4, signed"},
    {"Copy", IN_KERNEL("%a = %x"), "2:6", "text.syntax", "expected an operation, found '%x'",
     "a value has one name: use %x itself"},
    {"Subscript", IN_KERNEL("%a = %x[0]"), "2:6", "text.syntax", "expected an operation, found '%x'",
     "an element or a part of a tile is extract; of a view load_view_tko"},
    {"Suffix", IN_KERNEL("%a = mulf %x, 2.0f"), "2:18", "text.same_line", "the operation ends before this",
     "a number has no suffix: write 2.0"},
    {"ReassignedInALoop", IN_KERNEL("%a = negf %x\nfor %i in (0 to 4, step 1) {\n%a = addf %a, %x\n}"), "4:1",
     "text.redefined", "%a is already defined in line 2",
     "a value never changes; a loop carries it: for … iter_values(%carried = %a) { … continue %next }"},
    {"Float", "entry @k(%x: tile<4xfloat>) {\nreturn\n}", "1:21", "text.syntax",
     "expected an element type, found 'float'", "did you mean f32?"},
    {"Half", "entry @k(%x: tile<ptr<half>>) {\nreturn\n}", "1:23", "text.syntax",
     "expected an element type, found 'half'", "did you mean f16?"},
    {"FloatAlone", "entry @k(%x: float) {\nreturn\n}", "1:14", "text.syntax", "expected a type, found 'float'",
     "values are tiles: tile<f32> is a single number"},
    {"Tensor", "entry @k(%x: tensor<4xf32>) {\nreturn\n}", "1:14", "text.syntax", "expected a type, found 'tensor'",
     "a tile of numbers is tile<4x8xf32>, an array in memory tensor_view<?x8xf32, strides=[?,1]>"},
    {"Padding", "entry @k(%x: partition_view<tile=(4), padding = zero>) {\nreturn\n}", "1:39", "text.syntax",
     "expected tensor_view<…> or a property of the view, found 'padding'",
     "did you mean padding_value? properties: tile, padding_value, dim_map"},
    {"GridFunction", "entry @k() interface {\n  in x: f32[4]\n  grid cdiv(x.shape[0], 2)\n} {\nreturn\n}", "3:8",
     "text.undefined", "the interface has no scalar cdiv", "write ceildiv(a, b); functions: ceildiv, min, max, select"},
    {"SizeWithoutPercent", "entry @k(%n: tile<i32>) interface {\n  in x: f32[n]\n} {\nreturn\n}", "2:13",
     "text.undefined", "the interface has no scalar n", "write %n: it is a parameter"},
    {"GridWithoutScalar", "entry @k(%n: tile<i32>) interface {\n  grid n\n} {\nreturn\n}", "2:8", "text.undefined",
     "the interface has no scalar n", "declare the parameter: scalar n = %n"},
    {"Parentheses", IN_KERNEL("%a = exp(%x)"), "2:9", "text.syntax", "expected a value like %x, found '('",
     "operands stand without parentheses"},
    {"NoOrdering", IN_KERNEL("%a = load_ptr_tko %p"), "2:19", "text.syntax",
     "expected one of weak, relaxed, acquire, release, acq_rel, found '%p'",
     "write weak, unless other blocks touch the same memory"},
    {"ShortPredicate", IN_KERNEL("%a = cmpi lt %n, %n, signed"), "2:11", "text.syntax",
     "expected one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, found 'lt'",
     "did you mean less_than?"},
    {"NoSign", IN_KERNEL("%a = divi %n, 3"), "2:16", "text.syntax",
     "expected one of unsigned, signed, found the end of the line",
     "write signed, or unsigned if the numbers are never negative"},
    {"SignOfAValue", IN_KERNEL("%a = negf -%x"), "2:12", "text.syntax", "expected a number, found '%x'",
     "a value has no sign: %m = negf %x, or negi"},
    {"Semicolon", IN_KERNEL("%a = negf %x;"), "2:13", "text.token",
     "operations end with their line, without a semicolon", "the form is: negf"},
    {"Let", IN_KERNEL("let %a = negf %x"), "2:1", "text.unknown_op", "there is no operation let", "write %a = …"},
    {"NoPercent", IN_KERNEL("a = negf %x"), "2:1", "text.unknown_op", "there is no operation a",
     "the name of a result begins with %: %a = …"},
    {"TypeInFront", IN_KERNEL("%a: tile<f32> = negf %x"), "2:5", "text.syntax",
     "expected a number of results, found 'tile'", "write %a = …; the type stands at the end, or nowhere"},
    {"ViewNotCut", IN_KERNEL("%a = load_view_tko weak %v[0, 0]"), "2:33", "text.result_types",
     "the result type of load_view_tko does not follow from its operands",
     "cut it into tiles: %v = make_partition_view %v : partition_view<tile=(64)>"},
    {"NoPointer", IN_KERNEL("%a = load_ptr_tko weak %x"), "2:26", "text.result_types",
     "the result type of load_ptr_tko does not follow from its operands",
     "%x is tile<f32>; what is wanted is a pointer: tile<ptr<f32>>"},
    {"GridInParentheses", "entry @k() interface {\n  grid (4, 2)\n} {\nreturn\n}", "2:10", "text.syntax",
     "expected ')' in the expression, found ','", "a grid stands without parentheses: grid 4, 2"},
    {"ArrayOfATile", "entry @k() interface {\n  in x: tile<8xf32>\n} {\nreturn\n}", "2:9", "text.syntax",
     "expected an element type, found 'tile'", "an array is no tile: x: f32[%n] at %x"},
    // --- types of operations
    {"OperandType", IN_KERNEL("addi %n, %n : tile<i64>"), "2:15", "text.operand_types",
     "the operands are of type tile<i32>", "write \": tile<i32>\", or nothing"},
    {"SecondOperandType", IN_KERNEL("select %c, %x, %x : tile<i1>, tile<f16>"), "2:31", "text.operand_types",
     "the operands are of type tile<i1>, tile<f32>", "write \": tile<i1>, tile<f32>\", or nothing"},
    {"NoOperandTypes", IN_KERNEL("return : tile<i32>"), "2:10", "text.operand_types",
     "return has no operands whose types are written", "leave the type out"},
    {"NoResultType", IN_KERNEL("%b = exti %n signed"), "2:20", "text.result_types",
     "the result type of exti does not follow from its operands", "add the type of the result, like \"-> tile<i64>\""},
    {"NoTypeAtAll", IN_KERNEL("%b = iota"), "2:10", "text.result_types",
     "the result type of iota does not follow from its operands",
     "add the type of the result, like \": tile<64xi32>\""},
    {"TooManyTypes", IN_KERNEL("%b = iota : tile<4xi32>, tile<4xi32>"), "2:13", "text.result_types",
     "iota gives 1 result, 2 types are written", "the form is: iota"},
    // --- regions
    {"ForSyntax", IN_KERNEL("for %i = (%n to %n, step %n) : tile<i32> {\n}"), "2:8", "text.syntax",
     "expected 'in' after the loop's index, found '='", "the form is: for"},
    {"ForType", IN_KERNEL("for %i in (%n to %n, step %n) : tile<i64> {\n}"), "2:33", "text.operand_types",
     "the lower bound is of type tile<i32>", "write \": tile<i32>\", or nothing"},
    {"ForResults", IN_KERNEL("%r = for %i in (%n to %n, step %n) : tile<i32> {\n}"), "2:6", "text.result_count",
     "the loop carries 0 values, has 0 result types and 1 named result", "the form is: for"},
    {"LoopType", IN_KERNEL("loop iter_values(%a = %n) : tile<i64> {\nbreak\n}"), "2:29", "text.operand_types",
     "the carried values are 1 value, this one of type tile<i32>", "the form is: loop"},
    {"LoopResults", IN_KERNEL("%r = loop {\nbreak\n}"), "2:6", "text.result_count",
     "the loop has 1 named result, but its first break passes 0 values", "pass one value per result: break %x"},
    {"LoopResultTypes", IN_KERNEL("%r, %s = loop -> tile<i32> {\nbreak %n\n}"), "2:10", "text.result_count",
     "the loop has 1 result type and 2 named results", "name as many results as there are types behind the arrow"},
    {"IfResults", IN_KERNEL("%r = if %c {\n}"), "2:6", "text.result_count",
     "the if has 1 named result, but no yield passes a value", "pass one value per result: yield %x"},
    {"IfYields", IN_KERNEL("%r = if %c {\nyield %n, %n\n} else {\nyield %n\n}"), "2:6", "text.result_count",
     "the if has 1 named result, but its first yield passes 2 values", "pass one value per result: yield %x"},
    {"IfBody", IN_KERNEL("if %c\nnegi %n"), "2:6", "text.syntax",
     "expected '{' before the body, found the end of the line", "the form is: if"},
    {"RegionUnclosed", IN_KERNEL("if %c {\nnegi %n") "", "1:115", "text.unclosed", "this '{' is not closed",
     "add '}' behind the last operation"},
    {"ReduceDim", IN_KERNEL("reduce %x identities=[0 : f32] : tile<f32> -> tile<f32> () {\n}"), "2:11", "text.syntax",
     "expected 'dim' = in reduce, found 'identities'", "the form is: reduce"},
    {"ReduceType", IN_KERNEL("reduce %x dim=0 identities=[0 : f32] : tile<i32> -> tile<f32> () {\n}"), "2:40",
     "text.operand_types", "operand 1 of 1 is of type tile<f32>", "write the types of the operands, or nothing"},
    {"ReduceNoDim", IN_KERNEL("%r = reduce %x dim=0 identities=[0] (%e, %a) {\nyield %e\n}"), "2:6",
     "text.result_types", "there is no dimension 0 in tile<f32>", "a scalar cannot be reduced"},
    {"ReduceArguments",
     IN_KERNEL("%q = constant <f32: [1, 2]>\n%r = reduce %q dim=0 identities=[0] (%e, %a, %b) {\nyield %e\n}"), "3:46",
     "text.argument_type", "reduce of 1 operand has a body with 2 arguments",
     "name an element and an accumulator per operand: (%e, %acc)"},
    {"ReduceIdentities",
     IN_KERNEL("%q = constant <f32: [1, 2]>\n%r = reduce %q dim=0 identities=[0, 1] (%e, %a) {\nyield %e\n}"), "3:37",
     "text.number_type", "the type of this number does not follow from an operand",
     "there is one number per operand, in the same order"},
    // --- numbers as operands
    {"NumberAlone", IN_KERNEL("addi 1, 2"), "2:6", "text.number_type",
     "the type of this number does not follow in addi", "make it a value: %c = constant <i32: 1>"},
    {"NumberPassed", IN_KERNEL("%r = if %c {\nyield -0.5\n} else {\nyield %x\n}"), "3:7", "text.number_type",
     "the type of this number does not follow in yield", "make it a value: %c = constant <f32: -0.5>"},
    {"NumberForPointer", IN_KERNEL("select %c, %p, 0"), "2:16", "text.number_type",
     "a pointer is wanted here, not a number", "make one with int_to_ptr"},
    {"NumberTooLarge", IN_KERNEL("addi %n, 4294967296"), "2:10", "text.number", "4294967296 does not fit i32",
     "the form is: addi"},
    {"NumberOfOtherKind", IN_KERNEL("addi %n, 0.5"), "2:10", "text.number", "0.5 is not a number of type i32",
     "i32 holds whole numbers: write one, or make the values floats (itof)"},
    {"NumberSign", IN_KERNEL("addi %n, -"), "2:11", "text.syntax", "expected a number, found the end of the line",
     "the form is: addi"},
    // --- attributes
    {"IntTooLarge", IN_KERNEL("alloca num_elem = 99999999999999999999, alignment = 4 : tile<ptr<f32>>"), "2:19",
     "text.number", "99999999999999999999 is more than 9223372036854775807", "the form is: alloca"},
    {"NumberRange", IN_KERNEL("constant <i8: 256> : tile<i8>"), "2:15", "text.number", "256 does not fit i8",
     "the form is: constant"},
    {"NumberKind", IN_KERNEL("constant <i8: 1.5> : tile<i8>"), "2:15", "text.number", "1.5 is not a number of type i8",
     "i8 holds whole numbers: write one, or make the values floats (itof)"},
    {"NoElement", IN_KERNEL("constant <f31: 1> : tile<f32>"), "2:11", "text.syntax",
     "expected an element type, found 'f31'", "did you mean f32?"},
    {"Ragged", IN_KERNEL("constant <i8: [[1, 2], [3]]> : tile<2x2xi8>"), "2:24", "text.constant_shape",
     "this list has 1 elements, the one before it 2", "the form is: constant"},
    {"Mixed", IN_KERNEL("constant <i8: [1, [2]]> : tile<2x2xi8>"), "2:19", "text.constant_shape",
     "numbers and lists stand side by side", "the form is: constant"},
    {"Depth", IN_KERNEL("constant <i8: [[[1]], [2]]> : tile<2x2xi8>"), "2:24", "text.constant_shape",
     "lists of one level nest differently", "the form is: constant"},
    {"ListShape", IN_KERNEL("constant <i8: [[1, 2], [3, 4]]> : tile<4xi8>"), "2:10", "text.constant_shape",
     "the lists do not have the shape of tile<4xi8>", "nest one list per dimension, or write all elements in one list"},
    {"HexDigits", IN_KERNEL("constant <i8: \"0xG0\"> : tile<i8>"), "2:15", "text.constant_bits",
     "the string is not 0x and hexadecimal digits", "the form is: constant"},
    {"HexLength", IN_KERNEL("constant <i16: \"0x00\"> : tile<i16>"), "2:16", "text.constant_bits",
     "the string has 2 digits; an element takes 4", "the form is: constant"},
    {"HexBits", IN_KERNEL("constant <i1: \"0x0102\"> : tile<2xi1>"), "2:15", "text.constant_bits",
     "element 1 has bits that i1 lacks", "the form is: constant"},
    {"Predicate", IN_KERNEL("assume even, %n : tile<i32>"), "2:8", "text.syntax",
     "expected div_by<…>, bounded<…> or same_elements<…>, found 'even'", "the form is: assume"},
    {"DivBy", IN_KERNEL("assume div_by<4, by 2>, %n : tile<i32>"), "2:18", "text.syntax",
     "expected 'every N along D', found 'by'", "the form is: assume"},
    // --- types
    {"NoType", "entry @k(%x: til<i32>) {\nreturn\n}", "1:14", "text.syntax", "expected a type, found 'til'",
     "did you mean tile?"},
    {"BareElement", "entry @k(%x: i32) {\nreturn\n}", "1:14", "text.syntax", "expected a type, found 'i32'",
     "values are tiles: tile<i32> is a single number"},
    {"DynamicTile", "entry @k(%x: tile<?xf32>) {\nreturn\n}", "1:18", "text.type", "the sizes of a tile are constants",
     "only a tensor_view can have '?'"},
    {"Strides", "entry @k(%x: tensor_view<4x4xf32, strides=[1]>) {\nreturn\n}", "1:33", "text.type",
     "the tensor_view has 2 sizes and 1 strides", "write one stride per size: strides=[?,1]"},
    {"NoTensor", "entry @k(%x: partition_view<tile=(4)>) {\nreturn\n}", "1:28", "text.type",
     "the view lacks the tensor_view it cuts", "add tensor_view<…>"},
    {"ViewProperty", "entry @k(%x: partition_view<tile=(4), sparse_dim=0>) {\nreturn\n}", "1:39", "text.syntax",
     "expected tensor_view<…> or a property of the view, found 'sparse_dim'",
     "properties: tile, padding_value, dim_map"},
    {"SizeTooLarge", "entry @k(%x: tile<99999999999999999999xf32>) {\nreturn\n}", "1:19", "text.number",
     "a size is too large for 64 bits", ""},
    {"Rank", "entry @k(%x: tile<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {\nreturn\n}", "1:19", "text.limit",
     "a type has at most 16 dimensions", ""},
    // --- make_tensor_view
    {"ViewShape", IN_KERNEL("make_tensor_view %p, shape = [8], strides = [1] : tensor_view<4xf32, strides=[1]>"),
     "2:51", "text.tensor_view", "the lists of sizes and strides do not make a tensor_view<4xf32, strides=[1]>",
     "numbers must agree with those of the type, values stand for its '?'"},
    {"ViewIndexType",
     IN_KERNEL("make_tensor_view %p, shape = [%n], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>"),
     "2:52", "text.operand_types", "size or stride 1 is of type tile<i32>",
     "write the types of the sizes and strides, or leave all types out"},
    {"ViewOfNumber", IN_KERNEL("make_tensor_view %x, shape = [8], strides = [1]"), "2:1", "text.tensor_view",
     "a tensor lies at a pointer, not at tile<f32>", "give a value of type tile<ptr<…>>"},
    {"ViewStrides", IN_KERNEL("make_tensor_view %p, shape = [8, 8], strides = [1]"), "2:1", "text.tensor_view",
     "there are 2 sizes and 1 stride", "give one stride per size"},
    // --- debug information
    {"DebugReference", IN_KERNEL("negi %n loc(#2)"), "2:13", "text.debug_reference", "there is no debug record #2",
     "remove it, or add the records at the end of the file"},
    {"DebugOrder", "#2 = loc(\"a\":1:1)", "1:1", "text.debug_order",
     "the records are numbered in order; this one is #1", ""},
    {"DebugKind", "#1 = fil<>", "1:6", "text.syntax",
     "expected compile_unit, file, lexical_block, subprogram, call_site or loc, found 'fil'", "did you mean file?"},
    {"DebugField", "#1 = file<line = 2>", "1:11", "text.syntax",
     "expected a field of file: name, directory, found 'line'", ""},
    // --- interface
    {"InterfaceItem", "entry @k() interface {\n  outt y: f32[4]\n} {\nreturn\n}", "2:3", "text.syntax",
     "expected in, out, inout, scalar, workspace or grid, found 'outt'", "did you mean out?"},
    {"InterfaceParam", "entry @k(%a: tile<i32>) interface {\n  scalar n = %b\n} {\nreturn\n}", "2:14", "text.undefined",
     "@k has no parameter %b", ""},
    {"InterfaceArray", "entry @k() interface {\n  in xs: f32[4]\n  grid xt.shape[0]\n} {\nreturn\n}", "3:8",
     "text.undefined", "the interface has no array xt", "did you mean xs?"},
    {"InterfaceScalar", "entry @k() interface {\n  in x: f32[4]\n  grid x\n} {\nreturn\n}", "3:8", "text.undefined",
     "the interface has no scalar x", "of an array write x.shape[0], .stride[0] or .align"},
    {"InterfaceValue", "entry @k(%n: tile<i32>) interface {\n  grid %n\n} {\nreturn\n}", "2:8", "text.syntax",
     "an expression speaks of arrays and scalars, not of parameters", "declare the parameter: scalar n = %n"},
    {"InterfaceRemainder", "entry @k() interface {\n  in x: f32[4]\n  grid x.shape[0] %4\n} {\nreturn\n}", "3:19",
     "text.syntax", "an expression speaks of arrays and scalars, not of parameters",
     "for a remainder put a space behind '%'"},
    {"InterfaceTwice", "entry @k() interface {\n  in x: f32[4]\n  out x: f32[4]\n} {\nreturn\n}", "3:7",
     "text.redefined", "the interface has two arrays of this name", "choose another name"},
    {"InterfaceReserved", "entry @k() interface {\n  in min: f32[4]\n} {\nreturn\n}", "2:6", "text.syntax",
     "expected a name, found 'min'", "the word means something else here; write \"min\""},
    {"InterfaceGrid", "entry @k() interface {\n  grid 1, 2, 3, 4\n} {\nreturn\n}", "2:3", "text.syntax",
     "a grid has at most three sizes", ""},
    {"InterfaceUnclosed", "entry @k() interface {\n  grid 1\n", "1:22", "text.unclosed", "this '{' is not closed",
     "add '}'"},
};

class Error : public ::testing::TestWithParam<Case> {};

TEST_P(Error, IsReported) {
  const Case& c = GetParam();
  Diagnostics diags;
  EXPECT_EQ(Parse(c.text, "f", &diags), nullptr);
  ASSERT_FALSE(diags.list().empty());
  const Diagnostic& d = diags.list()[0];
  EXPECT_EQ(d.where, absl::StrCat("f:", c.where));
  EXPECT_EQ(d.code, c.code);
  EXPECT_EQ(d.message, c.message);
  // The form is not repeated in full in every case.
  const absl::string_view fix = c.fix;
  EXPECT_TRUE(d.fix == fix || (absl::StartsWith(fix, "the form is: ") && absl::StartsWith(d.fix, fix))) << d.fix;
  EXPECT_EQ(diags.num_errors(), 1u) << diags.ToString();
}
INSTANTIATE_TEST_SUITE_P(Text, Error, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Errors, Excerpt) {
  Diagnostics diags;
  Parse("entry @k(%n: tile<i32>) {\n\t%a = adi %n, %n\x01 // ä\n return\n}", "k.tile", &diags);
  ASSERT_EQ(diags.num_errors(), 1u);
  EXPECT_EQ(diags.ToString(),
            "k.tile:2:7: error[text.unknown_op]: there is no operation adi\n"
            "    \t%a = adi %n, %n  // ä\n"
            "    \t     ^\n"
            "  fix: did you mean addi?\n");
}

TEST(Errors, ExcerptOfALongLineIsShort) {
  Diagnostics diags;
  Parse(std::string(1 << 20, ' ') + "entry k" + std::string(1 << 20, ' '), "k.tile", &diags);
  ASSERT_EQ(diags.num_errors(), 1u);
  EXPECT_EQ(diags.list()[0].where, absl::StrCat("k.tile:1:", (1 << 20) + 7));
  EXPECT_LT(diags.list()[0].excerpt.size(), 500u);
}

TEST(Errors, AllAreReportedOnce) {
  Diagnostics diags;
  EXPECT_EQ(Parse("entry @k(%n: tile<i32>, %c: tile<i1>) {\n"
                  "  %a = adi %n, %n\n"                                   // 2: unknown
                  "  %b = addi %a, %n\n"                                  // follows from line 2
                  "  %f = for %i on (%n to %n, step %n) : tile<i32> {\n"  // 4: syntax; the body is skipped
                  "    %z = nonsense\n"
                  "  }\n"
                  "  if %c {\n"
                  "    %d = negi %b\n"  // follows from line 2
                  "    %e = negi %q\n"  // 9: undefined
                  "  }\n"
                  "  %g = negi %n : tile<i31>\n"  // 11: type
                  "  return\n"
                  "}\n"
                  "entry @l(%n: tle<i32>) {\n"  // 14: type
                  "  return\n"
                  "}\n"
                  "global @g <i32: x> : tile<1xi32>\n",  // 17: number
                  "f", &diags),
            nullptr);
  std::string lines;
  for (const Diagnostic& d : diags.list()) absl::StrAppend(&lines, d.where, " ");
  EXPECT_EQ(lines, "f:2:8 f:4:15 f:9:15 f:11:23 f:14:14 f:17:17 ");
}

TEST(Errors, Limits) {
  const auto first = [](const std::string& text) {
    Diagnostics diags;
    EXPECT_EQ(Parse(text, "f", &diags), nullptr);
    return diags.list().empty() ? "" : absl::StrCat(diags.list()[0].code, ": ", diags.list()[0].message);
  };
  std::string deep = "entry @k(%c: tile<i1>) {\n";
  for (int i = 0; i < 100000; ++i) deep += "if %c {\n";
  EXPECT_EQ(first(deep), "text.limit: regions nest at most 64 deep");
  EXPECT_EQ(first("global @g <i8: " + std::string(100000, '[')), "text.limit: lists nest at most 16 deep");
  EXPECT_EQ(first("entry @k() interface {\n grid " + std::string(100000, '(')),
            "text.limit: the expression nests too deep");
  std::string sum = "entry @k() interface {\n grid 1";
  for (int i = 0; i < 200; ++i) sum += " + 1";
  EXPECT_EQ(first(sum), "text.limit: an expression has at most 256 operands and operators");
  EXPECT_EQ(first("entry @" + std::string(70000, 'a') + "() {\n}"), "text.limit: a name has at most 65536 bytes");
  std::string params = "entry @k(%a0: tile<i32>";
  for (int i = 1; i < 5000; ++i) absl::StrAppend(&params, ", %a", i, ": tile<i32>");
  EXPECT_EQ(first(params + ") {\nreturn\n}"), "text.limit: a kernel has at most 4096 parameters");
  EXPECT_EQ(first("entry @k(%v: tensor_view<f32>) {\n%a:60000 = get_tensor_shape %v : tensor_view<f32> -> "
                  "tile<i32>\nreturn\n}"),
            "text.result_types: get_tensor_shape gives 60000 results, 1 type is written");
}

TEST(Errors, CollectingStops) {
  std::string text = "entry @k() {\n";
  for (int i = 0; i < 1000; ++i) text += "nonsense\n";
  Diagnostics diags(10);
  EXPECT_EQ(Parse(text + "}", "f", &diags), nullptr);
  EXPECT_EQ(diags.num_errors(), 10u);
  // A list that is already full takes no more, and the text is still rejected.
  EXPECT_EQ(Parse("entry @k() {\nreturn\n}", "f", &diags), nullptr);
}

}  // namespace
}  // namespace tile::ir
