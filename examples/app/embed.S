/* The bytes of a .tbc file between two symbols, at an alignment at which they are used where they are. */
        .section .rodata
        .global kernel_tbc, kernel_tbc_end
        .balign 64
kernel_tbc:
        .incbin KERNEL_TBC
kernel_tbc_end:
        .byte 0
        .section .note.GNU-stack,"",@progbits
