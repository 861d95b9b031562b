/* Ends with 0 if the emulator multiplies two short floats into a long one as s390x does. qemu 7.2 takes all 64 bits of the first
   register, of which the instruction has only the upper half. */
#include <stdio.h>
#include <string.h>

int main(void) {
    unsigned long bits = 0x4040000012345678; /* 3.0f, and a lower half that is not zero */
    double product;
    memcpy(&product, &bits, sizeof product);
    __asm__ volatile("mdebr %0,%1" : "+f"(product) : "f"(10.0f));
    printf("mdebr: 3 * 10 = %g\n", product);
    return product != 30;
}
