/* SVMClassifier and SVMRegressor. */
#ifndef INGOT_OPS_SVM_H
#define INGOT_OPS_SVM_H

#include "ops/ml_common.h"

typedef enum ingot_svm_kernel {                    /* of vectors a, b; d is their product */
                                INGOT_SVM_LINEAR,  /* d */
                                INGOT_SVM_POLY,    /* (gamma d + coef0) ^ degree */
                                INGOT_SVM_RBF,     /* exp(-gamma |a - b|^2) */
                                INGOT_SVM_SIGMOID, /* tanh(gamma d + coef0) */
} ingot_svm_kernel;

typedef struct ingot_svm_params {
    int kernel;         /* ingot_svm_kernel */
    int post_transform; /* ingot_post_transform */
    ingot_floats kernel_params, coefficients, support_vectors, rho;
    ingot_floats prob_a, prob_b;  /* classifier: one for each pair of classes, or none */
    ingot_ints vectors_per_class; /* classifier */
    ingot_class_labels labels;    /* classifier */
    int64_t support_count;        /* regressor: n_supports */
    bool one_class;               /* regressor: 1 or -1 by the sign */
    /* Filled by check: */
    double gamma, coef0, degree;
    size_t vectors; /* support vectors; 0: the coefficients are a linear model */
    size_t columns; /* of the input */
    size_t pairs;   /* classifier: pairs of classes */
    size_t scores;  /* classifier: columns of the second output */
} ingot_svm_params;

#endif
