/* Session options of ONNX Runtime, and what becomes of them: for code that is moved over. */
#include "ingot/tools.h"

static const ingot_ort_option_info options[] = {
    {"enable_cpu_mem_arena", false,
     "memory is planned per set of shapes and kept; there is no arena allocator to turn off"},
    {"enable_mem_pattern", false, "memory is always planned"},
    {"enable_mem_reuse", false, "memory is always reused"},
    {"enable_profiling", true, "records a profile of every run, which end_profiling writes"},
    {"execution_mode", false, "nodes run one after the other, each on all threads"},
    {"execution_order", false, "nodes run in an order that respects data flow and keeps memory low"},
    {"external_initializers", false, "weights come from the model's files"},
    {"free_dimension_override_by_denotation", false, "free sizes need no override: each set of sizes is planned once"},
    {"free_dimension_override_by_name", false, "free sizes need no override: each set of sizes is planned once"},
    {"graph_optimization_level", true,
     "ORT_DISABLE_ALL runs no passes, ORT_ENABLE_BASIC those that keep every bit, the others all"},
    {"inter_op_num_threads", false, "nodes run one after the other, each on all threads"},
    {"intra_op_num_threads", true, "threads of one run; 0: as many as there are cores for it"},
    {"log_severity_level", false, "the library never prints: what goes wrong is an exception"},
    {"log_verbosity_level", false, "the library never prints: what goes wrong is an exception"},
    {"logid", false, "the library never prints"},
    {"memory.enable_memory_arena_shrinkage", false, "memory stays within what the largest shapes seen need"},
    {"mlas.disable_kleidiai", false, "kernels are Ingot's own"},
    {"mlas.enable_gemm_fastmath_arm64_bfloat16", false, "float32 is computed in float32"},
    {"optimization.disable_specified_optimizers", false, "passes are named otherwise: see disabled_passes"},
    {"optimization.enable_cast_chain_elimination", false, "a cast that rounds is never taken away"},
    {"optimization.enable_gelu_approximation", false, "GELU is computed as the model says"},
    {"optimization.minimal_build_optimizations", false, "there are no minimal builds"},
    {"optimized_model_filepath", false, "optimized models are not written"},
    {"profile_file_prefix", true, "begins the name of the profile's file"},
    {"register_custom_ops_library", true,
     "takes libraries written for ingot/custom_op.h; those for ONNX Runtime's interface are refused"},
    {"session.disable_aot_function_inlining", false, "functions are always inlined"},
    {"session.disable_cpu_ep_fallback", false, "what cannot run is refused; nothing falls back without a word"},
    {"session.disable_prepacking", false, "weights are packed where a kernel gains by it"},
    {"session.dynamic_block_base", false, "work is split by shape alone, so that results do not depend on threads"},
    {"session.enable_quant_qdq_cleanup", false, "pairs of QuantizeLinear and DequantizeLinear are kept: they round"},
    {"session.force_spinning_stop", false, "threads stop spinning within milliseconds"},
    {"session.inter_op.allow_spinning", false, "nodes run one after the other"},
    {"session.inter_op_thread_affinities", false, "nodes run one after the other"},
    {"session.intra_op.allow_spinning", false, "threads spin for a bounded time, then sleep"},
    {"session.intra_op_thread_affinities", false, "threads keep the affinity of the process"},
    {"session.load_model_format", false, "models are ONNX files"},
    {"session.set_denormal_as_zero", false,
     "products, convolutions, softmax and recurrent layers always take denormal results for zero"},
    {"session.use_deterministic_compute", false, "results never depend on threads or on what else is in the batch"},
    {"session.use_device_allocator_for_initializers", false, "weights are used where they lie in the file, or packed"},
    {"session.use_env_allocators", false, "there are no shared allocators"},
    {"session.use_ort_model_bytes_directly", false, "models in memory are always used where they lie"},
    {"session.use_per_session_threads", false, "all sessions share one pool of threads"},
    {"use_deterministic_compute", false, "results never depend on threads or on what else is in the batch"},
};

bool ingot_ort_option(size_t index, ingot_ort_option_info *info)
{
    if (!info || index >= sizeof options / sizeof *options)
        return false;
    *info = options[index];
    return true;
}
