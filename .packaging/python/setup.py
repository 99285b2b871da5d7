# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: a wheel for one kind of machine and any Python."""
import os
from typing import Tuple

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class WithProgram(Distribution):
    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self) -> Tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(version=os.environ["PIEPROFD_VERSION"], distclass=WithProgram, cmdclass={"bdist_wheel": PlatformWheel})
