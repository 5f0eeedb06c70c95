#!/usr/bin/env python3
"""Writes a schedule: halo exchanges of a torus of ranks, each followed by an all-reduce by recursive doubling.

    python3 halo.py COLUMNS ROWS ITERATIONS FILE.goal

The number of ranks is a power of two.
"""
import random
import sys

px, py, iters, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
P = px*py
random.seed(1)
with open(out, 'w') as f:
    f.write(f'num_ranks {P}\n')
    for r in range(P):
        x, y = r % px, r // px
        nb = sorted({((x+1)%px)+y*px, ((x-1)%px)+y*px, x+((y+1)%py)*px, x+((y-1)%py)*px} - {r})
        lines = []
        n = 0
        def op(t, deps, i=()):
            global n
            n += 1
            lines.append(f'l{n}: {t}')
            lines.extend(f'l{n} requires l{d}' for d in deps)
            lines.extend(f'l{n} irequires l{d}' for d in i)
            return n
        last = op(f'calc {1000+random.randrange(500)}', [])
        for it in range(iters):
            rs = [op(f'recv 1024b from {q} tag 1', [last]) for q in nb]
            ss = [op(f'send 1024b to {q} tag 1', [last]) for q in nb]
            inner = op(f'calc {20000+random.randrange(4000)}', [last], ss[:1])
            last = op(f'calc {2000+random.randrange(500)}', rs+ss+[inner])
            d = 1
            while d < P:
                q = r ^ d
                s = op(f'send 8b to {q} tag 2', [last])
                v = op(f'recv 8b from {q} tag 2', [last])
                last = op('calc 0', [s, v])
                d *= 2
        f.write(f'\nrank {r} {{\n' + '\n'.join(lines) + '\n}\n')
