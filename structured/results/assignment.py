"""The best assignment: rows of a matrix paired with columns, so that the weights of the pairs have the greatest sum.

Each row is added by the shortest path to a free column, as Jonker and Volgenant do it ("A Shortest Augmenting Path
Algorithm for Dense and Sparse Linear Assignment Problems", 1987). A step looks at all columns at once; n rows take at
most n² steps.
"""

import numpy as np
from numpy.typing import NDArray


def best_assignment(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum of weights, in the order of the rows.

    Parameters:
        weights: Rows × columns, none below 0. A pair of weight 0 is left out.

    >>> best_assignment(np.array([[2.0, 3.0], [0.0, 2.0]]))
    [(0, 0), (1, 1)]
    """
    rows, columns = weights.shape
    if rows > columns:
        return sorted((row, column) for column, row in best_assignment(weights.T))
    prices = np.zeros(rows), np.zeros(columns)  # with which no pair costs less than nothing, and those chosen nothing
    row_of, column_of = np.full(columns, -1), np.full(rows, -1)
    for row in range(rows):
        _add(row, -weights, prices, row_of, column_of)
    return [(row, int(column)) for row, column in enumerate(column_of) if weights[row, column] > 0]


def _add(
    row: int,
    costs: NDArray[np.float64],
    prices: tuple[NDArray[np.float64], NDArray[np.float64]],
    row_of: NDArray[np.int_],
    column_of: NDArray[np.int_],
) -> None:
    """Assign one more row, and others anew if that makes the sum of the costs less."""
    of_rows, of_columns = prices
    distances = np.full(len(row_of), np.inf)
    came_from = np.full(len(row_of), -1)
    reached = np.zeros(len(row_of), bool)
    last, distance = row, 0.0
    while True:
        onwards = distance + costs[last] - of_rows[last] - of_columns
        nearer = ~reached & (onwards < distances)
        distances[nearer], came_from[nearer] = onwards[nearer], last
        column = int(np.argmin(np.where(reached, np.inf, distances)))
        distance = float(distances[column])
        if row_of[column] < 0:
            break
        reached[column] = True
        last = int(row_of[column])
    of_rows[row] += distance
    of_rows[row_of[reached]] += distance - distances[reached]
    of_columns[reached] -= distance - distances[reached]
    while True:
        last = int(came_from[column])
        row_of[column] = last
        column_of[last], column = column, int(column_of[last])
        if last == row:
            return
