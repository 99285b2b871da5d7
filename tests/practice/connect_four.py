# SPDX-License-Identifier: Apache-2.0
"""Four in a row: an alpha-beta player against a random one."""

import json
import random

from common import run

WIDTH, HEIGHT = 7, 6
ORDER = (3, 2, 4, 1, 5, 0, 6)
WINDOWS = [
    [(c + k * dc, r + k * dr) for k in range(4)]
    for c in range(WIDTH)
    for r in range(HEIGHT)
    for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1))
    if 0 <= c + 3 * dc < WIDTH and 0 <= r + 3 * dr < HEIGHT
]


def new_game():
    return {"board": [[0] * HEIGHT for _ in range(WIDTH)], "turn": 1, "moves": [], "names": {"1": "ann", "-1": "bot"}}


def legal(state):
    return [column for column in ORDER if state["board"][column][-1] == 0]


def copy_state(state):
    return json.loads(json.dumps(state))


def copy_state_fixed(state):
    return {**state, "board": [column[:] for column in state["board"]], "moves": state["moves"][:]}


def play(state, column, copy):
    after = copy(state)
    pile = after["board"][column]
    pile[pile.index(0)] = after["turn"]
    after["turn"] = -after["turn"]
    after["moves"].append(column)
    return after


def value(state):
    board = state["board"]
    total = 0
    for window in WINDOWS:
        count = 0
        for c, r in window:
            count += board[c][r]
        if count == 4 or count == -4:
            return count * 1000
        total += count * abs(count)
    return total


def search(state, depth, alpha, beta, copy):
    here = value(state)
    columns = legal(state)
    if depth == 0 or abs(here) >= 4000 or not columns:
        return state["turn"] * here, None
    best = (-(10**9), None)
    for column in columns:
        reply, _ = search(play(state, column, copy), depth - 1, -beta, -alpha, copy)
        if -reply > best[0]:
            best = (-reply, column)
        alpha = max(alpha, best[0])
        if alpha >= beta:
            break
    return best


def one_pass(number, copy):
    rng = random.Random(number)
    results = []
    for _ in range(7):
        state = new_game()
        while legal(state) and abs(value(state)) < 4000 and len(state["moves"]) < 14:
            if state["turn"] == 1:
                _, column = search(state, 3, -(10**9), 10**9, copy)
            else:
                column = rng.choice(legal(state))
            state = play(state, column, copy)
        results.append((state["moves"], value(state)))
    return results


if __name__ == "__main__":
    run(one_pass, copy_state, copy_state_fixed)
