/* Diagnoses of models, for ingot.doctor. */
#include "core.h"
#include "ingot/tools.h"

static PyObject *take_finding(const ingot_finding *finding)
{
    return Py_BuildValue("{s:i, s:s, s:s, s:s, s:s, s:n}", "severity", (int)finding->severity, "rule", finding->rule,
                         "what", finding->what, "where", finding->where, "advice", finding->advice, "count",
                         (Py_ssize_t)finding->count);
}

static PyObject *take_findings(const ingot_diagnosis *diagnosis)
{
    PyObject *list = PyList_New(0);
    ingot_finding finding;
    for (size_t i = 0; list && ingot_diagnosis_finding(diagnosis, i, &finding); i++) {
        PyObject *item = take_finding(&finding);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject *core_diagnose(PyObject *module, PyObject *args)
{
    const char *path;
    ingot_diagnosis *diagnosis = NULL;
    ingot_error error = {0};
    ingot_status status;
    if (!PyArg_ParseTuple(args, "y", &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = ingot_diagnose(path, NULL, NULL, &diagnosis, &error);
    Py_END_ALLOW_THREADS if (status != INGOT_OK) return core_raise(&error);
    PyObject *findings = take_findings(diagnosis), *result = NULL;
    if (findings)
        result = Py_BuildValue("(Ns)", findings, ingot_diagnosis_stub(diagnosis));
    ingot_diagnosis_release(diagnosis);
    return result;
}
