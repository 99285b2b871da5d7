# SPDX-License-Identifier: Apache-2.0
"""pandas: Cython hash tables, groups with Python functions, parsing, joins."""
import io
import warnings

import native_workload

try:
    import numpy as np
    import pandas as pd
except ImportError as error:
    native_workload.skip("native_pandas", error)

warnings.simplefilter("ignore")
random = np.random.RandomState(4)
table = pd.DataFrame({
    "key": random.randint(0, 40, 3000),
    "word": ["w%d" % (i % 97) for i in range(3000)],
    "value": random.rand(3000),
})
text = table.head(500).to_csv(index=False)


def groups(number):
    sums = table.groupby("key")["value"].sum()
    spread = table.groupby("key")["value"].apply(lambda part: part.max() - part.min())
    return abs(sums.sum() - table["value"].sum()) < 1e-6 and bool((spread >= 0).all())


def joins(number):
    other = pd.DataFrame({"key": range(40), "weight": np.arange(40.0)})
    merged = table.merge(other, on="key").sort_values(["weight", "value"])
    return len(merged) == 3000 and merged["weight"].is_monotonic_increasing


def parsing(number):
    return len(pd.read_csv(io.StringIO(text))) == 500


def strings(number):
    upper = table["word"].head(500).str.upper()
    return upper.iloc[3] == "W3" and upper.str.contains("W9").any()


def windows(number):
    rolled = table["value"].head(300).rolling(5).apply(lambda part: part.sum(), raw=True)
    return abs(rolled.iloc[4] - table["value"].head(5).sum()) < 1e-9


def reshaping(number):
    wide = table.pivot_table(index="key", columns="word", values="value", aggfunc="mean")
    dates = pd.date_range("2020-01-01", periods=3000, freq="H")
    daily = pd.Series(table["value"].values, index=dates).resample("D").mean()
    return wide.shape[0] == 40 and len(daily) == 125


if __name__ == "__main__":
    native_workload.run(
        "native_pandas", [groups, joins, parsing, strings, windows, reshaping], __doc__)
