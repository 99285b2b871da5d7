# SPDX-License-Identifier: Apache-2.0
"""%%pieprofd and %pieprofd, for IPython and Jupyter."""
from __future__ import annotations

import ast
import shlex
import sys
from typing import Any, Optional

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from .session import Profile, ProfileError


@magics_class
class PieprofdMagics(Magics):
    @line_cell_magic
    def pieprofd(self, line: str, cell: Optional[str] = None) -> Any:
        """Profile a cell, or a statement, and show where the time went.

            %%pieprofd [OPTION...]
            code

            %pieprofd statement
            %pieprofd OPTION... -- statement

        Options are those of `pieprofd record`, such as --idle, --mode time or -o report.html.
        """
        __tracebackhide__ = True
        shell: Any = self.shell
        if cell is None:
            options, _, code = (" " + line).partition(" -- ") if line.startswith("-") else ("", "", line)
            if not code.strip():
                raise UsageError("%pieprofd statement, or %pieprofd OPTION... -- statement")
            code, name = shell.transform_cell(code), "<pieprofd>"
        else:
            options = line
            # Lines keep the numbers that they have in the cell. A further magic has to stay first.
            code = shell.transform_cell(cell if cell.lstrip().startswith("%%") else "# %%pieprofd " + line + "\n" + cell)
            # By that name the program finds the text, and calls it In [12].
            name = shell.compile.cache(code, shell.displayhook.prompt_count)
        return self._profile(Profile(*shlex.split(options)), code, name)

    def _profile(self, profile: Profile, code: str, name: str) -> Any:
        """Its last expression's value, which IPython shows."""
        __tracebackhide__ = True
        shell: Any = self.shell
        tree = shell.transform_ast(shell.compile.ast_parse(code, name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
        statements = shell.compile(tree, name, "exec")
        value = shell.compile(ast.fix_missing_locations(ast.Expression(last.value)), name, "eval")
        profile.start()
        try:
            exec(statements, shell.user_ns)
            return eval(value, shell.user_ns)
        finally:
            self._show(profile)

    def _show(self, profile: Profile) -> None:
        try:
            profile.stop()
        except ProfileError as error:
            print(error, file=sys.stderr)
        else:
            if profile.notes:
                print(profile.notes, file=sys.stderr)
            display(profile)  # type: ignore[no-untyped-call]
