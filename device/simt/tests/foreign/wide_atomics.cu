// Atomics and accesses of 128 bits, atomics on vectors: sm_90.
// compile: -arch=sm_90
// run: quads <<<2,1,1 64,1,1 0>>> io:zero:0:12
// run: vectors <<<2,1,1 64,1,1 0>>> io:zero:0:32
#include <cuda_fp16.h>
extern "C" __global__ void quads(uint4 *c) {
    asm volatile("{ .reg .b128 c, s, o; .reg .b64 l, h, a, b; .reg .pred p;\n"
        "again: ld.relaxed.gpu.global.b128 c, [%0]; mov.b128 {l, h}, c; add.u64 l, l, 3; add.u64 h, h, l;\n"
        "mov.b128 s, {l, h}; atom.global.cas.b128 o, [%0], c, s; mov.b128 {a, b}, o; mov.b128 {l, h}, c;\n"
        "xor.b64 a, a, l; xor.b64 b, b, h; or.b64 a, a, b; setp.ne.u64 p, a, 0; @p bra again; }" ::"l"(c) : "memory");
    asm volatile("{ .reg .b128 s, o; mov.b128 s, {%1, %1}; atom.global.exch.b128 o, [%0], s; st.global.b128 [%2], s; }" ::"l"(c + 1), "l"(77ull), "l"(c + 2) : "memory");
}
extern "C" __global__ void vectors(float *c) {
    atomicAdd((float2 *)c, make_float2(1, 2)); atomicAdd((float4 *)c + 1, make_float4(1, 2, 3, 0.5f));
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %2, %2};" ::"l"(c + 8), "r"(0x3c003800), "r"(0xbc00) : "memory");
    asm volatile("red.global.v2.f32.add [%0], {%1, %1};" ::"l"(c + 16), "f"(0.25f) : "memory");
}
