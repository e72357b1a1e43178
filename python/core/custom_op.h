/* A Python function as an operator: what registering it (custom_op.c) and calling it (custom_call.c) share. */
#ifndef INGOT_PYTHON_CUSTOM_OP_H
#define INGOT_PYTHON_CUSTOM_OP_H

#include "core.h"
#include "ingot/custom_op.h"

#define MAX_ATTRIBUTES 16
#define NAME_SIZE      128

/* What a parameter can be; its field of params is the member of that kind. */
typedef union attribute_field {
    int64_t whole;
    float number;
    ingot_text text;
    ingot_ints ints;
    ingot_floats floats;
    ingot_texts texts;
} attribute_field;

/* What a text that the model does not give points to. */
extern const char core_not_given[];

/* Registered operators live until the process ends. */
typedef struct python_op {
    ingot_custom_op op;       /* its user points here */
    PyObject *kernel, *shape; /* shape: None where there is none */
    ingot_element element;    /* of all outputs; INGOT_UNDEFINED: input 0's */
    ingot_custom_attribute attributes[MAX_ATTRIBUTES];
    ingot_custom_operand operands[INGOT_CUSTOM_MAX_OPERANDS];
    char domain[NAME_SIZE], name[NAME_SIZE], names[MAX_ATTRIBUTES][NAME_SIZE];
} python_op;

/* The kernel and the shape rule of all of them. */
ingot_status core_run_kernel(ingot_custom_run *run);
ingot_status core_run_shape(ingot_custom_shape *shape);

#endif
