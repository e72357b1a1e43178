"""Custom operators in Python: for trying an idea before it is written in C."""
import inspect
from typing import Any, Callable, List, Optional, Tuple, TypeVar

from . import _core

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What a keyword parameter's default may be, and the kind of attribute that fills it.
_KINDS = ((bool, "int"), (int, "int"), (float, "float"), (str, "str"))


def _kind(value: Any) -> Optional[str]:
    return next((kind for wanted, kind in _KINDS if isinstance(value, wanted)), None)


def _attribute(parameter: inspect.Parameter) -> Tuple[str, int, float]:
    default = parameter.default
    if default is inspect.Parameter.empty:
        raise TypeError(f"the keyword parameter '{parameter.name}' needs a default, whose type is that of the attribute")
    is_list = isinstance(default, (list, tuple)) and len(default) > 0
    kind = _kind(default[0] if is_list else default)
    if kind is None:
        raise TypeError(f"the default of '{parameter.name}' is {default!r}; an attribute is an int, a float, a str, or a list of them "
                        "that is not empty")
    number = 0.0 if is_list or kind == "str" else float(default)
    return parameter.name, _core.PARAM_KINDS[kind + "s" if is_list else kind], number


def op(name: str, *, since_version: int = 1, outputs: int = 1, element: Optional[str] = None, random: bool = False,
       shape: Optional[Callable[..., Any]] = None) -> Callable[[_Function], _Function]:
    """Make a function the kernel of an operator, for all models that are loaded from now on.

        @ingot.op("com.example::Gelu")
        def gelu(x, *, approximate=0):
            return ...

    name is "domain::Name". The function's positional parameters are the inputs, as numpy arrays: one with the default None may be left
    out of a node, and *args takes any number. Its keyword parameters are the attributes; their defaults give the types. It returns
    the output, or a tuple where there are several (outputs). element is the outputs' element type, such as "float" or "int64";
    None: that of the first input. shape takes the inputs' shapes (lists, with None for a free size; None for an unknown rank) and gives the
    output's, or a tuple of them: with it memory is planned ahead. random: two runs may differ.

    Raises ingot.InvalidArgument where the operator is one that Ingot runs itself or is registered already, TypeError for a
    function whose parameters do not fit. An exception in the function fails the run, as ingot.InvalidInput with its text.
    """
    domain, separator, short = name.rpartition("::")
    if not separator or not domain or not short:
        raise ValueError(f"the name of an operator is 'domain::Name', not {name!r}")
    if element is not None and element not in _core.ELEMENT_NAMES:
        raise ValueError(f"the element type {element!r} is none of: {', '.join(_core.ELEMENT_NAMES[1:])}")

    def register(function: _Function) -> _Function:
        inputs: List[inspect.Parameter] = []
        attributes: List[Tuple[str, int, float]] = []
        variadic = False
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                attributes.append(_attribute(parameter))
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                raise TypeError("an operator's attributes must be named: **%s is not allowed" % parameter.name)
            else:
                variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
                inputs.append(parameter)
        optional = sum(parameter.default is None for parameter in inputs)
        _core.register_op(domain, short, since_version, len(inputs), optional, variadic, outputs,
                          _core.ELEMENT_NAMES.index(element) if element else 0, attributes, random, function, shape)
        return function

    return register
