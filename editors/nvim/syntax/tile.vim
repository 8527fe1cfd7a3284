" Colours of tile code, by what docs/text.md calls tokens.
if exists("b:current_syntax")
  finish
endif
syntax match tileOperation /\v(^|\=|\{)\s*\zs\h\w*/
syntax match tileValue /\v\%([0-9A-Za-z_$.]|-\d@=)+(#\d+)?/
syntax match tileSymbol /\v\@([0-9A-Za-z_$.]+|"[^"]*")/
syntax match tileNumber /\v<(0x\x+|\d+(\.\d+)?([eE][-+]?\d+)?)>/
syntax match tileType /\v<(tile|ptr|token|tensor_view|partition_view|strided_view|gather_scatter_view)>/
syntax match tileElement /\v(\d+x|\?x)*<?(i(1|4|8|16|32|64)|bf16|tf32|f(16|32|64)|f[48]E\dM\d(FNU|FN)?)>/
syntax match tileStructure /\v^\s*(module|global|entry)>/
syntax match tileInterface /\v^\s*(in|out|inout|scalar|workspace|grid)>/
syntax keyword tileWord interface at init default to step else iter_values
syntax keyword tileConstant true false inf nan
syntax region tileString start=/"/ skip=/\\./ end=/"/ oneline
syntax match tileComment "//.*$"
highlight default link tileOperation Function
highlight default link tileValue Identifier
highlight default link tileSymbol Label
highlight default link tileNumber Number
highlight default link tileType Type
highlight default link tileElement Type
highlight default link tileStructure Structure
highlight default link tileInterface StorageClass
highlight default link tileWord Keyword
highlight default link tileConstant Constant
highlight default link tileString String
highlight default link tileComment Comment
let b:current_syntax = "tile"
