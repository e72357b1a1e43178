/* The reference kernels: portable C for every operator and element type, the truth that fast kernels are checked against.
 *
 * ops.def declares them all. A kernel may be called from any thread; it uses one thread. */
#ifndef INGOT_CPU_REF_REF_H
#define INGOT_CPU_REF_REF_H

#include "ops/kernel.h"

#define OP(domain, name, since, op, kernel) ingot_status ingot_ref_##kernel(const ingot_kernel_call *call);
#define OP_VIEW(domain, name, since, op)
#define OP_CONTROL(domain, name, since, op)
#define OP_UPGRADE(domain, name, since, fn)
#include "ops/ops.def"
#undef OP
#undef OP_VIEW
#undef OP_CONTROL
#undef OP_UPGRADE

#endif
