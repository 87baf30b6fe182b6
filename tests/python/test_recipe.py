"""The recipe for conda-forge is one that its tool takes, and says what pyproject.toml and CMake say."""

import os
import re
import tomllib
from pathlib import Path

import pytest

import libidx

SOURCE = Path(os.environ.get("LIBIDX_SOURCE", Path(__file__).parent / "recipe"))
RECIPE = SOURCE / "libidx/python/wheels/recipe.yaml"
pytestmark = pytest.mark.skipif(not RECIPE.exists(), reason="there is no recipe here")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((SOURCE / "pyproject.toml").read_text())


def render(text):
    """The recipe as the tool that builds it reads it: unknown keys and wrong types are errors."""
    rattler_build = pytest.importorskip("rattler_build")
    variants = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]}
    (rendered,) = rattler_build.Stage0Recipe.from_yaml(text).render(rattler_build.VariantConfig(variants))
    return rendered.recipe.to_dict()


@pytest.fixture(scope="module")
def recipe():
    return render(RECIPE.read_text())


def names(requirements):
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


def test_the_package(recipe, project):
    about = recipe["about"]
    assert recipe["package"] == {"name": project["project"]["name"], "version": libidx.__version__}
    assert about["summary"] == project["project"]["description"]
    assert about["license"] == project["project"]["license"]
    assert about["license_file"] == project["project"]["license-files"]


def test_the_source(recipe):
    (source,) = recipe["source"]
    assert (RECIPE.parent / source["path"]).resolve() == SOURCE.resolve()


def test_what_it_needs(recipe, project):
    cmake = (SOURCE / "CMakeLists.txt").read_text()
    needs = recipe["requirements"]
    libraries = re.search(r"idx_dependencies\((lmdb [a-z ]+)\)", cmake)[1].split()
    libraries += re.search(r"else\(\)\s+idx_optional_dependencies\(IDX_TEXT ([a-z ]+)\)", cmake)[1].split()
    host = {"python", "python-abi3", "pip", "scikit-build-core", *libraries}
    assert names(needs["host"]) == host
    assert set(project["build-system"]["requires"]) <= {need.replace(" ", "") for need in needs["host"]}
    least = project["project"]["requires-python"].removeprefix(">=")
    assert {f"python {least}.*", f"python-abi3 {least}.*"} <= set(needs["host"])
    assert project["tool"]["scikit-build"]["wheel"]["py-api"] == "cp" + least.replace(".", "")
    least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake)[1]
    assert f"cmake >={least}" in needs["build"]
    run = {need.replace(" ", "") for need in needs["run"]}
    assert run == {"python", *project["project"]["dependencies"]}


def test_what_is_no_recipe_is_refused():
    with pytest.raises(Exception, match="(?i)expected|unknown|invalid|missing"):
        render(RECIPE.read_text().replace("requirements:", "requires:"))
