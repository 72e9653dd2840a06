"""The models' public face is complete, documented, and shows examples."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable

import airtcp.models
import pytest


def test_every_public_name_exists_and_is_documented() -> None:
    for info in pkgutil.walk_packages(airtcp.models.__path__, "airtcp.models."):
        module = importlib.import_module(info.name)
        assert module.__doc__, info.name
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, f"{info.name}.{name}"


def public_functions() -> dict[str, Callable[..., object]]:
    """Functions of the public faces, and the named constructors of their classes."""
    found: dict[str, Callable[..., object]] = {}
    for info in pkgutil.walk_packages(airtcp.models.__path__, "airtcp.models."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if inspect.isfunction(value):
                found[f"{value.__module__}.{name}"] = value
            elif inspect.isclass(value):
                for key, member in vars(value).items():
                    if isinstance(member, classmethod):
                        found[f"{value.__module__}.{name}.{key}"] = member.__func__
    return found


def test_every_public_function_has_an_example() -> None:
    """That the examples run is pytest's own concern: `--doctest-modules` over the models."""
    without = {
        name
        for name, function in public_functions().items()
        if ">>> " not in (function.__doc__ or "")
    }

    assert without == set()


def test_the_examples_of_the_models_are_among_the_tests(pytestconfig: pytest.Config) -> None:
    assert "python/airtcp/models" in pytestconfig.getini("testpaths")
    assert "--doctest-modules" in pytestconfig.getini("addopts")


def test_every_public_function_that_can_refuse_says_so() -> None:
    """Those without a word about errors take one checked object, and nothing to refuse."""
    silent = {
        name
        for name, function in public_functions().items()
        if "aises" not in (function.__doc__ or "") and "rrors" not in (function.__doc__ or "")
    }

    for name in silent:
        signature = inspect.signature(public_functions()[name])
        annotations = [str(one.annotation) for one in signature.parameters.values()]
        assert not any("ArrayLike" in annotation for annotation in annotations), name
