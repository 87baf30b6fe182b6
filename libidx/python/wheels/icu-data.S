/* icu-data.S: ICU's data, the file IDX_ICU_DATA, under the name by which ICU 72 finds it. */
    .section .rodata.icudt72_dat, "a", %progbits
    .globl icudt72_dat
    .hidden icudt72_dat
    .type icudt72_dat, %object
    .balign 16
icudt72_dat:
    .incbin IDX_ICU_DATA
    .size icudt72_dat, . - icudt72_dat
    .section .note.GNU-stack, "", %progbits
