/* Which reference kernel serves which operator form: ops.def as a table. */
#include "cpu/ref/ref.h"
#include "ops/custom.h"
#include "plan/backend.h"

#define OP(domain, name, since, op, kernel) extern const ingot_op ingot_op_##op;
#define OP_VIEW(domain, name, since, op)
#define OP_CONTROL(domain, name, since, op)
#define OP_UPGRADE(domain, name, since, fn)
#include "ops/ops.def"
#undef OP

static const struct {
    const ingot_op *op;
    ingot_kernel kernel;
} kernels[] = {
#define OP(domain, name, since, op, kernel) {&ingot_op_##op, ingot_ref_##kernel},
#include "ops/ops.def"
#undef OP
    {NULL, NULL},
};

ingot_kernel ingot_reference_kernel(const ingot_op *op)
{
    size_t i = 0;
    if (op->flags & INGOT_OP_CUSTOM)
        return ingot_custom_kernel;
    while (kernels[i].op && kernels[i].op != op)
        i++;
    return kernels[i].kernel;
}
