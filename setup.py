"""Metadata is in setup.cfg; this puts the catalogue of top-level repos/ into built packages."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CATALOGUE = Path("repos")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*")


class BuildWithCatalogue(build_py):
    """Copies repos/ to gym_codefix/repos, as plain data: it holds trees, not packages of ours.

    An editable install reads the checkout's own repos/ and copies nothing.
    """

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "gym_codefix" / "repos"
        # What an earlier build left must not outlive its source.
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(CATALOGUE, target, ignore=LEFT_OUT)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        target = Path(self.build_lib) / "gym_codefix" / "repos"
        copied = [str(path) for path in target.rglob("*") if path.is_file()]
        return [*super().get_outputs(include_bytecode), *copied]


setup(cmdclass={"build_py": BuildWithCatalogue})
