"""Texts of the grammars that ship, for every engine to read."""

import json
import random
from typing import Any

SQL = """\
SELECT name FROM users;
SELECT DISTINCT city, country FROM customers WHERE country = 'France' ORDER BY city;
SELECT a.b AS c, count(*) FROM t JOIN u ON t.x = u.y WHERE (a > 3 AND b LIKE 'x') OR c IN (SELECT d FROM e);
SELECT x, sum(y) FROM t GROUP BY x HAVING sum(y) > 3 ORDER BY x DESC LIMIT 3;
select o.id, o.total * 1.2 as gross from orders o where o.created_at >= '2024-01-01' and o.status <> 'open' limit 20
SELECT c.name, COUNT(o.id) AS orders FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name
SELECT title, CASE WHEN rating > 8.5 THEN 'great' WHEN rating > 6 THEN 'fine' ELSE 'poor' END AS verdict FROM films
SELECT e.name, m.name FROM employees AS e INNER JOIN employees AS m ON e.manager_id = m.id WHERE e.salary > m.salary
SELECT department, AVG(salary), MAX(salary) - MIN(salary) FROM employees GROUP BY department ORDER BY AVG(salary) DESC
SELECT product_id FROM stock WHERE quantity BETWEEN 1 AND 10 AND place NOT IN ('north', 'south') AND note IS NOT NULL
SELECT upper(first_name) || ' ' || last_name FROM people WHERE NOT (age < 18 OR email IS NULL) LIMIT 5 OFFSET 10
SELECT a FROM t UNION ALL SELECT b FROM u EXCEPT SELECT c FROM v ORDER BY a ASC;
SELECT * FROM main.events, (SELECT max(at) AS latest FROM visits) v WHERE events.at = v.latest;
SELECT CAST(price AS integer) % 10, -price + 3 FROM items WHERE EXISTS (SELECT 1 FROM sales WHERE sales.item = items.id)
SELECT "order", t.* FROM "my table" t CROSS JOIN u USING (id, day) WHERE t.name LIKE '%''s' AND (SELECT 1 FROM w) > 0
SELECT count(DISTINCT session) FROM clicks WHERE url LIKE 'https://example.com/%' AND (clicks.day = 3 OR clicks.day = 4)
""".splitlines()

PYTHON = [
    """\
import os

def f(x, y=3):
    for i in range(9):
        if x > i:
            return [1, 2.5]
""",
    """\
from collections import Counter, defaultdict

def count_words(path, least=2):
    # Words of a file, with how often they occur.
    words = Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words.update([word.lower() for word in line.split() if word.isalpha()])
    return {word: count for word, count in words.items() if count >= least}
""",
    '''\
class Account(Base):
    """A bank account."""

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def withdraw(self, amount):
        if amount <= 0 or amount > self.balance:
            raise ValueError("The amount of " + str(amount) + " is not available") from None
        self.balance -= amount
        self.history.append(("withdraw", amount))
        return self.balance
''',
    """\
def quicksort(items):
    if len(items) < 2:
        return items
    pivot = items[0]
    rest = items[1:]
    smaller = [x for x in rest if x < pivot]
    larger = [x for x in rest if not x < pivot]
    return quicksort(smaller) + [pivot] + quicksort(larger)

print(quicksort([3, 1, 4, 1, 5, 9, 2, 6]))
""",
    """\
import re, sys as system

PATTERN = re.compile('[0-9]+')
total = 0
try:
    while True:
        line = system.stdin.readline()
        if not line:
            break
        elif line == "\\n":
            continue
        else:
            total += sum([int(found) for found in PATTERN.findall(line)])
except (IOError, ValueError) as error:
    print('failed:', error, file=system.stderr)
finally:
    print(total ** 2 // 3, total & 0xFF, ~total, 1e-3)
""",
    """\
def merge(left, right, key=lambda x: x):
    global calls
    calls = calls + 1
    result = []
    i = j = 0
    while i < len(left) and j < len(right):
        if key(left[i]) <= key(right[j]):
            result.append(left[i]); i += 1
        else:
            result.append(right[j]); j += 1
    assert i == len(left) or j == len(right), "one of them is left"
    return result + left[i:] + right[j:]
""",
]


def texts(grammar: str) -> list[str]:
    """Return the texts of a grammar that ships."""
    return {"json": _json(), "sql": SQL, "python": PYTHON}[grammar]


def _json() -> list[str]:
    return [json.dumps(_value(random.Random(seed), 0), indent=seed % 3 or None) for seed in range(40)]


def _value(rng: random.Random, depth: int) -> Any:
    """Return a random JSON value."""
    kind = rng.randrange(6 if depth < 5 else 4)
    if kind == 4 or not depth:
        return {f"key {rng.randrange(50)}": _value(rng, depth + 1) for _ in range(rng.randrange(1, 5))}
    if kind == 5:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return [rng.randrange(10_000), rng.random(), rng.choice(["a name", 'quoted "so"', "naïve €", ""]), None][kind]
