/* The bytes of a module between two symbols, at an alignment at which they are used where they are. */
        .section .rodata
        .global kernel_code, kernel_code_end
        .balign 64
kernel_code:
        .incbin KERNEL_CODE
kernel_code_end:
        .byte 0
        .section .note.GNU-stack,"",@progbits
