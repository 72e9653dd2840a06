"""The models' public API is documented, has examples, and is available as `airtcp.models`."""

import importlib
import inspect
from collections.abc import Callable

import airtcp.models
import pytest

MODULES = {
    "aimd": "airtcp_papers.leith.aimd",
    "bruno": "airtcp_papers.bruno.model",
    "bursts": "airtcp_papers.bruno.burst_model",
    "coupled_sharing": "airtcp_papers.miorandi.coupled_sharing",
    "gopal": "airtcp_papers.gopal.model",
    "hoekstra": "airtcp_papers.hoekstra.model",
    "leith": "airtcp_papers.leith.model",
    "miorandi": "airtcp_papers.miorandi.model",
}
#: A constructor with an example calls it, with a dozen numbers from a paper's table.
CALLED_BY_OTHERS = {
    "airtcp_papers.leith.model.parameters.Parameters.from_lengths",
}


def public_functions() -> dict[str, Callable[..., object]]:
    """Return the public functions, and the named constructors of public classes."""
    found: dict[str, Callable[..., object]] = {}
    for name in MODULES.values():
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isfunction(value):
                found[f"{value.__module__}.{public}"] = value
            elif inspect.isclass(value):
                for key, member in vars(value).items():
                    if isinstance(member, classmethod):
                        found[f"{value.__module__}.{public}.{key}"] = member.__func__
    return found


@pytest.mark.parametrize("name", MODULES)
def test_equations_are_attributes_of_airtcp_models(name: str) -> None:
    assert getattr(airtcp.models, name) is importlib.import_module(MODULES[name])


def test_every_public_name_is_documented() -> None:
    for name in MODULES.values():
        module = importlib.import_module(name)
        assert module.__doc__, name
        for public in module.__all__:
            value = getattr(module, public)
            if callable(value):
                assert value.__doc__, f"{name}.{public}"


def test_every_public_function_has_an_example() -> None:
    """pytest itself runs the examples: `--doctest-modules` over the models."""
    functions = public_functions()
    without = {name for name, one in functions.items() if ">>> " not in (one.__doc__ or "")}

    assert len(functions) > 20
    assert without == CALLED_BY_OTHERS


def test_the_examples_of_the_models_are_among_the_tests(pytestconfig: pytest.Config) -> None:
    paths = pytestconfig.getini("testpaths")
    for name in MODULES.values():
        path = "papers/" + name.replace(".", "/")
        assert path in paths or f"{path}.py" in paths, name
