# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: a wheel for one kind of machine and any Python."""
import os
from typing import Tuple

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> Tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(version=os.environ["PIEPROFD_VERSION"], cmdclass={"bdist_wheel": PlatformWheel})
